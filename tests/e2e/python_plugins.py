#!/usr/bin/env python3
"""What else can be written in Python: component providers, used from YAML, and dynamic resources.

    tests/e2e/python_plugins.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

Only the standard library is used here.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from stories import Failed, expect, expect_in, expect_out, tell

TESTS = Path(__file__).resolve().parents[1]

COMPONENTS = """
from typing import Optional, TypedDict

import pulumi
from pulumi.provider.experimental import component_provider_host


class Args(TypedDict):
    who: pulumi.Input[str]
    word: Optional[pulumi.Input[str]]


class Stored(pulumi.CustomResource):
    def __init__(self, name, props, opts=None):
        super().__init__("pulumi:index:Stash", name, props, opts)


class Greeter(pulumi.ComponentResource):
    greeting: pulumi.Output[str]
    hidden: pulumi.Output[Optional[str]]

    def __init__(self, name: str, args: Args, opts: Optional[pulumi.ResourceOptions] = None):
        super().__init__("greeter:index:Greeter", name, {}, opts)
        print("greeting somebody")
        if args.get("word") is None:
            self.deep_down(name)
        Stored(f"{name}-stored", {"input": args["who"]}, pulumi.ResourceOptions(parent=self))
        self.greeting = pulumi.Output.concat("hello ", args["who"])
        self.hidden = pulumi.Output.from_input(args.get("word"))
        self.register_outputs({"greeting": self.greeting, "hidden": self.hidden})

    def deep_down(self, name):
        raise ValueError(f"nobody knows the word for {name}")


if __name__ == "__main__":
    component_provider_host(name="greeter", components=[Greeter])
"""

PROGRAM = """
name: uses
runtime: yaml
packages: {greeter: ../greeter}
resources:
  source: {type: "pulumi:index:Stash", properties: {input: me}}
  one:
    type: greeter:Greeter
    properties: {who: "${source.output}", word: {fn::secret: hush}}
outputs:
  greeting: ${one.greeting}
  hidden: ${one.hidden}
"""

DYNAMIC = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult


class Kept(ResourceProvider):
    def create(self, props):
        if props["value"] == "bad":
            raise ValueError("it cannot be made")
        return CreateResult("kept-1", {**props, "seen": props["value"].upper()})

    def update(self, id, olds, news):
        return UpdateResult({**news, "seen": "updated " + news["value"]})

    def delete(self, id, props):
        open(props["log"], "a").write(f"deleted {id}\\n")


class Thing(Resource):
    seen: pulumi.Output[str]

    def __init__(self, name, value, log):
        super().__init__(Kept(), name, {"value": value, "log": log, "seen": None})


config = pulumi.Config()
pulumi.export("seen", Thing("thing", config.require("value"), config.require("log")).seen)
"""


class World:
    def __init__(self, root, options):
        self.root, self.binary = root, options.bin.resolve()
        self.virtualenv = options.python.absolute().parents[1]
        self.project, self.plugin = root / "project", root / "greeter"
        for folder in (self.project, self.plugin, root / "home"):
            folder.mkdir()
        self.environment = {
            "PATH": os.pathsep.join([str(options.python.absolute().parent), os.environ["PATH"]]), "HOME": str(root),
            "PULUMI_HOME": str(root / "home"), "PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_BACKEND_URL": f"file://{root}",
            "PYTHONDONTWRITEBYTECODE": "1"}

    def plumb(self, *words, code=0):
        done = subprocess.run(
            [str(self.binary), *words, "--stack", "dev", "--non-interactive", "--color", "never"], cwd=self.project,
            env=self.environment, text=True, timeout=300, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        if done.returncode != code:
            raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}:\n{done.stdout[-6000:]}")
        return done.stdout

    def outputs(self):
        return json.loads(self.plumb("stack", "output", "--json", "--show-secrets"))

    def components(self, program=PROGRAM):
        (self.plugin / "PulumiPlugin.yaml").write_text(
            f"runtime: {{name: python, options: {{virtualenv: {self.virtualenv}}}}}\nname: greeter\n")
        (self.plugin / "__main__.py").write_text(COMPONENTS)
        (self.project / "Pulumi.yaml").write_text(program)
        self.plumb("stack", "init")


def component_provider(world):
    """Previews, makes and destroys a component; what is secret stays so."""
    world.components()
    world.plumb("preview")
    world.plumb("up", "--yes", "--skip-preview")
    expect("the outputs", world.outputs(), {"greeting": "hello me", "hidden": "hush"})
    shown = json.loads(world.plumb("stack", "output", "--json"))
    expect("the secret", shown["hidden"], "[secret]")
    expect_in("unchanged", world.plumb("up", "--yes", "--skip-preview", "--expect-no-changes"))
    world.plumb("destroy", "--yes")


