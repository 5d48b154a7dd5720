resource number "random:index/randomInteger:RandomInteger" {
  min = 4
  max = 4
}

output next {
  value = number.result + 1
}

output size {
  value = number.result > 3 ? "large" : "small"
}
