config folder string {
  default = "here"
}

hook resource createHook {
  command = ["test", "-n", "${folder}/${args.name}"]
}

hook resource previewHook {
  command = ["test", args.type, "=", "random:index/randomPet:RandomPet"]
  onDryRun = true
  ignoreErrors = false
}

hook error retryHook {
  command = ["false"]
}

resource pet "random:index/randomPet:RandomPet" {
  length = 2
  options {
    hooks = {
      beforeCreate = [createHook, previewHook]
      afterUpdate = [createHook]
      onError = [retryHook]
    }
  }
}
