component cluster "./cluster" {
  nodes = ["a", "b"]
  sizes = { a = 1, b = 2 }
  tags = { team = "infra" }
  isOpen = true
}

component empty "./cluster" {
  nodes = []
  sizes = {}
  tags = {}
}

output names {
  value = cluster.names
}

output zones {
  value = cluster.zones
}

output none {
  value = empty.names
}

output summary {
  value = "${cluster.summary} and ${empty.summary}"
}