def one_trace(world):
    """A trace is one tree, with the spans of the SDK in the program below those of its host."""
    (world.project / "Pulumi.yaml").write_text("name: traced\nruntime: python\n")
    (world.project / "__main__.py").write_text("import pulumi\npulumi.ComponentResource('made:up:Component', 'one')\n")
    world.plumb("stack", "init")
    world.plumb("up", "--yes", "--skip-preview", "--otel-traces", "file://trace.json")
    spans = {}
    for line in (world.project / "trace.json").read_text().splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            service = next(it["value"]["stringValue"] for it in resource["resource"]["attributes"]
                           if it["key"] == "service.name")
            for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
                spans[span["spanId"]] = (service, span["name"].lstrip("/"), span.get("parentSpanId", ""))

    def path(span):
        service, name, parent = spans[span]
        return [*(path(parent) if parent else []), f"{service} {name}"]
    register = "pulumirpc.ResourceMonitor/RegisterResource"
    expect("the roots", [name for _, name, parent in spans.values() if not parent], ["pulumi"])
    expect("the way to a registration",
           next(path(span) for span in spans if spans[span][:2] == ("pulumi-cli", register)),
           ["pulumi-cli pulumi", "pulumi-cli pulumi-plan", "pulumi-cli program",
            "pulumi-language-python pulumirpc.LanguageRuntime/Run", f"pulumi-sdk-python {register}", f"pulumi-cli {register}"])


def component_provider_that_raises(world):
    """The exception is shown with its trace, and what was made before is kept."""
    world.components(PROGRAM.replace(", word: {fn::secret: hush}", ""))
    said = world.plumb("up", "--yes", "--skip-preview", code=1)
    expect_in("nobody knows the word for one", said)
    expect_in("in deep_down\n        raise ValueError(", said)
    kept = json.loads(world.plumb("stack", "export"))["deployment"]["resources"]
    expect("what was made before", [one["type"] for one in kept if one["urn"].endswith("::source")], ["pulumi:index:Stash"])
    (world.project / "Pulumi.yaml").write_text(PROGRAM)
    world.plumb("up", "--yes", "--skip-preview")


def dynamic_resources(world):
    """Made, changed, and destroyed after the folder of the program has moved."""
    log = world.root / "log"
    (world.project / "Pulumi.yaml").write_text("name: dynamic\nruntime: python\n")
    (world.project / "__main__.py").write_text(DYNAMIC)
    world.plumb("stack", "init")
    world.plumb("config", "set", "log", str(log))
    world.plumb("config", "set", "value", "one")
    world.plumb("up", "--yes")
    expect("made", world.outputs(), {"seen": "ONE"})
    world.plumb("config", "set", "value", "two")
    world.plumb("up", "--yes")
    expect("changed", world.outputs(), {"seen": "updated two"})
    moved = world.root / "elsewhere"
    world.project.rename(moved)
    world.project = moved
    (moved / "__main__.py").write_text("import pulumi\n")
    world.plumb("up", "--yes")
    expect("deleted", log.read_text(), "deleted kept-1\n")


def dynamic_resources_that_fail(world):
    (world.project / "Pulumi.yaml").write_text("name: dynamic\nruntime: python\n")
    (world.project / "__main__.py").write_text(DYNAMIC)
    world.plumb("stack", "init")
    world.plumb("config", "set", "log", "/dev/null")
    world.plumb("config", "set", "value", "bad")
    said = world.plumb("up", "--yes", "--skip-preview", code=1)
    expect_in("Resource (thing):\n    error: Exception calling application: it cannot be made", said)


def not_installed(world):
    """A plugin without a virtual environment is to be installed; nobody is told of an option that nobody has set."""
    (world.plugin / "PulumiPlugin.yaml").write_text("runtime: python\nname: greeter\n")
    (world.plugin / "__main__.py").write_text("")
    (world.project / "Pulumi.yaml").write_text(
        "name: uses\nruntime: yaml\nplugins: {providers: [{name: greeter, path: ../greeter}]}\n"
        "resources: {one: {type: \"greeter:index:Greeter\"}}\n")
    said = world.plumb("up", "--stack", "dev", "--create", "--yes", "--skip-preview", code=1)
    expect_in("/greeter is not installed: there is no virtual environment in", said)
    expect_in("run `plumb install` in the plugin's folder", said)
    expect_out("'virtualenv' option", said)


STORIES = (not_installed, component_provider, one_trace, component_provider_that_raises, dynamic_resources, dynamic_resources_that_fail)


def main():
    parser = argparse.ArgumentParser(description="Run plugins written in Python.")
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options), options.only)


if __name__ == "__main__":
    sys.exit(main())
