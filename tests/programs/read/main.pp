read pet "random:index/randomPet:RandomPet" {
  id = "known-pet"
}

output id {
  value = pet.id
}
