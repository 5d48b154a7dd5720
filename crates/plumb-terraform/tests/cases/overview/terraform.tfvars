length = 20
tags = { a = "1", b = "two" }
token = "verysecret"
