text = "hello"
whole = 42
half = 0.5
yes = true
list = ["a", "b"]
object = { key = "value", "other key" = 2 }

output text {
  value = text
}

output whole {
  value = whole
}

output half {
  value = half
}

output yes {
  value = yes
}

output list {
  value = list
}

output object {
  value = object
}
