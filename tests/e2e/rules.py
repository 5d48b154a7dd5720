#!/usr/bin/env python3
"""The same 30 rules in CEL, in Rego, in Python and for Node.js, under the same tests.

    tests/e2e/rules.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259-pulumi-policy/bin/python \\
        --sdk .cache/node/pulumi-3.248.0-policy

Only the standard library is used here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent / "rules"
RULES = 30


def main():
    parser = argparse.ArgumentParser(description="Run the shared rules in every language.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the package pulumi-policy")
    parser.add_argument("--sdk", required=True, type=Path, help="a folder with node_modules that has @pulumi/policy")
    options = parser.parse_args()
    packs = {
        "cel": lambda folder: None,
        "rego": lambda folder: None,
        "python": lambda folder: manifest(folder, {
            "name": "python", "options": {"virtualenv": str(options.python.absolute().parent.parent)}}),
        "node": lambda folder: node(folder, options.sdk.absolute()),
    }
    with tempfile.TemporaryDirectory() as root, ThreadPoolExecutor(2) as pool:
        runs = {name: pool.submit(run, options.bin.absolute(), Path(root), name, prepare)
                for name, prepare in packs.items()}
        reports = {name: run.result() for name, run in runs.items()}
    problems = [problem for name, report in reports.items() for problem in judged(name, report)]
    for problem in problems:
        print(problem)
    if not problems:
        tests = len(next(iter(reports.values()))["tests"])
        print(f"{RULES} rules and {tests} tests, the same in {', '.join(reports)}")
    return 1 if problems else 0


def manifest(folder, runtime):
    (folder / "PulumiPolicy.yaml").write_text(json.dumps({"runtime": runtime, "version": "1.0.0"}))


def node(folder, sdk):
    manifest(folder, "nodejs")
    (folder / "node_modules").symlink_to(sdk / "node_modules")


def run(binary, root, name, prepare):
    """Runs the tests over one pack; returns the report."""
    folder = root / name
    shutil.copytree(HERE / name, folder)
    shutil.copy(HERE / "shared.test.yaml", folder)
    prepare(folder)
    home = root / f"{name}-home"
    home.mkdir()
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "PULUMI_HOME": str(home),
                   "PULUMI_IGNORE_AMBIENT_PLUGINS": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(binary), "policy", "test", str(folder), "--json"], env=environment, capture_output=True,
                          text=True, timeout=120)
    if not done.stdout.lstrip().startswith("{"):
        return {"error": done.stdout + done.stderr, "tests": []}
    report = json.loads(done.stdout)
    return {**report, "code": done.returncode, "messages": done.stderr}


def judged(name, report):
    """Problems with the report about a pack."""
    if "error" in report:
        yield f"{name}: {report['error']}"
        return
    for test in report["tests"]:
        if not test["passed"]:
            yield f"{name}: {test['name']}: {test['failure']}"
    rules = {test["name"].split(":")[0] for test in report["tests"]}
    if len(rules) != RULES or report["untested"]:
        yield f"{name}: {len(rules)} rules have tests, and {report['untested']} have none"
    if (report["code"] == 0) != (report["failed"] == 0):
        yield f"{name}: {report['failed']} tests failed, and the command ended with {report['code']}"


if __name__ == "__main__":
    sys.exit(main())
