files = { one = stringAsset("one"), two = stringAsset("text") }

resource kept "pulumi:index:Stash" {
  input = {
    files = files
    archive = assetArchive({ "a.txt" = stringAsset("a"), "sub" = assetArchive({ "b.txt" = stringAsset("b") }) })
    list = [stringAsset("x"), stringAsset("y")]
  }
}

output hash {
  value = sha1("text")
}
