resource pet "random:index/randomPet:RandomPet" {
  __logicalName = "my.pet"
  length = 1
}

output "petName" {
  __logicalName = "pet-name"
  value = pet.id
}

output "class" {
  value = pet.length
}
