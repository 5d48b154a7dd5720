pulumi {
  requiredVersionRange = ">=3.0.0"
}

output ok {
  value = true
}
