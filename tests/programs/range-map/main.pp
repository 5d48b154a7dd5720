config lengths "map(int)" {
  default = { short = 1, long = 3 }
}

resource pets "random:index/randomPet:RandomPet" {
  length = range.value
  prefix = range.key
  options {
    range = lengths
  }
}

output long {
  value = pets["long"].length
}

output lengths {
  value = { for key, pet in pets : key => pet.length }
}
