#!/usr/bin/env python3
"""Go programs with the published SDK, through the built binary.

    tests/e2e/go.py --bin target/debug/plumb --go .cache/go --python .cache/venvs/pulumi-3.259/bin/python

The programs are below `tests/e2e/go`; `--go` is the folder that `tests/setup-go.sh` makes. The Python runs the lab provider
(`tests/lab`). Nothing is fetched.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stories import Failed, expect, expect_in, expect_out, tell

TESTS = Path(__file__).resolve().parents[1]
PROGRAMS = TESTS / "e2e" / "go"
SDK = "sdk-3.260.0"
STACK = "dev"
GO = shutil.which("go")


def main():
    parser = argparse.ArgumentParser(description="Run Go programs.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--go", required=True, type=Path, help="the folder of tests/setup-go.sh")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the packages pulumi and grpcio")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumb-go-") as home:
        return tell(STORIES, lambda root: World(root, Path(home).resolve(), options), options.only, jobs=1)


class World:
    """A project with its stack."""

    def __init__(self, root, home, options):
        self.root, self.binary = root, options.bin.absolute()
        self.project, self.log = root / "project", root / "hooks.jsonl"
        for name in ("cloud", "backend", "temp"):
            (root / name).mkdir()
        self.sdk = options.go.resolve() / SDK
        self.write_program("program", self.project)
        self.settings("name: prog\nruntime: go\n")
        self.environment = {
            "PATH": os.pathsep.join([str(Path(GO).parent), str(TESTS / "lab"), "/usr/bin", "/bin"]),
            "HOME": str(home),
            "TMPDIR": str(root / "temp"),
            "PULUMI_HOME": str(home),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "go",
            "GOMODCACHE": str(options.go.resolve() / "mod"),
            "GOCACHE": str(options.go.resolve() / "build"),
            "GOPROXY": "off",
            "GOFLAGS": "-buildvcs=false",
            "LAB_PYTHON": str(options.python.absolute()),
            "LAB_CLOUD": str(root / "cloud"),
            "LAB_LOG": str(root / "lab.jsonl"),
            "HOOK_LOG": str(self.log),
        }
        self.plumb("stack", "init", STACK)

    def write_program(self, name, folder):
        shutil.copytree(PROGRAMS / name, folder)
        for file in ("go.mod", "go.sum"):
            shutil.copy(self.sdk / file, folder)

    def settings(self, text):
        (self.project / "Pulumi.yaml").write_text(text)

    def plumb(self, *words, code=0, **variables):
        """Runs a command that has to end with `code`; answers what it prints."""
        done = subprocess.run(
            [str(self.binary), *words, "--non-interactive", "--color", "never"], cwd=self.project,
            env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode != code:
            raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}, not {code}:\n{done.stdout[-4000:]}")
        return done.stdout

    def up(self, story=None, code=0, stack=STACK, **variables):
        if story:
            variables["STORY"] = story
        return self.plumb("up", "--stack", stack, "--yes", "--skip-preview", code=code, **variables)

    def outputs(self, *flags, stack=STACK):
        return json.loads(self.plumb("stack", "output", "--json", "--stack", stack, *flags))

    def resources(self):
        """The resources of the state, by name."""
        target = self.root / "state.json"
        self.plumb("stack", "export", "--stack", STACK, "--file", str(target))
        resources = json.loads(target.read_text())["deployment"].get("resources") or []
        return {one["urn"].rsplit("::", 1)[1]: one for one in resources}

    def calls(self):
        """The calls of hooks since the last time."""
        if not self.log.exists():
            return []
        calls = [json.loads(line) for line in self.log.read_text().splitlines()]
        self.log.unlink()
        return calls


def resources_and_outputs(world):
    """Resources, components, assets, secrets and configuration arrive; outputs come back."""
    for word in (("length", "3"), ("token", "hidden", "--secret")):
        world.plumb("config", "set", *word, "--stack", STACK)
    preview = world.plumb("preview", "--stack", STACK, STORY="resources")
    expect_in("random:index:RandomPet", preview)
    said = world.up("resources")
    for text in ("Compiling the program ...", "hello from dev []", "to stderr", "take care"):
        expect_in(text, said)
    expect_out("hidden", said)
    outputs = world.outputs()
    expect("secrets", (outputs["prefix"], outputs["serial"]), ("[secret]", "[secret]"))
    outputs = world.outputs("--show-secrets")
    source = outputs.pop("source")
    expect("the hash of an archive", len(source), 64)
    expect("outputs", outputs, {
        "project": "prog", "organization": "organization", "root": str(world.project), "directory": str(world.project),
        "dry": False, "length": 3, "prefix": "hidden", "value": 3, "serial": 1, "nested": {"list": ["a", "b"]}})
    resources = world.resources()
    group = resources["group"]
    expect("a component", (group["type"], group["outputs"]), ("prog:index:Group", {"pet": resources["pet"]["id"]}))
    expect("its child", resources["pet"]["parent"], group["urn"])
    expect("a dependency", resources["secret"]["dependencies"], [resources["pet"]["urn"]])
    expect("dependencies by values", resources["thing"]["propertyDependencies"]["value"], [resources["pet"]["urn"]])
    expect("time limits", resources["thing"]["customTimeouts"], {"create": 300})
    expect_in("5 unchanged", world.up("resources"))
    world.plumb("destroy", "--stack", STACK, "--yes")
    expect("what is left", world.resources(), {})


def stack_references(world):
    """A program reads the outputs of another stack, and secrets stay secret."""
    for word in (("length", "4"), ("token", "hidden", "--secret")):
        world.plumb("config", "set", *word, "--stack", STACK)
    world.up("resources")
    world.plumb("stack", "init", "second")
    world.plumb("config", "set", "other", f"organization/prog/{STACK}", "--stack", "second")
    world.up("reference", stack="second")
    expect("outputs", world.outputs(stack="second"), {"length": 4, "prefix": "[secret]"})
    expect("secrets", world.outputs("--show-secrets", stack="second")["prefix"], "hidden")


def transforms(world):
    """Transforms change resources and invokes."""
    world.up("transforms")
    expect("outputs", world.outputs(), {"prefix": "transformed-pet", "echoed": "also transformed"})


def hooks(world):
    """Hooks are called before and after steps, and error hooks have what failed made again."""
    world.up("hooks", VALUE="1", FAILS="yes")
    called = world.calls()
    expect("hooks of a creation", [call["hook"] for call in called], ["before", "again", "again", "after"])
    expect("the failure", (called[1]["operation"], called[1]["errors"]), ("create", ["not yet"]))
    expect("what is made", called[0]["new"]["value"], "1")
    said = world.plumb("destroy", "--stack", STACK, "--yes", "--run-program", code=1, STORY="hooks", HOOK_FAILS="before")
    expect_in("oh no", said)
    world.plumb("destroy", "--stack", STACK, "--yes", "--run-program", STORY="hooks")
    expect("hooks of a deletion", [call["hook"] for call in world.calls()], ["before", "after"])


def invokes_and_methods(world):
    """Functions answer and fail; methods know their resource."""
    world.up("invokes")
    outputs = world.outputs("--show-secrets")
    expect("a function", outputs["echoed"]["value"], "v")
    expect_in("hi", outputs["described"]["description"])


def failing_programs(world):
    """A program that fails says why, once, and what was registered is kept."""
    said = world.up("fails", code=1)
    expect_in("the weather is bad", said)
    expect("how often", said.count("the weather is bad"), 1)
    expect_in("out of luck", world.up("panics", code=1))
    expect_in("program exited with non-zero exit code: 7", world.up("leaves", code=1))
    said = world.up("half", code=1)
    expect_in("no room", said)
    expect("what there is", sorted(world.resources())[-2:], ["pet", "prog-dev"])


def compile_errors(world):
    """What the compiler says is shown, once, and nothing is registered."""
    (world.project / "broken.go").write_text("package main\n\nfunc broken() int { return undefinedName }\n")
    for words in (("preview",), ("up", "--yes")):
        said = world.plumb(*words, "--stack", STACK, code=1)
        expect_in("broken.go:3:28: undefined: undefinedName", said)
        expect("how often", said.count("undefinedName"), 1)
    for file in world.project.glob("*.go"):
        file.unlink()
    (world.project / "library.go").write_text("package library\n")
    expect_in("does your program have a 'main' package?", world.up(code=1))
    (world.project / "library.go").unlink()
    expect_in("could not find a file that ends in .go", world.up(code=1))


def missing_tools(world):
    """Without Go the message says where to get it; a program that is built already needs none."""
    bare = {"PATH": "/usr/bin:/bin"}
    if shutil.which("go", path=bare["PATH"]):
        bare["PATH"] = "/nonexistent"
    said = world.up(code=1, **bare)
    expect_in("could not find `go` on the PATH; install Go from https://go.dev/dl", said)
    build(world, "prebuilt")
    world.settings("name: prog\nruntime: {name: go, options: {binary: prebuilt}}\n")
    world.up("many", **bare)
    expect("resources", len(world.resources()), 1001)


def build(world, name):
    command = [GO, "build", "-trimpath", "-ldflags", "-w -s", "-o", name]
    subprocess.run(command, cwd=world.project, env=world.environment, check=True)


def where_executables_come_from(world):
    """`binary`, `buildTarget` and PULUMI_GO_USE_RUN; what is built is built once."""
    world.settings("name: prog\nruntime: {name: go, options: {buildTarget: bin/it}}\n")
    expect_in("out of luck", world.up("panics", code=1))
    target = world.project / "bin" / "it"
    built = target.stat().st_ino
    world.up()
    expect("the file that was built", target.stat().st_ino, built)
    world.settings("name: prog\nruntime: {name: go, options: {binary: bin/it}}\n")
    expect_in("out of luck", world.up("panics", code=1))
    world.settings("name: prog\nruntime: {name: go, options: {binary: nothing}}\n")
    expect_in("could not find the program \"nothing\"", world.up(code=1))
    world.settings("name: prog\nruntime: {name: go, options: {binary: a, buildTarget: b}}\n")
    expect_in("exclude each other", world.up(code=1))
    world.settings("name: prog\nruntime: {name: go, options: {binary: 7}}\n")
    expect_in("the runtime option `binary` in Pulumi.yaml has to be text, but it is 7", world.up(code=1))
    world.settings("name: prog\nruntime: go\n")
    expect_in("the weather is bad", world.up("fails", code=1, PULUMI_GO_USE_RUN="true"))
    world.up("many", PULUMI_GO_USE_RUN="true")
    world.up("many")
    expect("left over", list((Path(world.environment["PULUMI_HOME"])).glob("plumb/go/*/run-*")), [])


def main_folders_and_workspaces(world):
    """The program may be a folder of its module, and take other modules from a workspace."""
    program = world.project / "cmd" / "deploy"
    program.mkdir(parents=True)
    shutil.move(world.project / "main.go", program / "main.go")
    for name, module in (("library", "example.com/acme/words"), ("sky", "example.com/acme/pulumi-cloud/sdk")):
        folder = world.root / name
        folder.mkdir()
        (folder / "go.mod").write_text(f"module {module}\n\ngo 1.24\n")
        (folder / "words.go").write_text(f'package {name}\n\nconst Word = "from the {name}"\n')
    (world.root / "sky" / "pulumi-plugin.json").write_text('{"resource": true, "version": "1.2.3"}')
    (world.project / "go.work").write_text("go 1.26.6\n\nuse (\n\t.\n\t../library\n)\n")
    with (world.project / "go.mod").open("a") as module:
        module.write("\nrequire example.com/acme/pulumi-cloud/sdk v1.0.0\n")
        module.write("\nreplace example.com/acme/pulumi-cloud/sdk => ../sky\n")
    source = (program / "main.go").read_text()
    source = source.replace('"time"\n', '"time"\n\n\tlibrary "example.com/acme/words"\n\tsky "example.com/acme/pulumi-cloud/sdk"\n', 1)
    (program / "main.go").write_text(source.replace('"hello from"', "library.Word, sky.Word", 1))
    world.settings("name: prog\nruntime: go\nmain: cmd/deploy\n")
    for word in (("length", "3"), ("token", "hidden", "--secret")):
        world.plumb("config", "set", *word, "--stack", STACK)
    said = world.plumb("preview", "--stack", STACK, STORY="resources")
    expect_in("from the library from the sky", said)
    # The package in the folder needs a plugin that is not there.
    expect_in("pulumi-resource-cloud", said)
    expect_in("v1.2.3", said)


def installing(world):
    """`install` runs the tool's own installation."""
    said = world.plumb("install")
    expect_in("Installing dependencies...", said)
    expect_in("Finished installing dependencies", said)
    (world.project / "go.mod").write_text("nonsense\n")
    expect_in("unknown directive: nonsense", world.plumb("install", code=1))


