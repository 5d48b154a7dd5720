variable "prefix" { default = "over" }

locals {
  names = ["x", "y", "z"]
}

resource "terraform_data" "first" {
  input = "${var.prefix}-second-${local.kept}"
  lifecycle {
    ignore_changes = [triggers_replace]
  }
}
