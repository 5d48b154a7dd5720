resource password "random:index/randomPassword:RandomPassword" {
  length = 12
  special = false
}

open = unsecret(password.result)

output hidden {
  value = secret("shh")
}

output hiddenObject {
  value = secret({ user = "me", size = 3 })
}

output size {
  value = password.length
}
