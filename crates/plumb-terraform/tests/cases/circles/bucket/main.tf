variable "document" {
  type = string
}

resource "cloud_firewall" "this" {
  kind = "web"
}

resource "cloud_firewall" "other" {
  document = var.document
}

output "id" {
  value = cloud_firewall.this.id
}
