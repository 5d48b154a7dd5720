variable "names" {
  default = ["ann", "bob"]
}

variable "ports" {
  default = { http = 80, https = 443 }
}

variable "loud" {
  default = true
}

locals {
  plain = <<EOT
Hello
  ${var.names[0]} "quoted" \n $${x}
EOT
  flush = <<-EOT
    server {
      listen ${var.ports.http};

      # ${length(var.names)} names
    }
  EOT
  directives = <<-EOT
    %{ for name in var.names ~}
    user ${name}
    %{ endfor ~}
    %{ if var.loud }LOUD%{ else }quiet%{ endif }
    %{ for k, v in var.ports }
    ${k}=${v}
    %{ endfor }
    end
  EOT
  inline = "%{ for n in var.names }<${n}>%{ endfor }|%{ if var.loud ~}  yes  %{~ endif }|"
}

output "plain" { value = local.plain }
output "flush" { value = local.flush }
output "directives" { value = local.directives }
output "inline" { value = local.inline }
output "file" {
  value = templatefile("${path.module}/files/motd.tftpl", { names = var.names, greeting = "Hi", loud = !var.loud })
}
output "yaml_is_json" { value = jsondecode(jsonencode({ a = [1] })) }
