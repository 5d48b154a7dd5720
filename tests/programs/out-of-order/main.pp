output total {
  value = "${prefix}-${pet.id}"
}

resource pet "random:index/randomPet:RandomPet" {
  prefix = prefix
  length = 1
}

prefix = "late-${middle}"

middle = "m"
