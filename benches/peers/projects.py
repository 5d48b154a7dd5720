"""The workloads, and projects that hold them, for every engine."""

import json
from dataclasses import dataclass

PROJECT = "bench"
STACK = "dev"

STASH_TYPE = "pulumi:index:Stash"
COMPONENT_TYPE = "bench:index:Part"
SLOW_TYPE = "slow:index:Thing"
RANDOM_TYPE = "random:index/randomString:RandomString"

COMPONENT_PROGRAM = """\
import pulumi


class Part(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("{type}", name)
        self.register_outputs({{"label": name}})


for index in range({count}):
    Part(f"part-{{index}}")
"""

RANDOM_PROGRAM = """\
import pulumi_random

for index in range({count}):
    pulumi_random.RandomString(f"string-{{index}}", length=16)
"""

NODE_COMPONENT_PROGRAM = """\
const pulumi = require("@pulumi/pulumi");

class Part extends pulumi.ComponentResource {{
    constructor(name) {{
        super("{type}", name);
        this.registerOutputs({{ label: name }});
    }}
}}

for (let index = 0; index < {count}; index++) {{
    new Part(`part-${{index}}`);
}}
"""

NODE_STASH_PROGRAM = """\
const pulumi = require("@pulumi/pulumi");

for (let index = 0; index < {count}; index++) {{
    new pulumi.Stash(`thing-${{index}}`, {{ input: `value ${{index}}` }});
}}
"""

# What a program of a language is called.
FILES = {"python": "__main__.py", "nodejs": "index.js"}


@dataclass(frozen=True)
class Workload:
    """`count` resources of one kind."""

    name: str
    title: str
    # Type of the resources, or of their counterparts in Terraform.
    resource_type: str | None
    terraform_type: str | None = None
    program: str | None = None
    # The program's runtime.
    runtime: str = "yaml"
    needs_random: bool = False
    # What every call to the provider takes, in seconds, and how many may run at a time.
    call_seconds: float | None = None
    parallel: int | None = None

    @property
    def is_program(self):
        return self.program is not None

    @property
    def is_python(self):
        return self.runtime == "python"

    @property
    def is_slow(self):
        return self.call_seconds is not None


WORKLOADS = [
    Workload("empty", "nothing at all, YAML", None),
    Workload("stash-yaml", "built-in resources, YAML", STASH_TYPE, terraform_type="terraform_data"),
    Workload("slow-yaml", "a provider of 50 ms a call, YAML", SLOW_TYPE, call_seconds=0.05, parallel=64),
    Workload("component-python", "components, Python", COMPONENT_TYPE, program=COMPONENT_PROGRAM, runtime="python"),
    Workload(
        "random-python", "random strings, Python", RANDOM_TYPE, program=RANDOM_PROGRAM, runtime="python", needs_random=True
    ),
    Workload("component-node", "components, Node.js", COMPONENT_TYPE, program=NODE_COMPONENT_PROGRAM, runtime="nodejs"),
    Workload("stash-node", "built-in resources, Node.js", STASH_TYPE, program=NODE_STASH_PROGRAM, runtime="nodejs"),
]


def write_pulumi(workload, count, directory, sdk, slow_provider):
    """A project for Plumb and `pulumi`; the slow provider is a plugin of the project."""
    runtime = workload.runtime
    if workload.is_program:
        write_program(workload, count, directory, sdk)
    if workload.is_python:
        runtime = {"name": "python", "options": {"virtualenv": str(sdk)}}
    # JSON is YAML.
    lines = [f"name: {PROJECT}", f"runtime: {json.dumps(runtime)}"]
    if workload.is_slow:
        plugin = {"name": "slow", "path": str(slow_provider.parent)}
        lines.append(f"plugins: {json.dumps({'providers': [plugin]})}")
    if workload.resource_type and not workload.is_program:
        lines.append("resources:")
        for index in range(count):
            lines += [
                f"  thing-{index}:",
                f"    type: {workload.resource_type}",
                "    properties:",
                f"      input: value {index}",
            ]
    (directory / "Pulumi.yaml").write_text("\n".join(lines) + "\n")


def write_program(workload, count, directory, sdk):
    program = workload.program.format(type=workload.resource_type, count=count)
    (directory / FILES[workload.runtime]).write_text(program)
    if not workload.is_python:
        (directory / "package.json").write_text('{"name": "bench"}')
        (directory / "node_modules").symlink_to(sdk / "node_modules")


def write_terraform(workload, count, directory):
    """The counterpart for Terraform: one block with a count, which it gets through faster than many blocks."""
    text = "terraform {}\n"
    if workload.resource_type:
        text += (
            f'\nresource "{workload.terraform_type}" "stash" {{\n'
            f"  count = {count}\n"
            '  input = "value ${count.index}"\n}\n'
        )
    (directory / "main.tf").write_text(text)
