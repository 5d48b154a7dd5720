#!/usr/bin/env python3
"""Hooks of a Python program with the published SDK, through the built binary and a provider plugin.

    tests/e2e/hooks.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

The program writes down every call of its hooks. Only the standard library is used here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from stories import Failed, expect, expect_in, tell

TESTS = Path(__file__).resolve().parents[1]
STACK = "dev"

PROGRAM = '''
import json
import os

import pulumi
import lab


def plain(values):
    """Values as the hook sees them, ready to be written down."""
    if values is None:
        return None
    return {key: "secret" if isinstance(value, pulumi.Output) else value for key, value in values.items()}


def noted(name, args, **more):
    call = {"hook": name, "name": args.name, "id": args.id, "urn": args.urn, "type": args.type,
            "new": plain(args.new_inputs), "old": plain(args.old_inputs), "oldOutputs": plain(args.old_outputs), **more}
    with open(os.environ["HOOK_LOG"], "a") as log:
        log.write(json.dumps(call) + "\\n")
    if os.environ.get("HOOK_FAILS") == name:
        raise Exception("Oh no")


def hook(name, **options):
    def call(args):
        noted(name, args, newOutputs=plain(args.new_outputs))
    return pulumi.ResourceHook(name, call, pulumi.ResourceHookOptions(**options))


def again(args):
    noted("again", args, operation=args.failed_operation, errors=args.errors)
    return len(args.errors) < 3


hooks = pulumi.ResourceHookBinding(
    before_create=[hook("planned", on_dry_run=True), hook("create")], after_create=[hook("created")],
    before_update=[hook("update")], after_update=[hook("updated", ignore_errors=True)],
    before_delete=[hook("delete")], after_delete=[hook("deleted")],
    on_error=[pulumi.ErrorHook("again", again)])


class Group(pulumi.ComponentResource):
    def __init__(self, name, opts):
        super().__init__("prog:index:Group", name, {}, opts)
        self.register_outputs({"out": 1})


value = os.environ.get("VALUE")
fails = json.loads(os.environ.get("FAILS", "{}"))
if value:
    lab.Thing("a", pulumi.ResourceOptions(hooks=hooks), value=value, password=pulumi.Output.secret("p"), failOn=fails)
if os.environ.get("GROUP"):
    Group("group", pulumi.ResourceOptions(hooks=pulumi.ResourceHookBinding(after_create=[hook("grouped")])))
'''


def main():
    parser = argparse.ArgumentParser(description="Run a program with hooks.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the packages pulumi and grpcio")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    # Not `resolve`: the Python of a virtual environment is a link that must be started by its own name.
    return tell(STORIES, lambda root: World(root, options.bin.absolute(), options.python.absolute()), options.only)


class World:
    """A project with its stack."""

    def __init__(self, root, binary, python):
        self.root, self.binary, self.log = root, binary, root / "hooks.jsonl"
        for name in ("project", "cloud", "backend", "home"):
            (root / name).mkdir()
        project = root / "project"
        (project / "Pulumi.yaml").write_text("name: hooked\nruntime: python\n")
        (project / "__main__.py").write_text(PROGRAM)
        shutil.copy(TESTS / "oracle" / "support" / "python" / "lab.py", project)
        self.environment = {
            "PATH": os.pathsep.join([str(python.parent), str(TESTS / "lab"), os.environ.get("PATH", "")]),
            "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "hooks",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LAB_PYTHON": str(python),
            "LAB_CLOUD": str(root / "cloud"),
            "LAB_LOG": str(root / "lab.jsonl"),
            "HOOK_LOG": str(self.log),
        }
        self.plumb("stack", "init", STACK)

    def plumb(self, *words, code=0, **variables):
        """Runs a command that has to end with `code`; answers what it prints."""
        done = subprocess.run(
            [str(self.binary), *words, "--non-interactive", "--color", "never"], cwd=self.root / "project",
            env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode != code:
            raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}, not {code}:\n{done.stdout[-4000:]}")
        return done.stdout

    def up(self, code=0, **variables):
        return self.plumb("up", "--stack", STACK, "--yes", "--skip-preview", code=code, **variables)

    def calls(self):
        """The calls of hooks since the last time."""
        if not self.log.exists():
            return []
        calls = [json.loads(line) for line in self.log.read_text().splitlines()]
        self.log.unlink()
        return calls

    def resources(self):
        """Names of the custom resources in the state, and their hooks."""
        target = self.root / "state.json"
        self.plumb("stack", "export", "--stack", STACK, "--file", str(target))
        resources = json.loads(target.read_text())["deployment"].get("resources") or []
        return {one["urn"].rsplit("::", 1)[1]: one.get("resourceHooks") for one in resources if one["type"].startswith("lab:")}

    def attempts(self, method):
        """How often the provider was asked."""
        entries = map(json.loads, (self.root / "lab.jsonl").read_text().splitlines())
        return sum("call" in entry and entry["method"] == method for entry in entries)


def names(calls):
    return [call["hook"] for call in calls]


def life_of_a_resource(world):
    """Every step calls its hooks, with what was and what is to be; the state keeps their names."""
    world.plumb("preview", "--stack", STACK, VALUE="1")
    expect("hooks of a preview", names(world.calls()), ["planned"])

    world.up(VALUE="1")
    planned, create, created = world.calls()
    expect("hooks of a creation", names([planned, create, created]), ["planned", "create", "created"])
    inputs = {"value": "1", "password": "secret", "failOn": {}}
    expect("before a creation", (create["id"], create["new"], create["old"], create["newOutputs"]), ("", inputs, None, None))
    expect("the resource", (created["name"], created["id"], created["type"]), ("a", "a-1", "lab:index:Thing"))
    outputs = created["newOutputs"]
    expect("after a creation", (outputs["value"], outputs["serial"], created["oldOutputs"]), ("1", 1, None))
    bound = {"BeforeCreate": ["planned", "create"], "AfterCreate": ["created"], "BeforeUpdate": ["update"],
             "AfterUpdate": ["updated"], "BeforeDelete": ["delete"], "AfterDelete": ["deleted"], "OnError": ["again"]}
    expect("the state", world.resources(), {"a": bound})

    output = world.up(VALUE="2", HOOK_FAILS="updated")
    expect_in('warning: AfterUpdate hook "updated" failed: Oh no', output)
    update, updated = world.calls()
    expect("hooks of an update", names([update, updated]), ["update", "updated"])
    values = (updated["old"]["value"], updated["new"]["value"], updated["oldOutputs"]["value"], updated["newOutputs"]["value"])
    expect("values of an update", values, ("1", "2", "1", "2"))
    expect("before an update", update["newOutputs"], None)

    world.up()
    delete, deleted = world.calls()
    expect("hooks of a deletion", names([delete, deleted]), ["delete", "deleted"])
    expect("values of a deletion", (deleted["id"], deleted["old"]["value"], deleted["new"]), ("a-1", "2", None))
    expect("the state", world.resources(), {})


def destroying(world):
    """Delete hooks need the program."""
    world.up(VALUE="1")
    world.calls()
    output = world.plumb("destroy", "--stack", STACK, "--yes", code=1)
    expect_in("Resource has delete hooks registered, but the program is not running. Hooks: delete, deleted", output)
    expect_in("You must run with the `--run-program` flag to use delete hooks during destroy.", output)
    expect("what is left", list(world.resources()), ["a"])
    world.plumb("destroy", "--stack", STACK, "--yes", "--run-program", VALUE="1")
    expect("hooks", names(world.calls()), ["delete", "deleted"])
    expect("what is left", world.resources(), {})


def failing_hooks(world):
    """Before a step they prevent it; after it they fail the run, and the outcome stands."""
    output = world.up(code=1, VALUE="1", HOOK_FAILS="create")
    expect_in('error: before hook "create" failed: Oh no', output)
    expect("what there is", (world.resources(), world.attempts("Create")), ({}, 0))
    output = world.up(code=1, VALUE="1", HOOK_FAILS="created")
    expect_in('error: after hook "created" failed: Oh no', output)
    expect("what there is", list(world.resources()), ["a"])


def error_hooks(world):
    """What failed is made again as often as a hook wants."""
    world.up(VALUE="1", FAILS='{"create": {"message": "not yet", "times": 2}}')
    asked = [call for call in world.calls() if call["hook"] == "again"]
    expect("errors", [call["errors"] for call in asked], [["not yet"], ["not yet", "not yet"]])
    expect("the operation", (asked[0]["operation"], asked[0]["new"]["value"], asked[0]["old"]), ("create", "1", None))
    expect("attempts", world.attempts("Create"), 3)
    fails = '{"update": {"message": "never", "times": 9}, "delete": {"message": "not now", "times": 1}}'
    output = world.up(code=1, VALUE="2", FAILS=fails)
    expect_in("error: never", output)
    expect_in("warning: retrying update due to on-error hook request (2/100)", output)
    asked = [call for call in world.calls() if call["hook"] == "again"]
    expect("attempts", (len(asked), world.attempts("Update")), (3, 3))
    expect("values", (asked[0]["old"]["value"], asked[0]["new"]["value"], asked[0]["oldOutputs"]["value"]), ("1", "2", "1"))


def components(world):
    """A component has its hooks when it registers its outputs."""
    world.up(GROUP="1")
    (call,) = world.calls()
    expect("the hook", (call["hook"], call["name"], call["newOutputs"]), ("grouped", "group", {"out": 1}))
    world.up(GROUP="1")
    expect("hooks of what stays the same", world.calls(), [])


STORIES = (life_of_a_resource, destroying, failing_hooks, error_hooks, components)

if __name__ == "__main__":
    sys.exit(main())
