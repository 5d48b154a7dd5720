resource number "random:index/randomInteger:RandomInteger" {
  min = 2
  max = 2
}

resource pets "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "p${range.value}"
  options {
    range = number.result
  }
}

output count {
  value = number.result
}
