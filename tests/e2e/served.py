#!/usr/bin/env python3
"""Language hosts as programs of their own: the binary under the names `pulumi-language-NAME`.

    tests/e2e/served.py --bin target/debug/plumb --go .cache/go --python .cache/venvs/pulumi-3.259/bin/python

The same programs run with the hosts inside of the engine and with hosts on the PATH, and have to come to the same state.
Without `--go` there is no program in Go.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from stories import Failed, LeftOut, expect, expect_in, tell

TESTS = Path(__file__).resolve().parents[1]
SDK = "sdk-3.260.0"
STACK = "dev"
LANGUAGES = ("go", "python", "yaml")

YAML = """
config:
  colour: {type: string}
variables:
  echoed:
    fn::invoke:
      function: lab:index:echo
      arguments: {value: "${thing.value}"}
resources:
  thing:
    type: lab:index:Thing
    properties:
      value: {fn::secret: "${colour}"}
      source: {fn::stringAsset: hello}
      items: [1, {two: 3}, null]
    options: {protect: false, customTimeouts: {create: 5m}, aliases: [{name: former}], additionalSecretOutputs: [serial]}
  child:
    type: lab:index:Thing
    properties: {value: "${thing.other}", tags: {a: "${thing.id}"}}
    options: {parent: "${thing}", ignoreChanges: [value], dependsOn: ["${component}"]}
  component:
    type: lab:index:Component
    properties: {size: 2, child: {other: "${thing.id}"}}
  provider:
    type: pulumi:providers:lab
  known:
    type: lab:index:Thing
    get: {id: "${thing.id}"}
    options: {provider: "${provider}"}
outputs:
  value: ${thing.value}
  echoed: ${echoed.value}
  ids: ${component.childIds}
  known: ${known.value}
  thing: ${thing}
"""

PYTHON = """
import pulumi
import lab

