# A pet with a short name.
resource pet "random:index/randomPet:RandomPet" {
  length = 2
  prefix = "my"
}

output name {
  value = pet.id
}
