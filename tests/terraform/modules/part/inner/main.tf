variable "value" {}

output "doubled" { value = "${var.value}${var.value}" }
