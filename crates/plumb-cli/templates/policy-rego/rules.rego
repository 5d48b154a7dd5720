package policies

# METADATA
# description: Names of resources are no longer than 50 characters.
warn_long_name contains message if {
	count(input.__name) > 50
	message := sprintf("The name %s is too long.", [input.__name])
}

# METADATA
# description: Passwords have at least 16 characters.
deny_short_password contains message if {
	input.type == "random:index/randomPassword:RandomPassword"
	input.length < 16
	message := "This password is too short."
}

# What corrects a resource belongs to the rule with the same name.
fix_short_password := {"length": 16} if input.length < 16
