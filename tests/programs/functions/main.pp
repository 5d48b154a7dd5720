output joined {
  value = join("+", ["a", "b", "c"])
}

output parts {
  value = split(",", "x,y")
}

output encoded {
  value = toBase64("héllo")
}

output decoded {
  value = fromBase64("aGk=")
}

output digest {
  value = sha1("abc")
}

output lengths {
  value = [length([1, 2, 3]), length("abcd"), length({ a = 1 }), length("né 👾")]
}

output numbers {
  value = [max(1, 5, 3), min(4, 2)]
}

output picked {
  value = element(["a", "b"], 1)
}

output entries {
  value = entries({ b = 2, a = 1 })
}

output found {
  value = lookup({ a = "x" }, "a", "none")
}

output missing {
  value = lookup({ a = "x" }, "b", "none")
}

output single {
  value = singleOrNone(["only"])
}
