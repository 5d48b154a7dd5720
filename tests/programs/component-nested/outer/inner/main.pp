config label string {}

resource pet "random:index/randomPet:RandomPet" {
  prefix = label
  length = 1
}

output label {
  value = pet.prefix
}
