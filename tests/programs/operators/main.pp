config a int {
  default = 7
}

config b int {
  default = 2
}

output arithmetic {
  value = [a + b, a - b, a * b, a % b, -a]
}

output precedence {
  value = (a + b) * (a - b) - a * -b
}

output comparison {
  value = [a > b, a >= b, a < b, a <= b, a == b, a != b]
}

output logic {
  value = !(a > b && a < 3) || a == 1
}
