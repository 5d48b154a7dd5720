variable "names" {
  type    = list(string)
  default = ["ann", "bob", "cy"]
}

variable "ports" {
  type    = map(number)
  default = { http = 80, https = 443 }
}

variable "users" {
  type = list(object({ name = string, admin = bool, age = optional(number, 7) }))
  default = [
    { name = "ann", admin = true, age = 30 },
    { name = "bob", admin = false },
  ]
}

variable "is_on" {
  type    = bool
  default = true
}

variable "nothing" {
  type    = string
  default = null
}

locals {
  numbers   = [1, 2, 3, 4]
  upper     = [for n in var.names : upper(n)]
  indexed   = [for i, n in var.names : "${i}:${n}"]
  filtered  = [for n in local.numbers : n * n if n % 2 == 0]
  by_name   = { for u in var.users : u.name => u.admin }
  swapped   = { for k, v in var.ports : tostring(v) => k }
  nested    = { for u in var.users : u.name => { for k, v in var.ports : k => "${u.name}-${v}" } }
  flat      = flatten([for u in var.users : [for k, v in var.ports : "${u.name}/${k}"]])
  set       = toset(["b", "a", "b"])
  arith     = (1 + 2) * 3 - 4 / 2 + 7 % 4
  compared  = length(var.names) < 2 && var.names[0] != "b" || !var.is_on
  negative  = -local.numbers[0]
  precise   = 0.1 + 0.2
  big       = 10000000000
}

output "upper" { value = local.upper }
output "indexed" { value = local.indexed }
output "filtered" { value = local.filtered }
output "by_name" { value = local.by_name }
output "swapped" { value = local.swapped }
output "nested" { value = local.nested }
output "flat" { value = local.flat }
output "arith" { value = local.arith }
output "compared" { value = local.compared }
output "negative" { value = local.negative }
output "big" { value = local.big }
output "chosen" { value = var.is_on ? "on" : "off" }
output "defaulted" { value = var.nothing == null ? "none" : var.nothing }
output "splat" { value = var.users[*].name }
output "legacy_splat" { value = var.users.*.admin }
output "indexed_key" { value = var.ports["http"] }
output "last" { value = var.names[length(var.names) - 1] }
output "missing" { value = try(var.ports["ftp"], 21) }
output "can" { value = [can(var.ports["ftp"]), can(var.ports["http"])] }
output "set_values" { value = [for s in local.set : s] }
output "set_as_map" { value = { for s in local.set : s => upper(s) } }
output "concatenated" { value = "${var.names[0]} and ${var.names[1]}" }
output "number_text" { value = "port ${var.ports.http} is ${var.is_on} ${1.5}" }
output "escaped" { value = "a\tb \"c\" $${d} %%{e} \\ é \u00e9" }
output "object" { value = { a = 1, "b c" = [true, null], (var.names[0]) = "dyn" } }
output "chain" { value = var.is_on ? (var.nothing == null ? 1 : 2) : 3 }
output "contains" { value = contains(var.names, "bob") }
output "merged" { value = merge({ a = 1, b = 2 }, { b = 3 }) }
output "first_admin" { value = [for u in var.users : u.name if u.admin][0] }
output "sensitive_length" { value = nonsensitive(length(sensitive("secret"))) }
output "ages" { value = [for u in var.users : u.age] }
output "second_age" { value = var.users[1].age }
