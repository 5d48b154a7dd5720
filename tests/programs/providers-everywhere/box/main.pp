config label "string" {}

resource inner "random:index/randomPet:RandomPet" {
  length = 1
  prefix = label
}

output label {
  value = inner.prefix
}
