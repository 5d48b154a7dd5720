# Loops that choose their elements by outputs of these.
resource numbers "random:index/randomInteger:RandomInteger" {
  min = range.value
  max = range.value

  options {
    range = [3, 7, 9]
  }
}

output big {
  value = [for number in numbers : number.result if number.result > 5]
}

output count {
  value = length([for number in numbers : number.min if number.result > 5])
}

output named {
  value = { for at, number in numbers : "n${number.result}" => at if number.result != 7 }
}
