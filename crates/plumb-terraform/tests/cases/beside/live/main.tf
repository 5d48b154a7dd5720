module "part" {
  source   = "../modules/part"
  for_each = { a = 1 }
  size     = each.value
}

module "counted" {
  source     = "../modules/part"
  count      = 2
  size       = count.index
  depends_on = [module.part]
}

output "a" {
  value = module.part["a"].machine.public_ip
}

output "all" {
  value = module.counted[*].machine_size
}
