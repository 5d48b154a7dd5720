config level "int" { default = 2 }
config fancy "bool" { default = true }

resource pet "random:index/randomPet:RandomPet" {
  length = level > 2 ? 3 : (fancy ? 2 : 1)
  separator = fancy && level >= 2 ? "_" : "-"
}

size = level == 1 ? "small" : level == 2 ? "medium" : "large"

output size {
  value = "it is ${size}"
}

output both {
  value = !fancy || (level != 2 && size == "large")
}

output parts {
  value = fancy ? ["a", size] : []
}

output choice {
  value = { name = fancy ? "x" : "y", tags = level > 5 ? {} : { size = size } }
}
