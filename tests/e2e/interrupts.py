#!/usr/bin/env python3
"""Interrupts updates once, twice and three times, and looks at what each leaves behind.

    tests/e2e/interrupts.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

Resources come from the lab provider (`tests/lab`): those that are called `slow-` take long to be made. Whatever happens, the
state afterwards is sound, nothing that exists is forgotten, and the next update finishes the work. The Python needs the
packages `pulumi` and `grpcio`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAB = Path(__file__).resolve().parents[1] / "lab"
SLOW = ["slow-a", "slow-b"]
# How long a slow resource takes: long enough to be interrupted, and short enough to wait for.
SLOW_MS = 6000
LIMIT = 60


def main():
    parser = argparse.ArgumentParser(description="Interrupt updates.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with pulumi and grpcio")
    options = parser.parse_args()
    failed = False
    for test in (once, twice, three_times):
        with tempfile.TemporaryDirectory(prefix="plumb-interrupt-") as root:
            stack = Stack(Path(root).resolve(), options.bin.resolve(), options.python.absolute())
            try:
                test(stack)
            except AssertionError as problem:
                failed = True
                print(f"FAILED {test.__name__}\n    {problem}\n    " + stack.said.replace("\n", "\n    "))
            else:
                print(f"passed {test.__name__}: {test.__doc__}")
    return 1 if failed else 0


def once(stack):
    """running steps finish, no new ones start"""
    code, took = stack.up(interrupts=1)
    check(code == 1, f"the exit code is {code}")
    check("canceled" in stack.said, "nobody says that the update was canceled")
    check(stack.names() == SLOW, f"the state has {stack.names()}, not what was being made")
    check(not stack.pending(), f"there are pending operations: {stack.pending()}")
    check(took >= SLOW_MS / 1000 - 1, f"it ended after {took:.1f} s, before the running steps did")
    stack.finishes()


def twice(stack):
    """providers are told to cancel, and what they had begun is not forgotten"""
    code, took = stack.up(interrupts=2)
    check(code == 1, f"the exit code is {code}")
    check(took < SLOW_MS / 1000, f"it ended after {took:.1f} s, as if nobody had told the provider")
    check("late" not in stack.names(), "a step started after the interrupt")
    stack.finishes()


def three_times(stack):
    """the run ends at once, and what was begun is known as pending"""
    # The provider has died by the third, perhaps in the middle of its work: the state must tell.
    code, took = stack.up(interrupts=3)
    check(code != 0, f"the exit code is {code}")
    check(took < SLOW_MS / 1000, f"it ended after {took:.1f} s")
    stack.finishes()


class Stack:
    """A stack in its own folder, home and pretend cloud."""

    def __init__(self, root, binary, python):
        self.binary, self.root, self.said = binary, root, ""
        self.project, self.cloud, self.log = root / "project", root / "cloud", root / "calls.jsonl"
        for folder in (self.project, self.cloud, root / "home"):
            folder.mkdir()
        thing = {"type": "lab:index:Thing", "properties": {"value": "v"}}
        slow = {"type": "lab:index:Thing", "properties": {"value": "v", "sleepMs": {"create": SLOW_MS}}}
        late = {**thing, "options": {"dependsOn": [f"${{{name}}}" for name in SLOW]}}
        resources = {**dict.fromkeys(SLOW, slow), "late": late}
        program = {"name": "interrupts", "runtime": "yaml", "resources": resources}
        (self.project / "Pulumi.yaml").write_text(json.dumps(program))
        self.environment = {
            "PATH": f"{LAB}:{os.environ.get('PATH', '')}",
            "HOME": str(root / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "interrupts",
            "LAB_PYTHON": str(python),
            "LAB_CLOUD": str(self.cloud),
            "LAB_LOG": str(self.log),
        }

    def command(self, *words):
        return [str(self.binary), *words, "--cwd", str(self.project), "--stack", "dev", "--non-interactive"]

    def up(self, interrupts=0):
        """Exit code of an update, and the time from the first interrupt to its end."""
        words = self.command("up", "--create", "--yes", "--skip-preview")
        with (self.root / "said").open("w") as said:
            running = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=said,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            start = time.monotonic()
            if interrupts:
                self.wait_for_creates(running)
                start = time.monotonic()
            for _ in range(interrupts):
                running.send_signal(signal.SIGINT)
                time.sleep(0.3)
            try:
                code = running.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)
                code = None
        self.said = (self.root / "said").read_text()
        check(code is not None, "the update hangs")
        return code, time.monotonic() - start

    def wait_for_creates(self, running):
        """Until the provider has begun to make all slow resources."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline and running.poll() is None:
            calls = self.log.read_text().splitlines() if self.log.exists() else []
            begun = [call for call in map(json.loads, calls) if call.get("method") == "Create" and "call" in call]
            if len(begun) == len(SLOW):
                return
            time.sleep(0.05)
        raise AssertionError("the provider was never asked to make the slow resources")

    def deployment(self):
        words = self.command("stack", "export")
        done = subprocess.run(words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT)
        check(done.returncode == 0, f"the state cannot be exported: {done.stderr}")
        return json.loads(done.stdout)["deployment"]

    def things(self):
        return [it for it in self.deployment().get("resources", []) if it["type"] == "lab:index:Thing"]

    def names(self):
        return sorted(it["urn"].split("::")[-1] for it in self.things())

    def pending(self):
        return self.deployment().get("pending_operations", [])

    def finishes(self):
        """The state forgets nothing that exists, and the next update makes the rest and then has nothing to do."""
        known = {it["id"] for it in self.things()}
        pending = {it["resource"]["urn"].split("::")[-1] for it in self.pending()}
        for file in self.cloud.glob("Thing__*.json"):
            object_id = json.loads(file.read_text())["id"]
            name = object_id.rsplit("-", 1)[0]
            check(object_id in known or name in pending, f"{object_id} exists, and the state does not know of it")
        code, _ = self.up()
        check(code == 0, f"the next update fails with {code}")
        check(self.names() == sorted([*SLOW, "late"]), f"the next update left {self.names()}")
        words = self.command("up", "--yes", "--skip-preview", "--expect-no-changes")
        again = subprocess.run(words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               timeout=LIMIT)
        check(again.returncode == 0, f"a second update has something to do: {again.stdout}{again.stderr}")


def check(holds, message):
    if not holds:
        raise AssertionError(message)


if __name__ == "__main__":
    sys.exit(main())
