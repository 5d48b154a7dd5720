#!/usr/bin/env python3
"""Components written in YAML, used by programs in YAML, Python, Node.js and Go.

    tests/e2e/yaml_components.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python \\
        --sdk .cache/node/pulumi-3.248.0 [--go .cache/go]

The SDK of the package that a program uses is the one that `package add` or `package gen-sdk` makes. Only the standard
library is used here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from stories import Failed, LeftOut, expect, expect_in, tell

TESTS = Path(__file__).resolve().parents[1]
STACK = "dev"

PLUGIN = """
runtime: yaml
name: shop
version: 1.2.0
description: Shelves
"""

SHELF = """
components:
  Shelf:
    description: A shelf of things.
    inputs:
      colour: {type: string, description: Of all things}
      count: {type: integer, default: 2}
      labels: {type: list<string>, default: []}
      word: {type: string, secret: true, default: none}
    variables:
      note: {fn::readFile: note.txt}
      echoed:
        fn::invoke: {function: "lab:index:echo", arguments: {value: "${first.value}"}}
    resources:
      first:
        type: lab:index:Thing
        properties: {value: "${colour}", password: "${word}", source: {fn::fileAsset: note.txt}}
      second:
        type: lab:index:Thing
        properties: {value: "${first.value}-${count}", other: "${labels}"}
        options: {parent: "${first}", protect: false}
    outputs:
      value: ${second.value}
      firstId: ${first.id}
      word: ${first.password}
      note: ${note}
      echoed: ${echoed.value}
"""

PAIR = """
components:
  Pair:
    inputs:
      left: {type: string}
    resources:
      shelf:
        type: shop:index:Shelf
        properties: {colour: "${left}", count: 7}
    outputs: {inner: "${shelf.value}"}
  Broken:
    inputs:
      how: {type: string}
    resources:
      thing:
        type: lab:index:Thing
        properties: {value: "${how[3]}"}
"""

PROGRAM = """
name: uses
runtime: yaml
packages: {shop: ../shop}
resources:
  source:
    type: lab:index:Thing
    properties: {value: red}
  shelf:
    type: shop:Shelf
    properties: {colour: "${source.value}", word: {fn::secret: hush}, labels: [a, b]}
  pair:
    type: shop:Pair
    properties: {left: blue}
outputs:
  value: ${shelf.value}
  word: ${shelf.word}
  note: ${shelf.note}
  echoed: ${shelf.echoed}
  inner: ${pair.inner}
"""

PYTHON = """
import pulumi
import pulumi_shop

shelf = pulumi_shop.Shelf("shelf", colour="red", word=pulumi.Output.secret("hush"), labels=["a", "b"])
pulumi.export("value", shelf.value)
pulumi.export("word", shelf.word)
pulumi.export("note", shelf.note)
"""

NODE = """
import * as pulumi from "@pulumi/pulumi";
import * as shop from "@pulumi/shop";

const shelf = new shop.Shelf("shelf", { colour: "red", word: pulumi.secret("hush"), labels: ["a", "b"] });
export const value = shelf.value;
export const word = shelf.word;
export const note = shelf.note;
"""

GO = """
package main

