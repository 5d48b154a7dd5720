resource hello "command:local:Command" {
  create = "printf hello"
  environment = { GREETING = "hi" }
  logging = "none"
  triggers = ["a", 1]
}

resource again "command:local:Command" {
  create = "printf '%s' \"$VALUE\""
  environment = { VALUE = hello.stdout }
}

output out {
  value = again.stdout
}
