resource wall "shapes:paint:Wall" {
  coat = { mainColor = "b", layerCount = 2, under = { mainColor = "dark-red" } }
  coats = [{ mainColor = "b" }]
  labels = { mainColor = "x" }
  lineHeight = "1.5"
  cover = { tileCount = 4 }
}

resource next "shapes:paint:Wall" {
  labels = { a = wall.labels["b"], c = "<${wall.wallName}>" }
  lineHeight = wall.lineHeight
}

output color {
  value = wall.coat.mainColor
}

output under {
  value = wall.coat.under.layerCount
}

output both {
  value = wall.lineHeight * 2 + wall.lineHeight
}

found = invoke("shapes:paint:findColor", { wallName = wall.wallName })

output name {
  value = found.colorName
}

output text {
  value = "${found.colorName}-${wall.coat.mainColor}"
}

output recipe {
  value = invoke("shapes:paint:getRecipe").recipe
}

output document {
  value = toJSON({ a = wall.wallName, b = [1, wall.lineHeight] })
}

output nested {
  value = { a = wall.wallName, b = 1 }
}

localMap = { a = wall.wallName, b = 1 }

output part {
  value = localMap.a
}

output len {
  value = length([wall.wallName, "x"])
}

output joined {
  value = join(",", [wall.wallName, "x"])
}
