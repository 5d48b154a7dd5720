config range string {
  default = ">=3.0.0"
}

pulumi {
  requiredVersionRange = range
}

output ok {
  value = true
}
