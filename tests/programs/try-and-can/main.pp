config settings any {
  default = { a = 1 }
}

output there {
  value = try(settings.a, "fallback")
}

output missing {
  value = try(settings.b, "fallback")
}

output possible {
  value = [can(settings.a), can(settings.b.c)]
}
