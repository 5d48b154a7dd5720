resource pet "random:index/randomPet:RandomPet" {
  length = 1
  prefix = "fixed"
}

result = invoke("command:local:run", { command = "printf 'one two'" })

output out {
  value = result.stdout
}

output words {
  value = split(" ", result.stdout)
}

output direct {
  value = invoke("command:local:run", { command = "printf '%s' x${pet.prefix}" }).stdout
}
