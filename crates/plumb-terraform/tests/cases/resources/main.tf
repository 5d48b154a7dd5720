variable "rules" {
  type    = list(object({ port = number, cidrs = list(string) }))
  default = []
}

variable "subnets" {
  type    = set(string)
  default = ["a"]
}

resource "cloud_network" "main" {
  cidr_block = "10.0.0.0/16"
  tags = {
    Name      = "main"
    "a/b"     = upper("x")
    (var.key) = "z"
  }
  # who may come in
  access {
    is_open = true
    rules {
      from_port = 1
    }
  }
}

resource "cloud_firewall" "main" {
  network_id = cloud_network.main.id
  kind       = cloud_network.main.access[0].is_open ? "open" : "closed"
  policies   = ["a"]

  ingress {
    from_port = 22
    to_port   = 22
  }

  dynamic "ingress" {
    for_each = var.rules
    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port + ingress.key
      cidr_blocks = ingress.value.cidrs
      dynamic "notes" {
        for_each = ingress.value.cidrs
        iterator = cidr
        content {
          text = "${ingress.value.port} from ${cidr.value}"
        }
      }
    }
  }

  dynamic "egress" {
    for_each = var.open ? [1] : []
    content {
      from_port = egress.value
    }
  }

  timeouts {
    create = "10m"
  }

  lifecycle {
    create_before_destroy = true
    prevent_destroy       = true
    ignore_changes        = [kind, ingress[0].from_port]
    replace_triggered_by  = [cloud_network.main.arn]
    precondition {
      condition     = var.open
      error_message = "no"
    }
  }
}

resource "cloud_machine" "web" {
  count      = var.open ? 2 : 0
  network_id = cloud_firewall.main.network_id
  size       = "s${count.index}"
  user_data  = <<-EOF
    #!/bin/sh

    echo ${count.index} > /tmp/x
      if true; then echo "$${HOME} %%{x}"; fi
  EOF
}

resource "cloud_machine" "by_name" {
  for_each   = var.subnets
  network_id = each.key
  labels     = { for k, v in cloud_network.main.tags : lower(k) => v if v != "" }
  depends_on = [cloud_firewall.main, cloud_machine.web[0]]

  provisioner "remote-exec" {
    inline = ["echo ${self.public_ip}"]
    connection {
      type        = "ssh"
      host        = self.public_ip
      private_key = file("~/.ssh/id")
    }
  }

  provisioner "local-exec" {
    when    = destroy
    command = "echo bye"
  }
}

resource "terraform_data" "version" {
  input            = { a = var.subnets }
  triggers_replace = [cloud_network.main.id]
}

moved {
  from = cloud_machine.old
  to   = cloud_machine.web
}

import {
  to = cloud_network.main
  id = "net-1"
}

output "ips" {
  value = concat(cloud_machine.web[*].public_ip, [for m in cloud_machine.by_name : m.public_ip])
}

output "legacy" {
  value = join(",", cloud_machine.web.*.public_ip)
}

output "first" {
  value = try(cloud_machine.web[0].labels["Name"], null)
}

output "rule_ports" {
  value = cloud_firewall.main.ingress[*].from_port
}

output "egress" {
  value = cloud_firewall.main.egress[0].cidr_blocks[0]
}

output "stored" {
  value = terraform_data.version.output
}

variable "settings" {
  type = map(object({
    size  = string
    label = optional(string, "none")
    tags  = optional(map(string))
  }))
  default = {}
}

resource "cloud_machine" "configured" {
  for_each   = var.settings
  size       = each.value.size
  user_data  = each.value.label
  labels     = each.value.tags
  depends_on = [cloud_machine.web]
}

resource "cloud_machine" "last" {
  size       = var.settings["a"].label
  depends_on = [cloud_machine.configured]
}
