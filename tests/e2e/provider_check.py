#!/usr/bin/env python3
"""`provider check`: what it finds in providers that keep the rules, and in one that breaks them on request.

    tests/e2e/provider_check.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

The lab provider does what its inputs say. Only the standard library is used here.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LAB = Path(__file__).resolve().parents[1] / "lab" / "pulumi-resource-lab"
THING = "lab:index:Thing"
COMMAND = "command:local:Command"

# Inputs of the lab's resource, the inputs to change them to, and the rules that are not kept then.
LAB_CASES = [
    ({"value": "a"}, {"value": "b"}, {}),
    ({"value": "a", "password": "s"}, None, {"secrets": "advice"}),
    ({"value": "a", "failOn": {"create": "no"}}, None, {"check-unknown": "broken", "create": "broken"}),
    ({"value": "a", "failOn": {"delete": "no"}}, None, {"check-unknown": "broken", "delete": "broken"}),
    ({"value": "a", "diffChanges": "some"}, None, {"diff-same": "broken"}),
    ({"value": "a", "diffChanges": "none"}, {"value": "b", "diffChanges": "none"}, {"update": "broken"}),
    ({"value": "a", "readId": "other"}, None, {"read": "broken"}),
    ({"value": "a", "dropOutputs": ["serial"]}, None, {"create": "broken", "read": "broken"}),
    ({"checkFailures": [{"property": "nosuch", "reason": "bad"}]}, None, {"check": "broken", "create-preview": "skipped"}),
    ({"checkFailures": [{"property": "value", "reason": "bad"}]}, None, {"create-preview": "skipped"}),
    ({"replaceOn": ["value"]}, {"value": "b", "replaceOn": ["value"]}, {"update": "skipped"}),
]

FAULTY = Path(__file__).resolve().parent / "faulty" / "pulumi-resource-lab"
COMPONENT = "lab:index:Component"
# Faults of the faulty provider, the subject that each is found at, and the rules that are not kept then.
FAULTS = [
    ("", "lab", {}),
    ("", THING, {}),
    ("", COMPONENT, {}),
    ("list-no-id", THING, {"list": "broken"}),
    ("list-twice", THING, {"list": "broken"}),
    ("list-limit", THING, {"list": "broken"}),
    ("list-forever", THING, {"list": "broken"}),
    ("list-finds", THING, {"list-finds": "advice"}),
    ("call", THING, {"call": "broken"}),
    ("construct-urn", COMPONENT, {"construct": "broken"}),
    ("construct-custom", COMPONENT, {"construct": "broken"}),
    ("construct-options", COMPONENT, {"construct-options": "broken"}),
    ("children", COMPONENT, {"children": "advice"}),
    ("mappings", "lab", {"mappings": "broken"}),
    ("", "lab-sub", {}),
    ("parameterize", "lab-sub", {"parameterize": "broken"}),
]


class Failed(Exception):
    """A report is not as it should be."""


def main():
    parser = argparse.ArgumentParser(description="Check providers.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the SDK, for the lab provider")
    options = parser.parse_args()
    world = World(options.bin.absolute(), options.python.absolute())
    checks = [lambda: random(world), lambda: command(world), lambda: mistakes(world)]
    checks += [lambda case=case: lab(world, *case) for case in LAB_CASES]
    checks += [lambda case=case: faulty(world, *case) for case in FAULTS]
    problems = []
    with ThreadPoolExecutor(2) as pool:
        for run in [pool.submit(check) for check in checks]:
            try:
                run.result()
            except Failed as error:
                problems.append(str(error))
    print("\n".join(problems) if problems else f"{len(checks)} providers and inputs, as expected")
    return 1 if problems else 0


class World:
    """Runs the command in folders of their own."""

    def __init__(self, binary, python):
        self.binary, self.python = binary, python

    def run(self, root, plugin, *args, inputs=None, fault=""):
        """Ends the command; returns its exit code and what it printed."""
        for name in ("home", "cloud", "work"):
            (root / name).mkdir(exist_ok=True)
        words = [str(self.binary), "provider", "check", plugin, *args]
        if inputs is not None:
            (root / "work" / "inputs.yaml").write_text(json.dumps(inputs))
            words += ["--inputs", "inputs.yaml"]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(root / "home"), "PULUMI_HOME": str(root / "home"),
                       "PULUMI_IGNORE_AMBIENT_PLUGINS": "true", "LAB_PYTHON": str(self.python),
                       "LAB_CLOUD": str(root / "cloud"), "FAULT": fault}
        done = subprocess.run(words, env=environment, cwd=root / "work", capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def report(self, root, plugin, *args, **more):
        """The report, and the results other than `kept` by rule."""
        code, stdout, stderr = self.run(root, plugin, "--create", "--json", *args, **more)
        try:
            report = json.loads(stdout)
        except ValueError:
            raise Failed(f"{plugin}: no report:\n{stdout}{stderr}") from None
        if (code == 0) != (report["broken"] == 0):
            raise Failed(f"{plugin}: {report['broken']} rules are broken, and the command ended with {code}")
        return report


def others(report, subject):
    """Results other than `kept` about a subject, by rule."""
    return {it["rule"]: it["result"] for it in report["findings"] if it["subject"] == subject and it["result"] != "kept"}


def lab(world, inputs, change, expected):
    given = {THING: {"inputs": inputs, **({"change": change} if change else {})}}
    with tempfile.TemporaryDirectory() as folder:
        report = world.report(Path(folder), str(LAB), "--only", THING, inputs=given)
        left = [it.name for it in (Path(folder) / "cloud").iterdir() if not it.name.startswith(".")]
    if others(report, THING) != expected:
        raise Failed(f"lab with {inputs}: expected {expected}, found {report['findings']}")
    # The lab accepts every type.
    if others(report, "lab") != {"unknown-type": "broken"}:
        raise Failed(f"lab as a whole: {report['findings']}")
    if bool(left) != (expected.get("delete") == "broken"):
        raise Failed(f"lab with {inputs}: left {left}")


def faulty(world, fault, subject, expected):
    """Calls beside those of the life of a resource: lists, components, methods, parameters, mappings, cancellation."""
    plugin = f"{FAULTY} argument" if subject == "lab-sub" else str(FAULTY)
    only = ["--only", subject] if ":" in subject else []
    given = {THING: {"inputs": {"value": "a"}}} if subject == THING else {}
    with tempfile.TemporaryDirectory() as folder:
        report = world.report(Path(folder), plugin, *only, inputs=given, fault=fault)
    if others(report, subject) != expected:
        raise Failed(f"the fault {fault!r}: expected {expected} of {subject}, found {report['findings']}")


def random(world):
    """The provider keeps every rule, in the process and as a plugin; it cannot know that a name is gone."""
    for plugin in ["random", str(world.binary.parent / "pulumi-resource-random")]:
        with tempfile.TemporaryDirectory() as folder:
            keeps_every_rule(plugin, world.report(Path(folder), plugin))


def keeps_every_rule(plugin, report):
    if (report["broken"], report["skipped"]) != (0, 0) or report["kept"] < 100:
        raise Failed(f"{plugin}: {report}")
    advised = {it["rule"] for it in report["findings"] if it["result"] == "advice"}
    if advised != {"read-gone"}:
        raise Failed(f"{plugin}: advice about {advised}")


def command(world):
    """A command runs when it is created, updated and deleted."""
    given = {COMMAND: {"inputs": {"create": "echo one >> log", "update": "echo two >> log", "delete": "echo three >> log"},
                       "change": {"create": "echo 1 >> log", "update": "echo two >> log", "delete": "echo three >> log"}}}
    with tempfile.TemporaryDirectory() as folder:
        report = world.report(Path(folder), "command", "--only", COMMAND, inputs=given)
        logs = [it.read_text().split() for it in Path(folder).rglob("log")]
    if others(report, COMMAND) != {"read-gone": "advice"}:
        raise Failed(f"command: {report['findings']}")
    if logs != [["one", "two", "three", "three"]]:
        raise Failed(f"command: it has run {logs}")


def mistakes(world):
    """What cannot be checked is named."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for args, text in [
            (["random", "--only", "random:index:Nothing"], "the package random has no resource and no function random:index:Nothing"),
            (["random", "--inputs", "nowhere.yaml"], "nowhere.yaml: No such file"),
            (["random", "--config", "x"], "--config takes NAME=VALUE"),
            (["./nowhere"], "there is no plugin at"),
        ]:
            code, stdout, stderr = world.run(root, *args)
            if code == 0 or text not in stdout + stderr:
                raise Failed(f"{args}: ended with {code}, and without {text!r}:\n{stdout}{stderr}")
        code, stdout, stderr = world.run(root, "random")
        if code != 0 or "Nothing was created" not in stdout:
            raise Failed(f"random without --create: ended with {code}:\n{stdout}{stderr}")


if __name__ == "__main__":
    sys.exit(main())
