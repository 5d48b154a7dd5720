resource shuffle "random:index/randomShuffle:RandomShuffle" {
  inputs = ["x", "x"]
  resultCount = 2
}

resource pets "random:index/randomPet:RandomPet" {
  length = 1
  options {
    range = 2
  }
}

output joined {
  value = join(",", pets[*].id)
}

output shuffled {
  value = length(shuffle.results)
}

output ends {
  value = "${shuffle.results[0]}-${shuffle.results[1]}"
}
