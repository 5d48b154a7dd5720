resource seed "random:index/randomPet:RandomPet" {
  length = 1
}

# Two pets, named together.
component kennel "./kennel" {
  prefix = seed.id
}

output names {
  value = kennel.names
}

output size {
  value = kennel.size
}
