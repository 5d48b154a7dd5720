# The policy of the firewall names the firewall; two modules need each other.
module "wall" {
  source   = "./bucket"
  document = local.policy
}

locals {
  policy = "allow ${module.wall.id}"
}

module "one" {
  source     = "./bucket"
  document   = "one ${module.two.id}"
  depends_on = [module.two]
}

module "two" {
  source   = "./bucket"
  document = "two ${module.one.id}"
}
