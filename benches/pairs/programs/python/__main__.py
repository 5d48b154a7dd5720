"""The shapes of programs that `benches/overhead` measures, in Python."""

import os
import time

import pulumi

CHILDREN = 9


class Part(pulumi.ComponentResource):
    def __init__(self, name, label=None):
        super().__init__("bench:index:Part", name)
        self.register_outputs({"label": label or name})


def thing(name, value, parent=None):
    return pulumi.CustomResource("pulumi:index:Stash", name, {"input": value}, pulumi.ResourceOptions(parent=parent))


def components(count):
    for index in range(count):
        Part(f"part-{index}")


def resources(count):
    for index in range(count):
        thing(f"thing-{index}", f"value {index}")


def mixed(count):
    """Components with children, most of which use something of the first one."""
    for index in range(count // (CHILDREN + 1)):
        part = Part(f"part-{index}")
        first = thing(f"thing-{index}-0", f"value {index}", part)
        for child in range(1, CHILDREN):
            thing(f"thing-{index}-{child}", first.urn.apply(lambda urn: f"beside {urn}"), part)


def one(_):
    """Notes when the first registration has been answered."""

    def note(_):
        with open(os.environ["BENCH_NOTE"], "w") as file:
            file.write(str(time.time_ns()))

    Part("part").urn.apply(note)


shapes = {"components": components, "resources": resources, "mixed": mixed, "one": one}
shapes[os.environ["BENCH_SHAPE"]](int(os.environ["BENCH_COUNT"]))