YAML = """
variables:
  word: {fn::secret: World}
resources:
  greeter:
    type: greeter:index:Greeter
    properties:
      who: ${word}
outputs:
  greeting: ${greeter.greeting}
  pet: ${greeter.pet}
"""


def components_from_sources(world):
    """A component provider in a folder of Go sources, used from YAML and from Go."""
    world.write_program("component", world.root / "component")
    plugins = "plugins: {providers: [{name: greeter, path: ../component}]}\n"
    world.settings("name: prog\nruntime: yaml\n" + plugins + YAML)
    world.up()
    outputs = world.outputs("--show-secrets")
    expect("the greeting", outputs["greeting"], "hello, World")
    expect("a secret", world.outputs()["greeting"], "[secret]")
    resources = world.resources()
    expect("the component", resources["greeter"]["type"], "greeter:index:Greeter")
    expect("its child", resources["greeter-pet"]["parent"], resources["greeter"]["urn"])
    expect_in("unchanged", world.up())
    world.plumb("destroy", "--stack", STACK, "--yes")

    world.settings(f"name: prog\nruntime: go\n{plugins}")
    world.up("greeter")
    outputs = world.outputs("--show-secrets")
    expect("the greeting", outputs["greeting"], "hello, Go")
    expect_in("says bye", outputs["said"]["said"])

    text = "name: prog\nruntime: yaml\n" + plugins + "resources:\n  refused:\n    type: greeter:index:Greeter\n" \
        "    properties: {who: me}\n"
    world.settings(text)
    expect_in("no greeting for those who are refused", world.up(code=1))
    (world.root / "component" / "main.go").write_text("package main\n\nfunc main() { undefinedName() }\n")
    expect_in("undefined: undefinedName", world.up(code=1))


