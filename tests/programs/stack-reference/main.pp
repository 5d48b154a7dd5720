resource other "pulumi:pulumi:StackReference" {
  name = "organization/other/dev"
}

output url {
  value = getOutput(other, "url")
}

output text {
  value = "see ${getOutput(other, "url")}"
}
