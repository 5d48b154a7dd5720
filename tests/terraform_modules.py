#!/usr/bin/env python3
"""Converts public Terraform modules, and says how much of them became a program.

    tests/terraform_modules.py --bin target/bench-fast/plumb --modules DIR [--language typescript] [--only REGEX] [--out DIR]

`DIR` has checkouts of repositories. Every folder in them with a resource is converted as a root module. The plugins of the
providers are those of `PULUMI_HOME`; they are downloaded where they are missing. A module that cannot be converted, or that takes
longer than a minute, is a failure. The figures in `docs/compatibility.md` come from here.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

LIMIT = 60
SHARE = re.compile(r"converted (\d+) resources with (?:all of their (\d+)|(\d+) of their (\d+)) attributes")


@dataclass
class Module:
    repository: Path
    folder: Path
    resources: int = 0
    attributes: int = 0
    converted: int = 0
    seconds: float = 0
    problem: str = ""

    @property
    def name(self):
        inner = self.folder.relative_to(self.repository)
        return self.repository.name if inner == Path() else f"{self.repository.name}/{inner}"

    def convert(self, options, out):
        target = out / self.name.replace("/", "__")
        start = time.monotonic()
        words = [options.bin, "convert", "--from", "terraform", "--language", options.language, "--generate-only",
                 "--out", target, "--", self.folder.relative_to(self.repository)]
        try:
            done = subprocess.run(words, cwd=self.repository, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.problem = f"took longer than {LIMIT} s"
            return
        self.seconds = time.monotonic() - start
        said = done.stdout + done.stderr
        share = SHARE.search(said)
        if done.returncode or not share:
            self.problem = said[-500:]
            return
        resources, every, converted, attributes = share.groups()
        self.resources = int(resources)
        self.attributes = int(every or attributes)
        self.converted = int(every or converted)


def modules_in(folder, only):
    for repository in sorted(it for it in folder.iterdir() if it.is_dir()):
        files = (it for it in repository.rglob("*.tf") if not {".git", ".terraform"} & set(it.parts))
        for inner in sorted({it.parent for it in files}):
            text = "".join(it.read_text(errors="replace") for it in inner.glob("*.tf"))
            module = Module(repository, inner)
            if re.search(r"^resource\s", text, re.MULTILINE) and re.search(only, module.name):
                yield module


def share(converted, attributes):
    return f"{100 * converted / attributes:.1f} %" if attributes else "-"


def table(modules):
    repositories = {}
    for it in modules:
        repositories.setdefault(it.repository.name, []).append(it)
    yield "| Repository | Modules | Resources | Attributes | Converted | Least of a module |"
    yield "|---|---|---|---|---|---|"
    for name, group in repositories.items():
        attributes, converted = (sum(getattr(it, key) for it in group) for key in ("attributes", "converted"))
        shares = [it.converted / it.attributes for it in group if it.attributes]
        least = f"{100 * min(shares):.1f} %" if shares else "-"
        resources = sum(it.resources for it in group)
        yield f"| {name} | {len(group)} | {resources} | {attributes} | {share(converted, attributes)} | {least} |"


def main():
    parser = argparse.ArgumentParser(description="Convert public Terraform modules and count what became of them.")
    parser.add_argument("--bin", type=lambda text: Path(text).resolve(), required=True, help="the plumb binary")
    parser.add_argument("--modules", type=lambda text: Path(text).resolve(), required=True, help="a folder of checkouts")
    parser.add_argument("--language", default="typescript", help="the language to convert to")
    parser.add_argument("--only", default="", help="a regular expression for names of modules")
    parser.add_argument("--out", type=lambda text: Path(text).resolve(), help="where to keep the programs")
    options = parser.parse_args()
    modules = list(modules_in(options.modules, options.only))
    out = options.out or Path(tempfile.mkdtemp())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda it: it.convert(options, out), modules))
    if not options.out:
        shutil.rmtree(out)
    good = [it for it in modules if not it.problem]
    print("\n".join(table(good)))
    for it in sorted(good, key=lambda it: it.converted / max(it.attributes, 1)):
        if it.converted < 0.9 * it.attributes:
            print(f"{it.name}: {it.converted} of {it.attributes} ({share(it.converted, it.attributes)})")
    attributes, converted = (sum(getattr(it, key) for it in good) for key in ("attributes", "converted"))
    slowest = max(good, key=lambda it: it.seconds, default=None)
    print(f"{len(good)} of {len(modules)} modules, {share(converted, attributes)} of {attributes} attributes")
    if slowest:
        print(f"the slowest took {slowest.seconds:.1f} s: {slowest.name}")
    failed = [it for it in modules if it.problem]
    for it in failed:
        print(f"{it.name}: {it.problem}", file=sys.stderr)
    return 1 if failed or not good else 0


if __name__ == "__main__":
    sys.exit(main())