def interrupts(world):
    """An interrupt ends a program that does not end by itself; one that is killed fails the update."""
    for kind in ("interrupted", "killed"):
        update = subprocess.Popen(
            [str(world.binary), "up", "--stack", STACK, "--yes", "--skip-preview", "--non-interactive", "--color", "never"],
            cwd=world.project, env={**world.environment, "STORY": "sleeps"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said, process = "", None
        for line in update.stdout:
            said += line
            if "sleeping as" in line:
                process = int(line.split("sleeping as")[1].split()[0])
                break
        if process is None:
            raise Failed(f"the program does not sleep:\n{said}")
        if kind == "interrupted":
            update.send_signal(signal.SIGINT)
        else:
            os.kill(process, signal.SIGKILL)
        began = time.monotonic()
        said += update.communicate(timeout=60)[0]
        took = time.monotonic() - began
        if update.returncode == 0 or took > 20:
            raise Failed(f"{kind}: it ended with {update.returncode} after {took:.1f} s:\n{said}")
        if Path(f"/proc/{process}").exists():
            raise Failed(f"{kind}: the program is still there")
        if kind == "killed":
            expect_in("signal 9", said)
        expect("what there is", "pet" in world.resources(), True)


STORIES = (resources_and_outputs, stack_references, transforms, hooks, invokes_and_methods, failing_programs, compile_errors,
           missing_tools, where_executables_come_from, main_folders_and_workspaces, installing, components_from_sources,
           interrupts)

if __name__ == "__main__":
    sys.exit(main())
