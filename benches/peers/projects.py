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


@dataclass(frozen=True)
class Workload:
    """`count` resources of one kind."""

    name: str
    title: str
    # Type of the resources, or of their counterparts in Terraform.
    resource_type: str | None
    terraform_type: str | None = None
    program: str | None = None
    language: str | None = None
    needs_random: bool = False
    # What every call to the provider takes, in seconds, and how many may run at a time.
    call_seconds: float | None = None
    parallel: int | None = None

    @property
    def is_python(self):
        return self.language == "python"

    @property
    def is_go(self):
        return self.language == "go"

    @property
    def is_slow(self):
        return self.call_seconds is not None


WORKLOADS = [
    Workload("empty", "nothing at all, YAML", None),
    Workload("stash-yaml", "built-in resources, YAML", STASH_TYPE, terraform_type="terraform_data"),
    Workload("slow-yaml", "a provider of 50 ms a call, YAML", SLOW_TYPE, call_seconds=0.05, parallel=64),
    Workload("component-python", "components, Python", COMPONENT_TYPE, program=COMPONENT_PROGRAM, language="python"),
    Workload("random-python", "random strings, Python", RANDOM_TYPE, program=RANDOM_PROGRAM, language="python",
             needs_random=True),
    Workload("component-go", "components, Go", COMPONENT_TYPE, program=GO_PROGRAM, language="go"),
]


def write_pulumi(workload, count, directory, sdk, slow_provider):
    """A project for Plumb and `pulumi`; the slow provider is a plugin of the project."""
    write_program(workload, count, directory, sdk)
    if workload.is_python:
        runtime = {"name": "python", "options": {"virtualenv": str(sdk)}}
    elif workload.is_go:
        runtime = {"name": "go", "options": {"binary": GO_BINARY}}
    else:
        runtime = "yaml"
    # JSON is YAML.
    lines = [f"name: {PROJECT}", f"runtime: {json.dumps(runtime)}"]
    if workload.is_slow:
        plugin = {"name": "slow", "path": str(slow_provider.parent)}
        lines.append(f"plugins: {json.dumps({'providers': [plugin]})}")
    if workload.resource_type and not workload.program:
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
    if not workload.program:
        return
    program = workload.program.format(type=workload.resource_type, count=count)
    if workload.is_python:
        (directory / "__main__.py").write_text(program)
        return
    (directory / "main.go").write_text(program)
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