import (
	"example.com/pulumi-shop/sdk/go/shop"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		shelf, err := shop.NewShelf(ctx, "shelf", &shop.ShelfArgs{
			Colour: pulumi.String("red"), Word: pulumi.String("hush"),
			Labels: pulumi.StringArray{pulumi.String("a"), pulumi.String("b")},
		})
		if err != nil {
			return err
		}
		ctx.Export("value", shelf.Value)
		ctx.Export("word", shelf.Word)
		ctx.Export("note", shelf.Note)
		return nil
	})
}
"""


class World:
    """A project beside the plugin."""

    def __init__(self, root, options):
        self.root, self.binary, self.options = root, options.bin.resolve(), options
        self.plugin, self.project = root / "shop", root / "project"
        for folder in (self.plugin, self.project, root / "cloud", root / "home"):
            folder.mkdir()
        (self.plugin / "PulumiPlugin.yaml").write_text(PLUGIN)
        (self.plugin / "shelf.yaml").write_text(SHELF)
        (self.plugin / "pair.yaml").write_text(PAIR)
        (self.plugin / "note.txt").write_text("a note of the plugin")
        self.environment = {
            "PATH": os.pathsep.join([str(TESTS / "lab"), str(options.python.absolute().parent), os.environ["PATH"]]),
            "HOME": str(root), "PULUMI_HOME": str(root / "home"), "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_BACKEND_URL": f"file://{root}", "LAB_PYTHON": str(options.python.absolute()),
            "LAB_CLOUD": str(root / "cloud"), "PYTHONDONTWRITEBYTECODE": "1"}

    def plumb(self, *words, code=0):
        done = subprocess.run([str(self.binary), *words], cwd=self.project, env=self.environment, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != code:
            raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}:\n{done.stdout[-6000:]}")
        return done.stdout

    def operate(self, *words, code=0):
        return self.plumb(*words, "--stack", STACK, "--non-interactive", "--color", "never", code=code)

    def outputs(self):
        return json.loads(self.operate("stack", "output", "--json", "--show-secrets"))

    def resources(self):
        exported = json.loads(self.operate("stack", "export"))
        return {one["urn"].split("::", 2)[2]: one for one in exported["deployment"]["resources"]}


SHELVES = {"value": "red-2", "word": "hush", "note": "a note of the plugin"}


def check_shelf(world):
    found = world.outputs()
    expect("the outputs", {key: found[key] for key in SHELVES}, SHELVES)
    by_urn = world.resources()
    first = by_urn["shop:index:Shelf$lab:index:Thing::shelf-first"]
    expect("the secret", "4dabf18193072939515e22adb298388d" in first["inputs"]["password"], True)
    expect("the parent", by_urn["shop:index:Shelf$lab:index:Thing$lab:index:Thing::shelf-second"]["parent"], first["urn"])
    expect("the outputs of the component", sorted(by_urn["shop:index:Shelf::shelf"]["outputs"]),
           ["echoed", "firstId", "note", "value", "word"])


def schemas(world):
    schema = json.loads(world.plumb("package", "get-schema", str(world.plugin)))
    expect("name and version", (schema["name"], schema["version"]), ("shop", "1.2.0"))
    shelf = schema["resources"]["shop:index:Shelf"]
    expect("the kind", shelf["isComponent"], True)
    expect("what must be given", shelf["requiredInputs"], ["colour"])
    expect("an input", shelf["inputProperties"]["count"], {"type": "integer", "default": 2})
    expect("a secret input", shelf["inputProperties"]["word"]["secret"], True)
    expect("an output", shelf["properties"]["value"], {"$ref": "pulumi.json#/Any"})


def yaml_programs(world):
    """Previews, makes, changes and destroys components, one of which consists of another."""
    (world.project / "Pulumi.yaml").write_text(PROGRAM)
    world.operate("stack", "init")
    world.operate("preview")
    world.operate("up", "--yes", "--skip-preview")
    check_shelf(world)
    expect("the inner component", world.outputs()["inner"], "blue-7")
    expect("the function", world.outputs()["echoed"], "red")
    expect_in("unchanged", world.operate("up", "--yes", "--skip-preview", "--expect-no-changes"))
    (world.project / "Pulumi.yaml").write_text(PROGRAM.replace("value: red", "value: green"))
    expect_in("updated", world.operate("up", "--yes"))
    expect("what depends on it", world.outputs()["value"], "green-2")
    world.operate("destroy", "--yes")


def served_hosts(world):
    """The same with the host as a process of its own."""
    hosts = world.root / "hosts"
    hosts.mkdir()
    shutil.copy(world.binary, hosts / "program")
    host, trace = hosts / "pulumi-language-yaml", world.root / "trace"
    host.write_text(f'#!/bin/bash\ntouch "{trace}"\nexec -a pulumi-language-yaml "{hosts}/program" "$@"\n')
    host.chmod(0o755)
    (world.project / "Pulumi.yaml").write_text(PROGRAM + "plugins: {languages: [{name: yaml, path: ../hosts}]}\n")
    world.operate("up", "--yes", "--skip-preview", "--create")
    expect("whether the host has run", trace.exists(), True)
    check_shelf(world)


def compilers(world):
    """A program that a command writes, which is told of the stack; what is wrong with it is told."""
    project = "name: uses\nruntime: {name: yaml, options: {compiler: \"%s\"}}\npackages: {shop: ../shop}\n"
    (world.project / "Pulumi.yaml").write_text(project % f"{sys.executable} 'write it.py' red")
    (world.project / "write it.py").write_text(
        "import json, os, sys\nprint('on its way', file=sys.stderr)\n"
        "config = json.loads(os.environ['PULUMI_CONFIG'])\n"
        "properties = {'colour': sys.argv[1], 'word': config['uses:word'], 'labels': [os.environ['PULUMI_STACK']]}\n"
        "print(json.dumps({'resources': {'shelf': {'type': 'shop:Shelf', 'properties': properties}},\n"
        "                  'outputs': {key: '${shelf.%s}' % key for key in ('value', 'word', 'note')}}))\n")
    world.operate("stack", "init")
    world.operate("config", "set", "--secret", "word", "hush")
    world.operate("up", "--yes", "--skip-preview")
    check_shelf(world)
    for command, reason in (("no-such-compiler", "could not run the compiler no-such-compiler"),
                            ("'open", "its quotes do not match"), ("false", "the compiler false ended with exit status: 1")):
        (world.project / "Pulumi.yaml").write_text(project % command)
        expect_in(reason, world.operate("preview", code=1))


def errors(world):
    """What is wrong is told with its place, at construction and when the plugin is read."""
    def program(what):
        return f"name: uses\nruntime: yaml\npackages: {{shop: ../shop}}\nresources:\n  one:\n    {what}\n"

    (world.project / "Pulumi.yaml").write_text(program('{type: "shop:Broken", properties: {how: x}}'))
    world.operate("stack", "init")
    said = world.operate("up", "--yes", "--skip-preview", code=1)
    expect_in("the component one (shop:index:Broken) could not be constructed", said)
    expect_in("pair.yaml line 17", said)
    (world.project / "Pulumi.yaml").write_text(program("{type: shop:Shelf, properties: {}}"))
    expect_in("Missing required property 'colour'", world.operate("up", "--yes", "--skip-preview", code=1))
    (world.plugin / "more.yaml").write_text("resources: {}\ncomponents: {Shelf: {}}\n")
    said = world.plumb("package", "get-schema", str(world.plugin), code=1)
    expect_in("resources is only supported in programs, not in plugins", said)
    expect_in("found duplicate component Shelf", said)


def python_programs(world):
    """`package add` gives the SDK; the program finds it in its virtual environment."""
    sdk = next((world.options.python.absolute().parents[1] / "lib").glob("python3.*/site-packages"))
    subprocess.run([sys.executable, "-m", "venv", str(world.project / "venv")], check=True)
    site = next((world.project / "venv" / "lib").glob("python3.*/site-packages"))
    (site / "sdk.pth").write_text(f"{sdk}\n")
    (world.project / "Pulumi.yaml").write_text(
        "name: uses\nruntime: {name: python, options: {virtualenv: venv}}\n")
    (world.project / "__main__.py").write_text(PYTHON)
    (world.project / "requirements.txt").write_text("")
    world.plumb("package", "add", "../shop")
    made = world.project / "sdks" / "shop"
    (site / "shop.pth").write_text(f"{made}\n")
    world.operate("up", "--yes", "--skip-preview", "--create")
    check_shelf(world)
    world.operate("destroy", "--yes")


def node_programs(world):
    (world.project / "Pulumi.yaml").write_text("name: uses\nruntime: nodejs\npackages: {shop: ../shop}\n")
    (world.project / "package.json").write_text('{"name": "uses", "main": "index.ts"}')
    (world.project / "index.ts").write_text(NODE)
    world.plumb("package", "gen-sdk", "../shop", "--language", "nodejs", "--local", "--out", "sdk")
    modules = world.project / "node_modules"
    (modules / "@pulumi").mkdir(parents=True)
    for entry in (world.options.sdk.resolve() / "node_modules").iterdir():
        if entry.name != "@pulumi":
            (modules / entry.name).symlink_to(entry)
    for entry in (world.options.sdk.resolve() / "node_modules" / "@pulumi").iterdir():
        (modules / "@pulumi" / entry.name).symlink_to(entry)
    made = world.project / "sdk" / "nodejs"
    compiler = modules / "typescript" / "lib" / "tsc.js"
    subprocess.run(["node", str(compiler), "-p", str(made), "--skipLibCheck", "--outDir", str(made / "bin")], check=True)
    shutil.copy(made / "package.json", made / "bin")
    (modules / "@pulumi" / "shop").symlink_to(made / "bin")
    world.operate("up", "--yes", "--skip-preview", "--create")
    check_shelf(world)
    world.operate("destroy", "--yes")


def go_programs(world):
    if not world.options.go:
        raise LeftOut("there is no Go")
    cache = world.options.go.resolve()
    world.environment.update(
        GOMODCACHE=str(cache / "mod"), GOCACHE=str(cache / "build"), GOPROXY="off", GOFLAGS="-buildvcs=false -mod=mod")
    (world.project / "Pulumi.yaml").write_text("name: uses\nruntime: go\npackages: {shop: ../shop}\n")
    for file in ("go.mod", "go.sum"):
        shutil.copy(cache / "sdk-3.260.0" / file, world.project)
    (world.project / "main.go").write_text(GO)
    world.plumb("package", "gen-sdk", "../shop", "--language", "go", "--out", "sdk")
    # The SDK is a part of the program's own module here.
    manifest = (world.project / "go.mod").read_text().split("\n", 1)[1]
    (world.project / "go.mod").write_text(f"module example.com/pulumi-shop\n{manifest}")
    world.operate("up", "--yes", "--skip-preview", "--create")
    check_shelf(world)
    world.operate("destroy", "--yes")


STORIES = (schemas, yaml_programs, served_hosts, compilers, errors, python_programs, node_programs, go_programs)


def main():
    parser = argparse.ArgumentParser(description="Use components written in YAML.")
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    parser.add_argument("--sdk", required=True, type=Path)
    parser.add_argument("--go", type=Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options), options.only)


if __name__ == "__main__":
    sys.exit(main())
