# Numbers where integers are expected.
config size "number" {
  default = 3
}

config list "list(string)" {
  default = ["a", "b"]
}

resource pet "random:index/randomPet:RandomPet" {
  length = size
}

component part "./part" {
  size = size
}

output count {
  value = length(list)
}
