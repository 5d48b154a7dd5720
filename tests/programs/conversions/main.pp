config size string {
  default = "2"
}

resource pet "random:index/randomPet:RandomPet" {
  length = "1"
  prefix = 5
}

resource sized "random:index/randomPet:RandomPet" {
  length = size
  prefix = true
}

output prefix {
  value = pet.prefix
}
