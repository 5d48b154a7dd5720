resource source "random:index/randomPet:RandomPet" {
  length = 1
}

resource all "random:index/randomPet:RandomPet" {
  length = 2
  keepers = { version = "1" }
  options {
    parent = source
    retainOnDelete = true
    deleteBeforeReplace = true
    replaceOnChanges = [keepers]
    additionalSecretOutputs = [separator]
    aliases = [
      "urn:pulumi:dev::p::random:index/randomPet:RandomPet::old",
      { name = "older" },
      { name = "top", noParent = true }
    ]
    customTimeouts = {
      create = "5m"
      delete = "1m"
    }
  }
}
