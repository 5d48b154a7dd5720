resource word "random:index/randomPet:RandomPet" {
  length = 3
}

resource pick "random:index/randomInteger:RandomInteger" {
  min = 0
  max = 2
}

output words {
  value = split("-", word.id)
}

output picked {
  value = element(split("-", word.id), pick.result)
}

output loud {
  value = [for part in split("-", word.id) : "${part}!"]
}
