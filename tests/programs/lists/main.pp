config extra "list(string)" { default = ["x", "y"] }

base = ["a", "b"]
nested = [[1, 2], [3]]
table = { first = ["p", "q"], second = [] }

output first {
  value = element(base, 0)
}


output lengths {
  value = [for list in nested : length(list)]
}

output inner {
  value = nested[0][1]
}

output rows {
  value = [for name, items in table : { name = name, count = length(items), items = items }]
}

output pairs {
  value = [for entry in entries(table) : entry.key]
}

output found {
  value = [lookup({ a = 1 }, "a", 0), lookup({ a = 1 }, "b", 0)]
}

output filtered {
  value = { for index, item in extra : item => index if item != "x" }
}

output one {
  value = singleOrNone([for item in base : item if item == "b"])
}

output all {
  value = [for number in range(3) : number * number]
}
