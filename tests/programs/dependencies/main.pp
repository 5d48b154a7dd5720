resource first "random:index/randomPet:RandomPet" {
  length = 1
}

resource second "random:index/randomPet:RandomPet" {
  length = 1
  options {
    dependsOn = [first]
    protect = false
    ignoreChanges = [length, keepers["x"]]
  }
}
