variable "length" {
  type = number
}

resource "random_string" "this" {
  length  = var.length
  special = false
}

output "text" { value = random_string.this.result }
