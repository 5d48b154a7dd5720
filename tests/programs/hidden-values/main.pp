config token "string" {
  secret = true
  default = "hush"
}

resource store "pulumi:index:Stash" {
  input = {
    open = "x"
    closed = secret("inner")
    list = [token, "y"]
  }
}

resource pet "random:index/randomPet:RandomPet" {
  length = 1
  prefix = unsecret(token)
}

output closed {
  value = secret("a-${token}")
}

output open {
  value = unsecret("b-${token}")
}

output nested {
  value = { inner = secret([1, 2]), plain = 3 }
}

output prefix {
  value = pet.prefix
}
