#!/usr/bin/env python3
"""Takes the examples from an empty home to a finished deployment and back.

    tests/e2e/examples.py --bin target/debug/plumb [--only quickstart]

`quickstart` gets no setting from the environment at all, the others a passphrase, because they keep secrets. Examples in
YAML only; they need nothing but the binary. Only the standard library is used.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def main():
    parser = argparse.ArgumentParser(description="Run the examples.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--only", help="name of one example")
    options = parser.parse_args()
    names = sorted(folder.name for folder in EXAMPLES.iterdir() if is_yaml(folder))
    if options.only:
        names = [name for name in names if name == options.only]
    if not names:
        parser.error("there is no such example")
    problems = {name: one_example(options.bin.resolve(), name) for name in names}
    for name, problem in problems.items():
        print(f"{'FAILED' if problem else 'passed'} {name}")
        if problem:
            print("    " + problem.replace("\n", "\n    "))
    return 1 if any(problems.values()) else 0


def is_yaml(folder):
    project = folder / "Pulumi.yaml"
    return project.is_file() and "runtime: yaml" in project.read_text()


def one_example(binary, name):
    """What went wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="plumb-example-") as root:
        root = Path(root).resolve()
        shutil.copytree(EXAMPLES / name, root / "project")
        (root / "home").mkdir()
        # Nothing of the caller's settings gets through: no login, no variable of Plumb.
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(root / "home")}
        if name != "quickstart":
            environment["PULUMI_CONFIG_PASSPHRASE"] = "example"

        def plumb(*words):
            done = subprocess.run(
                [str(binary), *words, "--cwd", str(root / "project"), "--stack", "dev", "--non-interactive"],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=120)
            if done.returncode != 0:
                raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}:\n{done.stdout}")
            return done.stdout

        try:
            plumb("up", "--create", "--yes")
            exported = root / "state.json"
            plumb("stack", "export", "--file", str(exported))
            if not json.loads(exported.read_text())["deployment"].get("resources"):
                return "the state is empty after `up`"
            plumb("up", "--yes", "--expect-no-changes")
            plumb("state", "unprotect", "--all", "--yes")
            plumb("destroy", "--yes")
            plumb("stack", "export", "--file", str(exported))
            if left := json.loads(exported.read_text())["deployment"].get("resources"):
                return f"{len(left)} resources are left after `destroy`"
        except Failed as failed:
            return str(failed)
    return ""


class Failed(Exception):
    """A command that had to succeed did not."""


if __name__ == "__main__":
    sys.exit(main())
