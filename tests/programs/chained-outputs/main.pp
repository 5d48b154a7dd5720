resource first "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "one"
}

resource second "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "${first.prefix}-two"
  keepers = { from = "<${first.prefix}>", fixed = "x" }
}

both = "${first.prefix}/${second.prefix}"
described = { names = [first.prefix, second.prefix], both = both }

output both {
  value = both
}

output described {
  value = described
}

output document {
  value = toJSON({ both = both, list = [first.prefix], deep = { n = 1, s = second.keepers["from"] } })
}

output encoded {
  value = toBase64(both)
}


output loop {
  value = [for name in ["x", "y"] : "${name}-${first.prefix}"]
}

output picked {
  value = { for name in ["x", "y"] : name => second.prefix }
}
