resource pet "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "json"
}

output plain {
  value = toJSON({ name = "x", list = [1, 2], nested = { ok = true } })
}

output document {
  value = toJSON({ prefix = pet.prefix, version = 1 })
}
