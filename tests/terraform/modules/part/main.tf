variable "name" {
  type = string
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "terraform_data" "this" {
  input = { name = upper(var.name), tags = merge(var.tags, { own = "yes" }) }
}

module "inner" {
  source = "./inner"
  value  = terraform_data.this.output.name
}

output "full_name" { value = "${terraform_data.this.output.name}!" }
output "details" { value = terraform_data.this.output }
output "inner_value" { value = module.inner.doubled }
output "note" { value = trimspace(file("${path.module}/note.txt")) }
