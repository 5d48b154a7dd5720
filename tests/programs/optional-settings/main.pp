config given "string" { default = "given" }
config missing "string" { default = null }
config list "list(int)" { default = null }

resource pet "random:index/randomPet:RandomPet" {
  length = list == null ? 1 : 2
  prefix = missing == null ? "none" : missing
}

output prefix {
  value = pet.prefix
}

output either {
  value = missing == null ? given : missing
}

output known {
  value = try(given, "other")
}
