resource files "command:local:Command" {
  create = "true"
  triggers = [fileAsset("./note.txt"), stringAsset("inline"), assetArchive({ "a.txt" = stringAsset("a") })]
}

output text {
  value = readFile("./note.txt")
}

output encoded {
  value = filebase64("./note.txt")
}

output digest {
  value = filebase64sha256("./note.txt")
}
