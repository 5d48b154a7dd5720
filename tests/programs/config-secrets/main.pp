config token string {
  secret = true
}

config pins "list(int)" {
  secret = true
}

output token {
  value = token
}

output header {
  value = "Bearer ${token}"
}

output pins {
  value = pins
}
