resource pet "random:index/randomPet:RandomPet" {
  length = 1
}

resource suffix "random:index/randomInteger:RandomInteger" {
  min = 10
  max = 99
}

greeting = "pet-${pet.id}-${suffix.result}"

resource named "random:index/randomPet:RandomPet" {
  prefix = greeting
  length = 1
}

output greeting {
  value = "<${greeting}>"
}
