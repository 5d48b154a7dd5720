resource own "pulumi:providers:random" {}

resource parent "random:index/randomPet:RandomPet" {
  length = 1
  options {
    provider = own
    protect = false
  }
}

resource child "random:index/randomString:RandomString" {
  length = 4
  special = false
  options {
    provider = own
    parent = parent
    ignoreChanges = [length, upper]
  }
}

component box "./box" {
  label = "in a box"
  options {
    providers = { random = own }
  }
}

output label {
  value = box.label
}
