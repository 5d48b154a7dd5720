component sites "./site" {
  name = range.value
  options {
    range = ["north", "south"]
  }
}

output first {
  value = sites[0].label
}
