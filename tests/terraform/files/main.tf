# Another file overrides what is here.
variable "prefix" { default = "main" }

locals {
  names = ["a", "b"]
  kept  = "kept"
}

resource "terraform_data" "first" {
  input            = "${var.prefix}-first"
  triggers_replace = ["main"]
  lifecycle {
    create_before_destroy = true
  }
}

output "first" {
  value = terraform_data.first.output
}
