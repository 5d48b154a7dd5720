output numbers {
  value = [for index in range(3) : index * 2]
}

output between {
  value = [for index in range(2, 4) : index]
}
