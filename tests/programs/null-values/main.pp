config maybe string {
  default = null
}

resource pet "random:index/randomPet:RandomPet" {
  length = 1
  prefix = maybe
}

output length {
  value = pet.length
}
