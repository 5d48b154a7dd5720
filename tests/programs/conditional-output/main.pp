config fancy bool {
  default = true
}

resource plain "random:index/randomPet:RandomPet" {
  length = 1
}

resource long "random:index/randomPet:RandomPet" {
  length = 3
}

output chosen {
  value = fancy ? long.id : plain.id
}

output mixed {
  value = fancy ? plain.id : "none"
}
