config name string {}

config tags "map(string)" {
  default = { kind = "site" }
}

resource pet "random:index/randomPet:RandomPet" {
  length = 1
  prefix = name
  keepers = tags
}

output label {
  value = "site ${pet.prefix}"
}
