config size "number" {}

resource pet "random:index/randomPet:RandomPet" {
  length = size
}

output words {
  value = pet.length
}
