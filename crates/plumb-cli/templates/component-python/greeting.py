"""A component."""

from typing import Optional, TypedDict

import pulumi


class GreetingArgs(TypedDict):
    """What a greeting is made of."""

    who: pulumi.Input[str]
    """Who is greeted."""


class Greeting(pulumi.ComponentResource):
    """A greeting. Resources that belong together are declared here, each with `parent=self`."""

    text: pulumi.Output[str]
    """The text."""

    def __init__(self, name: str, args: GreetingArgs, opts: Optional[pulumi.ResourceOptions] = None) -> None:
        super().__init__("${PROJECT}:index:Greeting", name, {}, opts)
        self.text = pulumi.Output.concat("Hello, ", args["who"])
        self.register_outputs({"text": self.text})
