variable "x" {}

locals {
  f00 = abs(-1)
  f01 = alltrue([true])
  f02 = base64decode("YQ==")
  f03 = base64encode("a")
  f04 = base64sha256("a")
  f05 = basename("a/b")
  f06 = can(var.x.y)
  f07 = ceil(1.2)
  f08 = chomp("a\n")
  f09 = chunklist(["a"], 1)
  f10 = cidrhost("10.0.0.0/8", 1)
  f11 = cidrnetmask("10.0.0.0/8")
  f12 = cidrsubnet("10.0.0.0/8", 8, 1)
  f13 = cidrsubnets("10.0.0.0/8", 8, 8)
  f14 = coalesce("", "a")
  f15 = coalescelist([], ["a"])
  f16 = compact(["", "a"])
  f17 = concat(["a"], ["b"])
  f18 = contains(["a"], "a")
  f19 = element(["a", "b"], 3)
  f20 = endswith("ab", "b")
  f21 = file("${path.module}/x.txt")
  f22 = fileset(path.module, "*")
  f23 = flatten([["a"]])
  f24 = format("%s-%d", "a", 1)
  f25 = formatdate("YYYY", timestamp())
  f26 = formatlist("%s!", ["a"])
  f27 = indent(2, "a")
  f28 = join(",", ["a"])
  f29 = jsondecode("{}")
  f30 = jsonencode({ a = 1 })
  f31 = keys({ a = 1 })
  f32 = length("abc")
  f33 = lookup({ a = 1 }, "a", 2)
  f34 = max(1, 2)
  f35 = merge({ a = 1 }, { b = 2 })
  f36 = merge([{ a = 1 }, { b = 2 }]...)
  f37 = max([1, 2]...)
  f38b = merge({ a = 0 }, [{ a = 1 }, { b = 2 }]...)
  f38c = format("%s-%s", ["x", "y"]...)
  f38d = setunion([["a"], ["b"]]...)
  f38 = nonsensitive("a")
  f39 = one(["a"])
  f40 = parseint("ff", 16)
  f41 = provider::cloud::parse("x")
  f42 = range(3)
  f43 = range(1, 3)
  f44 = range(1, 9, 2)
  f45 = regex("a", "a")
  f46 = replace("a", "a", "b")
  f47 = sensitive("a")
  f48 = setproduct(["a"], ["b"])
  f49 = setsubtract(["a"], ["b"])
  f50 = setunion(["a"], ["b"])
  f51 = slice(["a"], 0, 1)
  f52 = split(",", "a")
  f53 = strcontains("abc", "b")
  f54 = substr("abc", 0, 1)
  f55 = sum([1])
  f56 = templatefile("x.tftpl", { name = "n" })
  f57 = templatefile("missing.tftpl", {})
  f58 = timeadd("2020-01-01T00:00:00Z", "1h")
  f59 = tolist(["a"])
  f60 = tomap({ a = 1 })
  f61 = tonumber("1")
  f62 = toset(["a"])
  f63 = tostring(1)
  f64 = trimprefix("ab", "a")
  f65 = try(var.x.y, "z")
  f66 = yamlencode({ a = 1 })
  f67 = zipmap(["a"], [1])
  f68 = no_such(1)
  f69 = setproduct(["a", "b"], var.x, [1])
  f70 = matchkeys(["a", "b"], ["x", "y"], ["y"])
  f71 = fileset("${path.module}/data", "**/*.json")
  f72 = fileset(var.x, "*")
  f73 = formatdate("DD.MM.YYYY 'at' hh:mm", timestamp())
  f74 = formatdate("EEEE", timestamp())
  f75 = yamldecode(file("${path.module}/data/x.yaml"))
  f76 = yamldecode("a: [1, two, null]")
  f77 = yamldecode(var.x)
  f78 = textdecodebase64("YQ==", "UTF-8")
  f79 = textencodebase64("a", "UTF-16LE")
}

locals {
  operators = !(1 + 2 * 3 > 4) && var.x != null || -var.x == 5 % 2
  nested    = { for k, v in var.x : k => [for w in v : { "${k}" = w }] }
  grouped   = { for k, v in var.x : v => k... }
  template  = "a ${var.x} ${"b"} $${c} %{if var.x == 1}one%{else}more%{endif}%{for i, v in var.x}${i}:${v} %{endfor}!"
  whole     = "${var.x}"
  numbers   = [1, 2.5, 1e3, -4]
  texts     = ["tab\t", "quote\"", "back\\slash", "é", "new\nline"]
  heredoc   = <<EOT
line "one"
  line ${var.x} two\n
EOT
  workspace = terraform.workspace
  paths     = [path.module, path.root, path.cwd]
  missing   = local.nowhere
}
