"""The workloads, and projects that hold them, for every engine."""

import json
import os
import shutil
import subprocess
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

GO_PROGRAM = """\
package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type part struct {{
	pulumi.ResourceState
}}

func main() {{
	pulumi.Run(func(ctx *pulumi.Context) error {{
		for index := range {count} {{
			name := fmt.Sprintf("part-%d", index)
			made := &part{{}}
			if err := ctx.RegisterComponentResource("{type}", name, made); err != nil {{
				return err
			}}
			if err := ctx.RegisterResourceOutputs(made, pulumi.Map{{"label": pulumi.String(name)}}); err != nil {{
				return err
			}}
		}}
		return nil
	}})
}}
"""
# Of the Go SDK, as `tests/setup-go.sh` fetches it.
GO_SDK = "3.260.0"
GO_BINARY = "program"

# What a program of a language is called.
FILES = {"python": "__main__.py", "nodejs": "index.js", "go": "main.go"}


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
    def is_go(self):
        return self.runtime == "go"

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
    Workload("component-go", "components, Go", COMPONENT_TYPE, program=GO_PROGRAM, runtime="go"),
]


def write_pulumi(workload, count, directory, sdk, slow_provider):
    """A project for Plumb and `pulumi`; the slow provider is a plugin of the project."""
    runtime = workload.runtime
    if workload.is_program:
        write_program(workload, count, directory, sdk)
    if workload.is_python:
        runtime = {"name": "python", "options": {"virtualenv": str(sdk)}}
    elif workload.is_go:
        runtime = {"name": "go", "options": {"binary": GO_BINARY}}
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
    """The program, ready to be run: what a compiler does is not measured."""
    program = workload.program.format(type=workload.resource_type, count=count)
    (directory / FILES[workload.runtime]).write_text(program)
    if workload.is_go:
        compile_go(directory, sdk)
    elif not workload.is_python:
        (directory / "package.json").write_text('{"name": "bench"}')
        (directory / "node_modules").symlink_to(sdk / "node_modules")


def compile_go(directory, sdk):
    for file in ("go.mod", "go.sum"):
        shutil.copy(sdk / f"sdk-{GO_SDK}" / file, directory)
    environment = os.environ | {
        "GOMODCACHE": str(sdk / "mod"), "GOCACHE": str(sdk / "build"), "GOPROXY": "off", "GOFLAGS": "-buildvcs=false"}
    command = ["go", "build", "-trimpath", "-ldflags", "-w -s", "-o", GO_BINARY]
    subprocess.run(command, cwd=directory, env=environment, check=True)


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
