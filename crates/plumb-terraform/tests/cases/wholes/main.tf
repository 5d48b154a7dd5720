# Values of variables that are used as wholes.
variable "rules" {
  type = list(object({
    from_port   = number
    to_port     = optional(number, 443)
    cidr_blocks = optional(list(string))
    notes       = optional(list(object({ text = optional(string, "none") })), [])
  }))
}

variable "egress" {
  type = object({
    from_port   = optional(number, 80)
    cidr_blocks = list(string)
  })
  default = null
}

variable "sizes" {
  type = map(object({ size = optional(string, "small"), disk = optional(object({ kind = optional(string, "ssd") }), {}) }))
}

variable "anything" {
  type = any
}

resource "cloud_firewall" "whole" {
  ingress = var.rules
  egress  = var.egress
}

resource "cloud_firewall" "named" {
  for_each = var.sizes
  document = jsonencode({ size = each.value, all = var.sizes })
  dynamic "egress" {
    for_each = var.rules[*].from_port
    content {
      from_port = egress.value
    }
  }
  dynamic "egress" {
    for_each = each.value.disk.kind == "ssd" ? [1] : []
    content {
      from_port = 22
    }
  }
}

resource "cloud_firewall" "unknown" {
  ingress = var.anything
}

module "same" {
  source = "./child"
  rules  = var.rules
  sizes  = var.sizes
}

output "rules" {
  value = var.rules
}

output "egress" {
  value = [for it in [var.egress] : it if it != null]
}

output "ports" {
  value = [for it in var.rules : it.to_port]
}

output "nested" {
  value = var.rules[*].notes[*].text
}
