config name "string" { default = "wörld" }

script = <<-EOT
  #!/bin/sh
  echo "hello ${name}" && printf '%d%%\n' 5
  for i in 1 2; do echo $i; done
EOT

words = split(" ", "one two  three")

output script {
  value = script
}

output words {
  value = words
}

output joined {
  value = join("/", [for word in words : "[${word}]" if word != ""])
}

output mixed {
  value = "a\"b\\c\t${name}\n{d} $${e} 100%"
}

output encoded {
  value = fromBase64(toBase64("x ${name} ✓"))
}

output empty {
  value = "${""}"
}
