terraform {
  cloud {
    organization = "o"
  }
}

check "health" {
  assert {
    condition     = true
    error_message = "no"
  }
}

removed {
  from = cloud_network.old
}

variable "v" {
  type      = string
  ephemeral = true
  validation {
    condition     = true
    error_message = "m"
  }
}

module "far" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "5.0"
  name    = "n"
}

output "far" {
  value = module.far.vpc_id
  precondition {
    condition     = true
    error_message = "m"
  }
}

data "terraform_remote_state" "other" {
  backend = "s3"
  config  = {}
}

output "other" {
  value = data.terraform_remote_state.other.outputs.x
}

resource "unknown_thing" "t" {
  some_name = 1
  nested {
    inner_name = 2
  }
  provisioner "salt" {}
}

resource "cloud_network" "n" {
  no_such = 1
  tags    = { a = "b" }
}

resource "cloud_what" "w" {}

ephemeral "random_password" "p" {
  length = 3
}
# the end
