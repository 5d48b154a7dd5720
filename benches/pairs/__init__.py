"""What Plumb adds to programs: each run beside one of the same program alone. `cli` is the place to start reading."""
