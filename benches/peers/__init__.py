"""Compares Plumb with `pulumi` and `terraform`: the same work, measured alike. `cli` is the place to start reading."""
