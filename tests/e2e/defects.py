#!/usr/bin/env python3
"""Has a binary run into a defect of its own in the middle of an update, and looks at what it says and leaves behind.

    tests/e2e/defects.py --bin target/bench-fast/plumb

The variable PLUMB_TEST_DEFECT names a stack whose outputs cannot be read without a defect. What a defect does depends on how the
binary was built: it unwinds, and the exit code is 255, or the process is aborted. Whichever it is, the user gets the report, and
the state is sound.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 120
STACK = "organization/proj/dev"
PROGRAM = {
    "name": "proj",
    "runtime": "yaml",
    "resources": {
        "before": {"type": "pulumi:index:Stash", "properties": {"input": "kept"}},
        "broken": {
            "type": "pulumi:pulumi:StackReference",
            "properties": {"name": STACK},
            "options": {"dependsOn": ["${before}"]},
        },
        "after": {"type": "pulumi:index:Stash", "properties": {"input": "${broken.id}"}},
    },
}


def main():
    parser = argparse.ArgumentParser(description="Look at what a defect leaves behind.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumb-defect-") as root:
        try:
            defect(Place(Path(root).resolve(), options.bin.resolve()))
        except AssertionError as problem:
            print(f"FAILED defect\n    {problem}")
            return 1
    print("passed defect: a defect leaves a report and a sound state")
    return 0


def defect(place):
    place.ok("stack", "init", "dev")
    code, said = place.run("up", "--yes", "--skip-preview", PLUMB_TEST_DEFECT=STACK)
    check(code in (255, -signal.SIGABRT), f"the exit code is {code}: {said}")
    check(said.count("The Pulumi CLI encountered a fatal error. This is a bug!") == 1, f"there is no banner: {said}")
    for inside in ("panicked at", "RUST_BACKTRACE", "thread '", ".rs:"):
        check(inside not in said, f"{inside} in {said}")
    reports = list((place.root / "home/.pulumi/logs").iterdir())
    check(len(reports) == 1 and "command `up`" in reports[0].read_text(), f"there are {len(reports)} reports")
    names = place.names()
    check("before" in names and "after" not in names, f"the state has {names}")
    said = place.ok("up", "--yes", "--skip-preview")
    check("after" in place.names(), f"the next update does not go on: {said}")
    place.ok("destroy", "--yes", "--skip-preview")
    check(not place.names(), f"the state has {place.names()}")


class Place:
    """A project in its own folder, with its own home and store."""

    def __init__(self, root, binary):
        self.root, self.binary, self.project = root, binary, root / "project"
        for folder in (self.project, root / "home", root / "store"):
            folder.mkdir()
        (self.project / "Pulumi.yaml").write_text(json.dumps(PROGRAM))
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root}/store",
            "PULUMI_CONFIG_PASSPHRASE": "defects",
        }

    def run(self, *words, **variables):
        """Exit code, and what was said."""
        # SDKs start it as `pulumi`, and look for the banner that it has under that name.
        done = subprocess.run(["pulumi", *words], executable=str(self.binary), cwd=self.project,
                              env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        return done.returncode, done.stdout

    def ok(self, *words):
        code, said = self.run(*words)
        check(code == 0, f"{words} ended with {code}: {said}")
        return said

    def names(self):
        """The resources of the state, without the stack and providers."""
        resources = json.loads(self.ok("stack", "export"))["deployment"].get("resources", [])
        return [it["urn"].split("::")[-1] for it in resources if "Stash" in it["type"] or "StackReference" in it["type"]]


def check(holds, problem):
    if not holds:
        raise AssertionError(problem)


if __name__ == "__main__":
    sys.exit(main())
