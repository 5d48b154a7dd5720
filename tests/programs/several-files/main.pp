resource pet "random:index/randomPet:RandomPet" {
  prefix = prefix
  length = 1
}
