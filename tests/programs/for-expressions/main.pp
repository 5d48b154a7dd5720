names = ["alpha", "beta", "gamma"]
tags = { team = "infra", env = "test" }

output upper {
  value = [for name in names : "<${name}>"]
}

output numbered {
  value = [for index, name in names : "${index}:${name}"]
}

output filtered {
  value = [for name in names : name if name != "beta"]
}

output filteredNumbers {
  value = [for index, name in names : "${index}${name}" if index > 0]
}

output pairs {
  value = [for key, value in tags : "${key}=${value}"]
}

output byName {
  value = { for name in names : name => "is ${name}" }
}

output swapped {
  value = { for key, value in tags : value => key if key != "env" }
}
