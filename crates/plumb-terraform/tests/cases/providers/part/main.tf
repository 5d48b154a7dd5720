resource "cloud_network" "inner" {}
