config enabled bool {
  default = true
}

resource pet "random:index/randomPet:RandomPet" {
  length = 1
  options {
    range = enabled
  }
}

output exists {
  value = pet != null
}
