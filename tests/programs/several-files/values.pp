prefix = "shared"
