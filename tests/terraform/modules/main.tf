module "part" {
  source = "./part"
  name   = "first"
  tags   = { a = "1" }
}

module "many" {
  source   = "./part"
  for_each = { x = "ex", y = "why" }
  name     = each.value
}

module "counted" {
  source     = "./part"
  count      = 2
  name       = "n${count.index}"
  depends_on = [module.part]
}

output "full" { value = module.part.full_name }
output "from_each" { value = { for k, m in module.many : k => m.full_name } }
output "one_of" { value = module.many["x"].full_name }
output "from_count" { value = module.counted[*].full_name }
output "object" { value = module.part.details.tags }
output "inner" { value = module.part.inner_value }
output "note" { value = module.part.note }
