resource left "random:index/randomInteger:RandomInteger" {
  min = 1
  max = 1
}

resource right "random:index/randomInteger:RandomInteger" {
  min = 2
  max = 2
}

output sum {
  value = left.result + right.result
}

output twice {
  value = left.result + left.result
}

output larger {
  value = max(left.result, right.result)
}
