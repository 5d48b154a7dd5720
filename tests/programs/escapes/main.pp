quotes = "say \"hi\" and 'bye'"
lines = "one\ntwo\ttab"
braces = "{curly} $${dollar} %%{percent} `tick` \\ back"

output quotes {
  value = quotes
}

output lines {
  value = lines
}

output braces {
  value = braces
}

output joined {
  value = "<${quotes}|${lines}|${braces}>"
}
