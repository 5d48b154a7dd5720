component outer "./outer" {
  name = "x"
}

output id {
  value = outer.id
}
