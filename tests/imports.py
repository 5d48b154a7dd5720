#!/usr/bin/env python3
"""Imports resources of all kinds of types, and expects that the printed program changes nothing.

    tests/imports.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python [--schemas DIR] [--each N] [--seed N]

Every schema of the folder becomes a plugin (`tests/imports/mirror.py`) whose objects have values of the types that the schema
gives them. `--each` objects of each type are imported at once. The code that the import prints becomes the program, and its
preview must have nothing to do. All runs in the binary and in processes as users have them.
"""

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "imports"))
from values import HIDDEN  # noqa: E402

SCHEMAS = HERE / "data" / "schemas"
NAMES = ["bucket", "my-bucket", "with.dots", "two words", "class", "self", "default", "import", "Name", "1st", "ünï", "a_b", "resources"]
VERSION = "9.8.7"
# What the values of `values.py` name.
FILES = ["some/file.txt", "some/folder/inner.txt", "b/inner.txt"]
PROGRAMS = {"yaml": "Pulumi.yaml", "nodejs": "index.ts", "python": "__main__.py"}


def main():
    parser = argparse.ArgumentParser(description="Import resources of many types, and preview the printed programs.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the published SDK, for the plugins")
    parser.add_argument("--schemas", type=Path, default=SCHEMAS, help="a folder of schemas of packages")
    parser.add_argument("--only", default="", help="a pattern for names of packages")
    parser.add_argument("--each", type=int, default=1, help="objects of each type")
    parser.add_argument("--most", type=int, default=1000, help="objects of each package")
    parser.add_argument("--language", default="yaml", choices=PROGRAMS, help="the runtime of the programs")
    parser.add_argument("--sdks", type=Path, help="the published SDKs: a folder `node_modules`, or a virtual environment of Python")
    parser.add_argument("--seed", default="1", help="what the values are drawn from")
    parser.add_argument("--keep", type=Path, help="leave the programs in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = (args.keep or Path(folder)).resolve()
        found = []
        for schema in sorted(args.schemas.glob("*.json")):
            if re.search(args.only, schema.stem):
                found.append(Package(args, schema, root / schema.stem).check())
                print(found[-1].line(), end="", flush=True)
    failures = sum(len(it.failures) for it in found)
    print(f"{sum(it.objects for it in found)} objects of {len(found)} packages imported with seed {args.seed}, {failures} failures")
    sys.exit(1 if failures else 0)


@dataclass
class Found:
    package: str
    objects: int = 0
    seconds: float = 0
    failures: list = field(default_factory=list)

    def line(self):
        shown = [f"    {it}" for it in self.failures[:20]]
        more = len(self.failures) - len(shown)
        shown += [f"    and {more} more"] if more else []
        if not self.objects:
            return ""
        return "\n".join([f"{self.package}: {self.objects} objects, {self.seconds:.1f} s, {len(self.failures)} failures", *shown, ""])


class Package:
    def __init__(self, args, schema, folder):
        self.args, self.schema, self.folder = args, json.loads(schema.read_text()), folder
        self.name = self.schema["name"]
        self.program, self.home, self.log = folder / "program", folder / "home", folder / "differences.jsonl"
        for file in FILES:
            path = self.program / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("content")
        self.version = self.published() or VERSION
        plugin = self.home / "plugins" / f"resource-{self.name}-v{self.version}" / f"pulumi-resource-{self.name}"
        plugin.parent.mkdir(parents=True)
        words = [args.python.absolute(), HERE / "imports" / "mirror.py", schema.resolve(), self.version, args.seed, self.log]
        plugin.write_text(f"#!/bin/sh\nexec {shlex.join(map(str, words))}\n")
        plugin.chmod(0o755)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PULUMI_HOME": str(self.home),
            "PULUMI_BACKEND_URL": f"file://{folder}",
            "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

    def published(self):
        """Makes the SDK ready; returns its version."""
        sdks = self.args.sdks and self.args.sdks.absolute()
        if self.args.language == "nodejs":
            (self.program / "node_modules").symlink_to(sdks)
            return json.loads((sdks / "@pulumi" / self.name / "package.json").read_text())["version"].removeprefix("v")
        if self.args.language == "python":
            found = next(sdks.glob(f"lib/python*/site-packages/pulumi_{self.name}/pulumi-plugin.json"))
            return json.loads(found.read_text())["version"]
        return None

    def plumb(self, *words):
        command = [str(self.args.bin.resolve()), *words]
        return subprocess.run(command, cwd=self.program, env=self.environment, capture_output=True, text=True, timeout=600)

    def listed(self):
        """The import file: objects of each type, in an order and with names that the seed chooses."""
        rng = random.Random(f"{self.args.seed} {self.name}")
        # A URN cannot hold a type without a module.
        tokens = [token for token, it in self.schema.get("resources", {}).items() if not it.get("isComponent") and "::" not in token]
        rng.shuffle(tokens)
        drawn = (tokens * self.args.each)[: self.args.most]
        resources = []
        for at, token in enumerate(drawn):
            resource = {"type": token, "name": f"{rng.choice(NAMES)}-{at}", "id": f"id-{at}", "version": self.version}
            if resources and rng.random() < 0.1:
                resource["parent"] = rng.choice(resources)["name"]
            if rng.random() < 0.1:
                resource["logicalName"] = f"{rng.choice(NAMES)} of {at}"
            resources.append(resource)
        return resources

    def check(self):
        found = Found(self.name)
        began = time.monotonic()
        project = f"name: adopted\nruntime: {self.args.language}\n"
        if self.args.language == "python":
            project = f"name: adopted\nruntime: {{name: python, options: {{virtualenv: {json.dumps(str(self.args.sdks.absolute()))}}}}}\n"
        (self.program / "Pulumi.yaml").write_text(project)
        resources = self.listed()
        found.objects = len(resources)
        if resources:
            (self.program / "import.json").write_text(json.dumps({"resources": resources}))
            self.plumb("stack", "init", "dev")
            found.failures += self.failures(project)
        found.seconds = time.monotonic() - began
        return found

    def failures(self, project):
        words = ["import", "--file", "import.json", "--yes", "--skip-preview", "--protect=false", "--out", "code"]
        done = self.plumb(*words)
        (self.folder / "import.log").write_text(done.stdout + done.stderr)
        if done.returncode:
            return [f"the import ended with {done.returncode}: {last(done.stdout + done.stderr)}"]
        code = (self.program / "code").read_text()
        settings = self.program / "Pulumi.dev.yaml"
        printed = [code, done.stdout, done.stderr, settings.read_text() if settings.exists() else ""]
        if any(HIDDEN in it for it in printed):
            return ["a secret is in plain text"]
        (self.program / PROGRAMS[self.args.language]).write_text(project + code if self.args.language == "yaml" else code)
        done = self.plumb("preview", "--json")
        (self.folder / "preview.json").write_text(done.stdout + done.stderr)
        if done.returncode:
            said = [it["message"].strip() for it in json.loads(done.stdout)["diagnostics"]] if done.stdout else []
            return [f"the preview ended with {done.returncode}: {' / '.join(said)[:2000]}{done.stderr[:400]}"]
        steps = Counter()
        for step in json.loads(done.stdout)["steps"]:
            steps[step["op"]] += 1
        differences = [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        shown = [f"{urn.split('::', 2)[2]} {path}: {clip(old)} became {clip(new)}" for urn, path, old, new in differences]
        changed = {op: count for op, count in steps.items() if op != "same"}
        return shown or ([f"the preview has {changed}"] if changed else [])


def clip(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 100 else text[:100] + "…"


def last(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-4:])[:400]


main()
