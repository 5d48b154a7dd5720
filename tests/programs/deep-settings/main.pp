config services "list(object({ name = string, ports = list(int), tags = map(string) }))" {}

config limits "object({ cpu = number, memory = int })" {}

resource pets "random:index/randomPet:RandomPet" {
  length = range.value.ports[0]
  prefix = range.value.name
  keepers = range.value.tags
  options {
    range = services
  }
}

output names {
  value = [for service in services : service.name]
}

output ports {
  value = { for service in services : service.name => [for port in service.ports : port + 1] }
}

output second {
  value = services[1].tags["team"]
}

output memory {
  value = limits.memory - 1
}

output cpu {
  value = limits.cpu * 2
}

output prefixes {
  value = [for pet in pets : pet.prefix]
}
