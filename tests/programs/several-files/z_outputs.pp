output prefix {
  value = pet.prefix
}
