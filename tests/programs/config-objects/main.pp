config names "list(string)" {}

config limits "map(int)" {
  default = { small = 1, large = 10 }
}

config server "object({ host = string, ports = list(int) })" {}

output first {
  value = names[0]
}

output limits {
  value = limits
}

output host {
  value = server.host
}

output port {
  value = server.ports[0]
}
