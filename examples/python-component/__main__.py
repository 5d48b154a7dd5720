"""A component that groups a name and a password, used twice."""

import pulumi
import pulumi_random as random


class Account(pulumi.ComponentResource):
    """A made-up account: a login name and a secret password."""

    login: pulumi.Output[str]
    password: pulumi.Output[str]

    def __init__(self, name: str, length: int = 16, opts: pulumi.ResourceOptions | None = None):
        super().__init__("example:index:Account", name, None, opts)
        below = pulumi.ResourceOptions(parent=self)
        pet = random.RandomPet(f"{name}-login", length=2, opts=below)
        secret = random.RandomPassword(
            f"{name}-password",
            length=length,
            keepers={"login": pet.id},
            opts=below,
        )
        self.login = pet.id
        self.password = secret.result
        self.register_outputs({"login": self.login, "password": self.password})


config = pulumi.Config()
reader = Account("reader")
writer = Account("writer", length=config.get_int("length") or 24)

pulumi.export("reader", reader.login)
pulumi.export("writer", writer.login)
pulumi.export("writerPassword", writer.password)
