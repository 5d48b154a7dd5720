# Values of which the types say little, objects that lack what their defaults give, and keys that come twice.
variable "anything" {
  type = any
  default = {
    list = ["a", "b"]
    map  = { one = 1, two = 2 }
    deep = { x = { ports = [1, 2] }, y = { ports = [3] } }
  }
}

variable "rules" {
  type = list(object({
    name  = string
    ports = optional(list(number), [80])
    where = optional(object({ zone = optional(string, "here"), index = optional(number, 7) }), {})
  }))
  default = [
    { name = "plain" },
    { name = "full", ports = [1, 2], where = { zone = "there", index = 3 } },
  ]
}

variable "sizes" {
  type    = map(object({ size = optional(string, "small") }))
  default = { a = {}, b = { size = "large" } }
}

variable "is_on" {
  type    = bool
  default = true
}

locals {
  twice = {
    first  = 1
    second = 2
    first  = 3
  }
  chosen = var.is_on ? { on = "yes" } : {}
  maps   = [{ a = 1 }, { b = 2 }]
}

resource "terraform_data" "each" {
  for_each = var.anything.map
  input    = each.value
}

resource "terraform_data" "chosen" {
  for_each = local.chosen
  input    = "${each.key} is ${each.value}"
}

resource "terraform_data" "single" {
  input      = "single"
  depends_on = [terraform_data.each, terraform_data.chosen]
}

output "items" {
  value = [for it in var.anything.list : upper(it)]
}

output "indexes" {
  value = [for index, it in var.anything.list : "${index}=${it}"]
}

output "entries" {
  value = [for key, it in var.anything.map : "${key}=${it}"]
}

output "kept" {
  value = { for key, it in var.anything.map : key => it + 1 if it > 1 }
}

output "ports" {
  value = flatten([for key, it in var.anything.deep : [for port in it.ports : "${key}-${port}"]])
}

output "found" {
  value = [for it in lookup(var.anything, "list", []) : it]
}

output "rules" {
  value = var.rules
}

output "documents" {
  value = jsonencode({ rules = var.rules, sizes = var.sizes })
}

output "zones" {
  value = [for it in var.rules : it.where.zone]
}

output "twice" {
  value = local.twice
}

output "merged" {
  value = merge({ c = 0 }, local.maps...)
}

output "formatted" {
  value = format("%s-%s", ["x", "y"]...)
}

output "each" {
  value = { for key, it in terraform_data.each : key => it.output }
}

output "splat" {
  value = var.rules[*].where.zone
}

output "splats" {
  value = flatten(var.rules[*].ports[*])
}
