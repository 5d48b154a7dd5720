# Callbacks that use variables of the loop around them.
resource fixed "random:index/randomInteger:RandomInteger" {
  min = 5
  max = 5
}

resource counted "random:index/randomPet:RandomPet" {
  prefix = "p${range.value}-${fixed.result}"

  options {
    range = 3
  }
}

resource named "random:index/randomPet:RandomPet" {
  prefix = "${range.key}-${range.value}-${fixed.result}"

  options {
    range = { one = "a", two = "b" }
  }
}

resource numbers "random:index/randomInteger:RandomInteger" {
  min = range.value
  max = range.value

  options {
    range = [3, 7]
  }
}

output texts {
  value = [for at, name in ["x", "y"] : "${at}-${name}-${fixed.result}"]
}

output nested {
  value = [for name in ["x", "y"] : [for other in ["p", "q"] : "${name}${other}${fixed.result}"]]
}

output chosen {
  value = [for at, name in ["x", "y", "z"] : "${at}-${name}" if at != fixed.result - 4]
}

output keyed {
  value = { for name in ["x", "y"] : "${name}${fixed.result}" => name }
}
