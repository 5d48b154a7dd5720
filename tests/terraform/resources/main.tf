variable "sizes" {
  type    = map(number)
  default = { small = 1, large = 10 }
}

resource "terraform_data" "one" {
  input = { size = var.sizes.small, list = ["a", "b"] }
}

resource "terraform_data" "counted" {
  count = 2
  input = "item ${count.index} of ${terraform_data.one.output.list[1]}"
}

resource "terraform_data" "each" {
  for_each         = var.sizes
  input            = "${each.key}=${each.value}"
  triggers_replace = [each.value]
}

resource "terraform_data" "set" {
  for_each   = toset(["x", "y"])
  input      = upper(each.key)
  depends_on = [terraform_data.one]
}

resource "terraform_data" "none" {
  count = length(var.sizes) > 5 ? 1 : 0
  input = "never"
}


output "one" { value = terraform_data.one.output }
output "counted" { value = terraform_data.counted[*].output }
output "second" { value = terraform_data.counted[1].output }
output "each" { value = { for k, r in terraform_data.each : k => r.output } }
output "large" { value = terraform_data.each["large"].output }
output "set" { value = [for r in terraform_data.set : r.output] }
output "none" { value = length(terraform_data.none) }
output "maybe" { value = one(terraform_data.none[*].output) }

resource "terraform_data" "after" {
  input      = "after"
  depends_on = [terraform_data.counted]
}

resource "terraform_data" "last" {
  input      = "last"
  depends_on = [terraform_data.each]
}

output "last" { value = "${terraform_data.after.output} ${terraform_data.last.output}" }
