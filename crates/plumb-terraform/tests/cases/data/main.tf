data "cloud_image" "one" {
  most_recent = true
  filter {
    text = "a"
  }
}

data "cloud_image" "many" {
  count       = 2
  most_recent = count.index == 0
}

data "cloud_image" "each" {
  for_each    = toset(["x"])
  most_recent = each.key == "x"
  provider    = cloud.west
}

provider "cloud" {
  alias = "west"
}

resource "cloud_machine" "one" {
  size       = data.cloud_image.one.image_name
  user_data  = data.cloud_image.many[1].image_name
  network_id = data.cloud_image.each["x"].image_name
  depends_on = [data.cloud_image.one]
}
