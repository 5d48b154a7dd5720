# The first of all.
terraform {
  required_version = ">= 1.5"
  required_providers {
    random = {
      source  = "hashicorp/random"
      version = "~> 3.6"
    }
  }
  backend "s3" {
    bucket = "b"
  }
}

provider "random" {}

locals {
  # how many
  count_of = 2
  names    = toset(["a", "b"])
  upper    = [for n in local.names : upper(n)]
  tags     = merge({ Name = "x" }, var.tags)
  text     = <<-EOT
    Hello ${var.greeting}
      indented %{ if var.enabled ~}
    yes
    %{ else }no%{ endif }
    %{ for k, v in var.tags ~}
    ${k}=${v}
    %{ endfor ~}
  EOT
}

# A password.
resource "random_password" "main" {
  # long enough
  length           = var.length # really
  special          = true
  override_special = "!#$%&"
  keepers = {
    user_id = "x"
  }
  lifecycle {
    prevent_destroy = true
    ignore_changes  = [length, keepers["user_id"]]
  }
}

resource "random_pet" "many" {
  count  = local.count_of
  length = 2
  prefix = "p${count.index}"
}

resource "random_pet" "each" {
  for_each   = local.names
  length     = 2
  prefix     = each.key
  depends_on = [random_password.main]
}

resource "random_string" "this" {
  for_each = toset(["x", "y"])
  length   = 8
}

resource "null_resource" "run" {
  triggers = {
    pet = random_pet.many[0].id
  }
  provisioner "local-exec" {
    command = "echo ${self.triggers.pet} ${random_password.main.override_special}"
    environment = {
      A = "b"
    }
  }
}

module "names" {
  source   = "./modules/names"
  pet_name = random_pet.many[1].id
  settings = { a_b = 1 }
}

output "pets" {
  description = "All pets."
  value       = random_pet.many[*].id
}
output "pet_a" {
  value = random_pet.each["a"].id
}
output "password" {
  value     = random_password.main.bcrypt_hash
  sensitive = true
}
output "module_name" {
  value = module.names.full_name
}
output "all" { value = [for k, p in random_pet.each : "${k}-${p.id}"] }
output "maybe" { value = var.enabled ? random_pet.many.0.id : null }
output "text" { value = local.text }
