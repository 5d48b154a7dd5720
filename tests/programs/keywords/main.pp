class = "c"
import = "i"
lambda = "l"
new = "n"

resource async "random:index/randomPet:RandomPet" {
  length = 1
  prefix = class
}

output words {
  value = "${class}${import}${lambda}${new}"
}
