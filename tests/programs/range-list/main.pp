config owners "list(string)" {
  default = ["ann", "bob"]
}

resource pets "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "${range.key}-${range.value}"
  options {
    range = owners
  }
}

output prefixes {
  value = [for pet in pets : pet.prefix]
}
