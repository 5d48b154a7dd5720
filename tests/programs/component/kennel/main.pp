config prefix string {
  description = "What all names begin with"
}

config count int {
  default = 2
}

config extra string {
  default = null
}

resource pets "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "${prefix}-${range.value}"
  options {
    range = count
  }
}

output names {
  value = pets[*].prefix
}

output size {
  value = count
}
