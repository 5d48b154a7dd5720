output project {
  value = project()
}

output stack {
  value = stack()
}

output both {
  value = "${project()}/${stack()}"
}
