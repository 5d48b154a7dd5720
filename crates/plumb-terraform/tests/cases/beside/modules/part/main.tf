/*
 * A part.
 */
variable "size" {}

resource "cloud_machine" "this" {
  size = "s${var.size}"
}

output "machine" {
  value = cloud_machine.this
}

output "machine_size" {
  value = cloud_machine.this.size
}
