# About the whole program.

// A number that matters.
size = 2

/* A longer text
   in a block. */
resource pet "random:index/randomPet:RandomPet" {
  # How many words.
  length = size
}
