# The default one is constant.
provider "cloud" {
  region = "eu"
}

provider "cloud" {
  alias  = "west"
  region = "us-west"
}

provider "cloud" {
  alias  = "admin"
  region = var.region
  assume_role {
    role_arn = "arn:x"
  }
}

provider "random" {
  thing = var.region
}

variable "region" {}

resource "cloud_network" "a" {}

resource "cloud_network" "b" {
  provider = cloud.west
}

resource "random_pet" "p" {}

module "part" {
  source = "./part"
  providers = {
    cloud = cloud.admin
  }
}

module "rest" {
  source = "./part"
}
