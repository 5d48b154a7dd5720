variable "rules" {
  type = list(object({ from_port = number, to_port = optional(number, 443) }))
}

variable "sizes" {
  type = map(any)
}

output "count" {
  value = length(var.rules) + length(var.sizes)
}
