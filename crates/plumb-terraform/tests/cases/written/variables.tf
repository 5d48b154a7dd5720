variable "kind" {
  default = "for Terraform"
}
