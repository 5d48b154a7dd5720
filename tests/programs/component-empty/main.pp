component group {
  token = "my:index:Group"
}
