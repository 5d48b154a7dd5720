config name string {
  description = "Who is greeted"
}

config count int {
  default = 2
}

config ratio number {
  default = 0.25
}

config loud bool {
  default = false
}

config nickname string {
  default = null
}

output greeting {
  value = "Hello, ${name}!"
}

output count {
  value = count + 1
}

output ratio {
  value = ratio
}

output loud {
  value = loud
}

output hasNickname {
  value = nickname == null ? "no" : "yes"
}
