config values "map(string)" {
  default = { a = "x" }
}

hidden = secret(values)

output there {
  value = try(hidden["a"], "fallback")
}

output missing {
  value = try(hidden["b"], "fallback")
}

output possible {
  value = can(hidden["b"])
}
