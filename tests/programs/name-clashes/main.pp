resource random "random:index/randomPet:RandomPet" {
  length = 1
}

resource config "random:index/randomPet:RandomPet" {
  length = 1
  prefix = random.id
}

output random {
  value = random.id
}

output config {
  value = config.prefix
}
