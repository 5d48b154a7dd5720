variable "greeting" {
  type    = string
  default = "you"
}
variable "enabled" {
  type    = bool
  default = true
}
variable "length" {
  type = number
  validation {
    condition     = var.length > 8
    error_message = "too short"
  }
}
variable "tags" {
  type        = map(string)
  default     = { b = "c" }
  description = "tags"
}
variable "db" {
  type = object({ name = string, port = optional(number, 5432) })
  default = { name = "x" }
}
variable "token" {
  type = string
  sensitive = true
  default = "t"
}
