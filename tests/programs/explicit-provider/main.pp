resource own "pulumi:providers:random" {}

resource pet "random:index/randomPet:RandomPet" {
  length = 1
  options {
    provider = own
  }
}
