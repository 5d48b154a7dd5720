resource many "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "p${range.value}"
  options {
    range = 3
  }
}

resource after "random:index/randomPet:RandomPet" {
  length = 2
  prefix = many[1].prefix
  keepers = { all = join(",", [for index, it in many : "n${index}"]) }
  options {
    dependsOn = [many[0], many[2]]
  }
}

resource last "random:index/randomPet:RandomPet" {
  length = 1
  options {
    dependsOn = [after]
    parent = many[0]
  }
}

resource each "random:index/randomPet:RandomPet" {
  length = 1
  prefix = range.key
  options {
    range = { a = 1, b = 2 }
  }
}

resource behind "random:index/randomPet:RandomPet" {
  length = 1
  options {
    dependsOn = [last, many, each]
  }
}

resource all "random:index/randomPet:RandomPet" {
  length = 1
  options {
    dependsOn = [each]
  }
}

resource none "random:index/randomPet:RandomPet" {
  length = 1
  options {
    dependsOn = many
  }
}

output prefixes {
  value = [for index, it in many : "${index}=${it.prefix}"]
}

output count {
  value = length(many)
}

output kept {
  value = after.keepers["all"]
}
