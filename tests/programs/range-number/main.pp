config count int {
  default = 2
}

resource pets "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "pet-${range.value}"
  options {
    range = count
  }
}

output names {
  value = pets[*].id
}

output first {
  value = pets[0].prefix
}