thing = lab.Thing("thing", value=pulumi.Config().require_secret("colour"), source=pulumi.StringAsset("hello"))
component = lab.Component("component", size=2, child={"other": thing.id})
print("said by the program")
pulumi.export("value", thing.value)
pulumi.export("ids", component.childIds)
"""


def main():
    parser = argparse.ArgumentParser(description="Serve language hosts.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--go", type=Path, help="the folder of tests/setup-go.sh")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the packages pulumi and grpcio")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options), options.only)


class World:
    """A project, and a folder with hosts."""

    def __init__(self, root, options):
        self.root, self.binary, self.go = root, options.bin.resolve(), options.go
        for name in ("project", "hosts", "home"):
            (root / name).mkdir()
        for language in LANGUAGES:
            # The engine prefers its own hosts to those on PATH, so projects name these; they leave a trace.
            program = root / "hosts" / "programs" / f"pulumi-language-{language}"
            program.parent.mkdir(exist_ok=True)
            shutil.copy(self.binary, program)
            script = f'#!/bin/sh\necho started >> "{root}/{language}.trace"\nexec "{program}" "$@"\n'
            self.host(language).write_text(script)
            self.host(language).chmod(0o755)
        self.project = root / "project"
        go = [str(Path(shutil.which("go")).parent)] if shutil.which("go") else []
        self.path = os.pathsep.join([str(options.python.absolute().parent), str(TESTS / "lab"), *go, "/usr/bin", "/bin"])
        self.environment = {
            "PATH": self.path,
            "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "served",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LAB_PYTHON": str(options.python.absolute()),
            "LAB_LOG": str(root / "lab.jsonl"),
        }
        if options.go:
            cache = options.go.resolve()
            self.environment.update(
                GOMODCACHE=str(cache / "mod"), GOCACHE=str(cache / "build"), GOPROXY="off", GOFLAGS="-buildvcs=false")

    def host(self, language):
        return self.root / "hosts" / f"pulumi-language-{language}"

    def settings(self, runtime, rest="", providers=""):
        self.parts = (runtime, rest, providers)
        self.name_host(False)

    def name_host(self, served):
        """Writes the project file, which names a host or none."""
        runtime, rest, providers = self.parts
        host = f"{{name: {runtime}, path: ../hosts}}" if served else ""
        plugins = f"plugins: {{languages: [{host}], providers: [{providers}]}}\n"
        (self.project / "Pulumi.yaml").write_text(f"name: prog\nruntime: {runtime}\n{plugins}{rest}")

    def surroundings(self, served):
        """The environment of a run, with a cloud and a backend of its own."""
        name = "served" if served else "inside"
        for folder in ("cloud", "backend"):
            (self.root / f"{name}-{folder}").mkdir(exist_ok=True)
        # Without being named by the project, hosts on PATH are not used.
        path = os.pathsep.join([str(self.root / "hosts"), self.path])
        return {**self.environment, "PATH": path, "LAB_CLOUD": str(self.root / f"{name}-cloud"),
                "PULUMI_BACKEND_URL": f"file://{self.root / f'{name}-backend'}"}

    def plumb(self, served, *words, code=0):
        done = subprocess.run(
            [str(self.binary), *words, "--stack", STACK, "--non-interactive", "--color", "never"], cwd=self.project,
            env=self.surroundings(served), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=300)
        if done.returncode != code:
            raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}, not {code}:\n{done.stdout[-4000:]}")
        return done.stdout

    def state(self, served):
        """Resources of the state, without what differs from run to run."""
        target = self.root / "state.json"
        self.plumb(served, "stack", "export", "--show-secrets", "--file", str(target))
        resources = json.loads(target.read_text())["deployment"]["resources"]
        by_chance = ("pulumi:providers:", "random:")
        ids = {one["id"] for one in resources if one["type"].startswith(by_chance)}
        found = {}
        for one in resources:
            plain = {key: value for key, value in one.items() if key not in ("created", "modified")}
            text = json.dumps(plain, sort_keys=True)
            for id in ids:
                text = text.replace(id, "an-id")
            found[one["urn"]] = json.loads(text)
        return found

    def run_both_ways(self, language):
        """Previews, makes and destroys the resources with both kinds of host; answers what the served one said."""
        said, states = {}, {}
        trace = self.root / f"{language}.trace"
        for served in (False, True):
            self.name_host(served)
            (self.project / f"Pulumi.{STACK}.yaml").unlink(missing_ok=True)
            init = [str(self.binary), "stack", "init", STACK, "--non-interactive"]
            subprocess.run(init, cwd=self.project, env=self.surroundings(served), check=True, stdout=subprocess.DEVNULL)
            self.plumb(served, "config", "set", "colour", "red", "--secret")
            self.plumb(served, "preview")
            said[served] = self.plumb(served, "up", "--yes", "--skip-preview")
            states[served] = self.state(served)
            again = self.plumb(served, "up", "--yes", "--skip-preview", "--expect-no-changes")
            expect_in("unchanged", again)
            self.plumb(served, "destroy", "--yes")
            expect("whether the host has run", trace.exists(), served)
        for urn, resource in states[False].items():
            expect(f"the resource {urn}", states[True].get(urn), resource)
        expect("all resources", sorted(states[True]), sorted(states[False]))
        return said[True]


def yaml_programs(world):
    """YAML evaluated on the other side of a connection comes to the same state."""
    world.settings("yaml", YAML)
    world.run_both_ways("yaml")


def yaml_errors(world):
    """What is wrong with a program is told where it is."""
    world.settings("yaml", "resources:\n  thing:\n    type: lab:index:Nothing\n")
    world.name_host(True)
    init = [str(world.binary), "stack", "init", STACK, "--non-interactive"]
    subprocess.run(init, cwd=world.project, env=world.surroundings(True), check=True, stdout=subprocess.DEVNULL)
    said = world.plumb(True, "up", "--yes", "--skip-preview", code=1)
    expect_in("on Pulumi.yaml line 6", said)
    world.settings("yaml", "resources:\n  thing:\n    type: lab:index:Thing\n"
                           "    properties: {failOn: {create: no room}}\n")
    world.name_host(True)
    expect_in("no room", world.plumb(True, "up", "--yes", "--skip-preview", code=1))


def python_programs(world):
    """Python programs come to the same state, and what they print is shown."""
    world.settings("python")
    (world.project / "__main__.py").write_text(PYTHON)
    shutil.copy(TESTS / "oracle" / "support" / "python" / "lab.py", world.project)
    expect_in("said by the program", world.run_both_ways("python"))


def go_programs(world):
    """Go programs come to the same state; a plugin from Go sources runs below the host."""
    if not world.go:
        raise LeftOut("there is no Go")
    shutil.copytree(TESTS / "e2e" / "go" / "component", world.root / "component")
    for file in ("go.mod", "go.sum"):
        shutil.copy(world.go / SDK / file, world.root / "component")
        shutil.copy(world.go / SDK / file, world.project)
    (world.project / "main.go").write_text(GO)
    world.settings("go", providers="{name: greeter, path: ../component}")
    world.run_both_ways("go")


GO = """
package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

type greeter struct {
	pulumi.ResourceState

	Greeting pulumi.StringOutput `pulumi:"greeting"`
}

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		made := &greeter{}
		args := pulumi.Map{"who": pulumi.String("me"), "length": pulumi.Int(1)}
		err := ctx.RegisterRemoteComponentResource("greeter:index:Greeter", "remote", args, made)
		ctx.Export("greeting", made.Greeting)
		return err
	})
}
"""


def alone(world):
    """A host tells its version and its port, and ends when it is interrupted."""
    for language in LANGUAGES:
        host = str(world.host(language))
        version = subprocess.run([host, "-version"], env=world.environment, capture_output=True, text=True, check=True)
        expect("the version", version.stdout[:2], "v3")
        served = subprocess.Popen([host, "127.0.0.1:1"], env=world.environment, stdout=subprocess.PIPE, text=True)
        port = served.stdout.readline()
        if not 0 < int(port) < 65536:
            raise Failed(f"{port!r} is no port")
        served.send_signal(signal.SIGINT)
        expect("the exit code", served.wait(timeout=60), 0)
    nobody = world.root / "hosts" / "pulumi-language-klingon"
    shutil.copy(world.binary, nobody)
    done = subprocess.run([str(nobody)], env=world.environment, capture_output=True, text=True)
    expect("the exit code", done.returncode, 1)
    expect_in("there is no language host for klingon here", done.stderr)


STORIES = (alone, yaml_programs, yaml_errors, python_programs, go_programs)

if __name__ == "__main__":
    sys.exit(main())
