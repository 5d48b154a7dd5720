package random {
  baseProviderName = "random"
}

resource pet "random:RandomPet" {
  length = 1
}

output prefix {
  value = "x"
}
