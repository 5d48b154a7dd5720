# Names of a real provider.
terraform {
  required_providers {
    docker = {
      source  = "kreuzwerker/docker"
      version = "~> 3.0"
    }
  }
}

provider "docker" {
  host = "unix:///var/run/docker.sock"

  registry_auth {
    address  = "registry.example.com"
    username = "u"
  }
}

data "docker_registry_image" "nginx" {
  name = "nginx:latest"
}

resource "docker_image" "nginx" {
  name          = data.docker_registry_image.nginx.name
  pull_triggers = [data.docker_registry_image.nginx.sha256_digest]
  keep_locally  = true
}

resource "docker_network" "private" {
  name = "private"

  ipam_config {
    subnet  = "10.5.0.0/16"
    gateway = cidrhost("10.5.0.0/16", 1)
  }
}

resource "docker_volume" "data" {
  name = "data"

  labels {
    label = "a"
    value = "b"
  }
}

resource "docker_container" "web" {
  count = 2
  name  = "web-${count.index}"
  image = docker_image.nginx.image_id
  env   = [for k, v in { A = "1", B = "2" } : "${k}=${v}"]
  dns   = ["1.1.1.1"]

  ports {
    internal = 80
    external = 8000 + count.index
  }

  volumes {
    volume_name    = docker_volume.data.name
    container_path = "/data"
    read_only      = true
  }

  networks_advanced {
    name    = docker_network.private.name
    aliases = ["web"]
  }

  healthcheck {
    test     = ["CMD", "true"]
    interval = "10s"
  }

  host {
    host = "db"
    ip   = "10.5.0.9"
  }

  capabilities {
    add = ["NET_ADMIN"]
  }

  must_run = true
  restart  = "on-failure"

  lifecycle {
    ignore_changes = [image, ports[0].external, network_data]
  }
}

output "addresses" {
  value = [for c in docker_container.web : c.network_data[0].ip_address]
}

output "gateways" {
  value = docker_container.web[*].network_data[0].gateway
}

output "repository" {
  value = docker_image.nginx.repo_digest
}
