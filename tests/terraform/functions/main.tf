variable "list" {
  default = ["b", "a", "c", "a"]
}

variable "map" {
  default = { x = "1", y = "2" }
}

locals {
  text = "Hello, World"
}

output "numbers" {
  value = [abs(-5), ceil(1.2), floor(1.8), max(1, 5, 3), min(4, 2), signum(-3), pow(2, 8), log(8, 2), parseint("ff", 16), sum([1, 2, 3.5])]
}
output "text" {
  value = [
    upper(local.text), lower(local.text), title("hello world"), strrev("abc"), substr(local.text, 0, 5), substr(local.text, -5, -1),
    trim("!!x!!", "!"), trimprefix("foobar", "foo"), trimsuffix("foobar", "bar"), trimspace("  x "), chomp("x\n"),
    indent(2, "a\nb"), replace(local.text, "World", "You"), replace("a1b2", "/[0-9]/", "#"), join("-", var.list), format("%s has %d %05.2f", "x", 3, 1.5),
  ]
}
output "split" { value = split(",", "a,b,,c") }
output "tests" {
  value = [startswith("abc", "ab"), endswith("abc", "bc"), strcontains("abc", "b"), strcontains("abc", "x"), contains(var.list, "z"), alltrue([true, true]), anytrue([false])]
}
output "regex" { value = regex("[a-z]+", "123abc456") }
output "regex_groups" { value = regex("(\\d+)-(\\d+)", "10-20") }
output "regex_names" { value = regex("(?P<y>\\d+)/(?P<m>\\d+)", "2020/05") }
output "regexall" { value = regexall("[a-z]", "a1b2") }
output "formatlist" { value = formatlist("%s!", var.list) }
output "lists" {
  value = {
    concat    = concat(var.list, ["z"])
    distinct  = distinct(var.list)
    sort      = sort(var.list)
    reverse   = reverse(var.list)
    slice     = slice(var.list, 1, 3)
    compact   = compact(["a", "", "b"])
    flatten   = flatten([["a"], [["b"], "c"]])
    chunklist = chunklist(var.list, 3)
    element   = element(var.list, 5)
    index     = index(var.list, "c")
    length    = length(var.list)
    range     = range(3)
    stepped   = range(0, 10, 4)
    coalesce  = coalesce("", "x")
    first     = coalescelist([], ["y"])
    one       = one(["only"])
    minus     = sort(tolist(setsubtract(["a", "b", "c"], ["b"])))
    union     = sort(tolist(setunion(["a", "b"], ["b", "c"])))
    shared    = sort(tolist(setintersection(["a", "b"], ["b", "c"])))
  }
}
output "maps" {
  value = {
    keys      = keys(var.map)
    values    = values(var.map)
    lookup    = lookup(var.map, "x", "none")
    fallback  = lookup(var.map, "q", "none")
    merge     = merge(var.map, { z = "3" })
    zipmap    = zipmap(["a", "b"], [1, 2])
    transpose = transpose({ a = ["1", "2"], b = ["2"] })
    length    = length(var.map)
  }
}
output "encoded" {
  value = [base64encode("hi"), base64decode("aGk="), jsonencode({ b = [1, true, null], a = "<x>" }), urlencode("a b&c"), md5("x"), sha1("x"), sha256("x"), sha512("x"), base64sha256("x")]
}
output "decoded" { value = jsondecode("{\"a\":[1,2.5,null],\"b\":{\"c\":true}}") }
output "networks" {
  value = [cidrhost("10.12.112.0/20", 16), cidrnetmask("172.16.0.0/12"), cidrsubnet("172.16.0.0/12", 4, 2), cidrhost("10.0.0.0/8", -1), cidrsubnet("fd00:fd12:3456:7890::/56", 16, 162)]
}
output "subnets" { value = cidrsubnets("10.1.0.0/16", 4, 4, 8, 4) }
output "times" { value = [timeadd("2017-11-22T00:00:00Z", "10m"), timecmp("2017-11-22T01:00:00Z", "2017-11-22T00:00:00Z")] }
output "paths" { value = [basename("a/b.txt"), dirname("a/b.txt"), fileexists("${path.module}/main.tf") || true] }
output "file" { value = file("${path.module}/data/note.txt") }
output "file_digest" { value = filesha256("${path.module}/data/note.txt") }
output "converted" { value = [tostring(12), tonumber("2.5"), tobool("true")] }
output "csv" { value = csvdecode("a,b\n1,2\n3,4") }
output "coalesced" { value = [coalesce("", var.list[0]), coalesce(null, 5)] }
output "products" { value = [setproduct(["a", "b"], [1, 2]), setproduct(["x"], var.list, ["y", "z"])] }
output "matching" { value = matchkeys(["i-1", "i-2", "i-3"], ["a", "b", "a"], ["a"]) }
output "dates" {
  value = [
    formatdate("YYYY-MM-DD", "2018-01-02T23:12:01Z"), formatdate("D.M.YY 'at' h:mm:ss'h'", "2018-01-02T03:12:01Z"),
    formatdate("hhmmZ", "2018-10-12T23:00:01+01:00"), formatdate("'it''s' $D", "2018-10-12T23:00:01Z"),
  ]
}
output "listed" { value = sort(tolist(fileset("${path.module}/data", "**/*.txt"))) }
output "yaml" { value = [yamldecode(file("${path.module}/data/settings.yaml")), yamldecode("[1, two, null]")] }
output "encodings" { value = [textdecodebase64("aGk=", "UTF-8"), textencodebase64("hi", "UTF-8")] }
output "grouped" {
  value = [
    { for index, item in ["ax", "by", "az"] : substr(item, 0, 1) => "${index}${item}"... },
    { for item in ["ax", "by", "az", "a"] : substr(item, 0, 1) => item... if length(item) == 2 || item == "none" },
  ]
}
