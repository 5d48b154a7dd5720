variable "pet_name" { type = string }
variable "settings" {}
resource "random_id" "this" {
  byte_length = 4
  prefix = "${var.pet_name}-"
}
output "full_name" { value = format("%s/%s", var.pet_name, random_id.this.hex) }
output "file" { value = templatefile("${path.module}/files/a.tftpl", { name = var.pet_name, list = ["q","r"] }) }
output "raw" { value = file("${path.module}/files/a.tftpl") }
