"""The resources of the stack."""

import pulumi

pulumi.export("greeting", f"Hello from {pulumi.get_project()} in {pulumi.get_stack()}")
