config nodes "list(string)" {}

config sizes "map(int)" {}

config tags "map(string)" {}

config isOpen "bool" {
  default = false
}

resource pets "random:index/randomPet:RandomPet" {
  length = sizes[range.value]
  prefix = range.value
  keepers = tags
  options {
    range = nodes
  }
}

output names {
  value = [for pet in pets : pet.prefix]
}

output zones {
  value = { for node in nodes : node => "zone ${lookup(tags, node, "none")}" }
}

output summary {
  value = "${length(nodes)} nodes, ${isOpen ? "open" : "closed"}"
}
