config scale "number" { default = 2.5 }
config count "int" { default = 7 }

output sums {
  value = [count + 1, count - 10, count * 3, scale * 4, scale + count]
}

output negative {
  value = -count
}

output compared {
  value = [count > 6, count >= 7, scale < 2, scale <= 2.5, count == 7, count != 7]
}

output remainder {
  value = count % 4
}

output quotient {
  value = scale / 2
}

output large {
  value = [9007199254740991, 1234567890123, 0.1, 1.5e3, -0.25]
}

output extremes {
  value = [max(1, count, 3), min(4, count), max(0.5, scale)]
}

resource number "random:index/randomInteger:RandomInteger" {
  min = count
  max = count * 2 + 1
}

output bounds {
  value = [number.min, number.max]
}
