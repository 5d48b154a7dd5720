config name string {}

component inner "./inner" {
  label = "${name}-inner"
}

output id {
  value = inner.label
}
