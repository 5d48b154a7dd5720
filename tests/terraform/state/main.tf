terraform {
  required_providers {
    random = {
      source = "hashicorp/random"
    }
  }
}

variable "length" {
  type    = number
  default = 12
}

resource "random_string" "first" {
  length  = var.length
  special = false
}

resource "random_integer" "port" {
  count = 2
  min   = 1000
  max   = 2000
}

resource "random_string" "named" {
  for_each = toset(["a", "b"])
  length   = 6
  upper    = false
  special  = false
}

resource "random_password" "secret" {
  length = 16
}

resource "random_uuid" "id" {}

module "part" {
  source = "./part"
  length = 5
}

module "parts" {
  source   = "./part"
  for_each = { x = 4, y = 5 }
  length   = each.value
}

output "first" { value = random_string.first.result }
output "ports" { value = random_integer.port[*].result }
output "named" { value = { for k, r in random_string.named : k => r.result } }
output "id" { value = random_uuid.id.result }
output "part" { value = module.part.text }
output "parts" { value = [for p in module.parts : p.text] }
