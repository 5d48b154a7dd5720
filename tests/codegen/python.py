#!/usr/bin/env python3
"""SDKs for Python, generated from every schema in `tests/data/schemas`: they compile, types in them are right, and those of
published packages offer what the published ones do.

    tests/codegen/python.py --bin PLUMB --packages FOLDER [--show]

FOLDER is what `tests/setup-python-packages.sh` prints, whose Python this runs with. `--show` prints every difference, those with
a reason too.
"""

import argparse
import compileall
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from surface import flat, surface

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent / "data" / "schemas"
PUBLISHED = ["random", "command", "docker", "std", "eks"]

# What is not generated, or has wrong types, and why.
EXPECTED = [
    (r"^different-package-name-conflict: .*same file", "three resources called alike in one module"),
    (r"module named \"pulumi_(?!\w+\._)\w+\"", "an SDK that is not installed here"),
    (r"Name \"pulumi_\w+\.", "an SDK of which only a part is here"),
    (r"^overlay-supported-languages/", "types that people add by hand"),
    (r"Argument 1 to \"(secret|from_input)\"", "the core SDK does not say that these take outputs that may hold nothing"),
    (r"incompatible with supertype \"(dict|Mapping)\"", "properties called like methods of dictionaries"),
    (r"expression has type \"(int|float|str|Literal.*)\", variable has type", "values of enums and constants, as defaults"),
]

# Packages published by older generators. These had outputs that may hold nothing the other way round, and said of parameters that
# what other resources give is accepted too.
OLDER = ["command", "std", "eks"]


def like_older(line):
    line = re.sub(r", 'outputs\.\w+'\]", "]", line)
    line = flat(line.replace("Optional[pulumi.Input[", "pulumi.Input[Optional["))
    # In typed dictionaries, what need not be there was never told to be nothing as well.
    line = line.replace("pulumi.Input[Optional[Any]]", "Optional[Any]")
    return re.sub(r"NotRequired\[pulumi\.Input\[(?!Optional\[)(.*)\]\](?= \[doc\]$|$)", r"NotRequired[pulumi.Input[Optional[\1]]]", line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--packages", required=True, type=Path)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="plumb-codegen-"))
    test = Test(args.bin.resolve(), args.packages.resolve(), work, args.show)
    # The checker of types takes most of the time; the machine may have several cores.
    with ThreadPoolExecutor() as pool:
        list(pool.map(test.check, schema_files()))
        list(pool.map(test.check_types, test.batches()))
    test.check_reasons()
    print(f"{len(test.packages_made)} SDKs compile")
    shutil.rmtree(work)
    if test.failures:
        sys.exit("\n".join(test.failures))


def schema_files():
    folders = [SCHEMAS, *(SCHEMAS / "cases" / name for name in ("", "parameterized", "programs"))]
    files = (file for folder in folders for file in folder.iterdir())
    return sorted(file for file in files if file.suffix in (".json", ".yaml") and file.name != "import-states.json")


class Reason:
    """A difference that is meant."""

    def __init__(self, line):
        self.name, pattern, self.reason = line.split("\t")
        self.pattern = re.compile(pattern)
        self.is_used = False


class Test:
    def __init__(self, plumb, packages, work, is_showing):
        self.plumb, self.packages, self.work, self.is_showing = plumb, packages, work, is_showing
        self.failures = []
        self.packages_made = []
        lines = (HERE / "python-differences.txt").read_text().splitlines()
        self.reasons = [Reason(line) for line in lines if line.strip() and not line.startswith("#")]

    def fail(self, text):
        if not any(re.search(pattern, text) for pattern, _ in EXPECTED):
            self.failures.append(text)

    def check(self, schema):
        name = schema.stem
        out = self.work / name
        command = [self.plumb, "package", "gen-sdk", "--language", "python", "--out", out, schema]
        # Packages that others refer to are not fetched: what is generated must not depend on the machine.
        environment = {**os.environ, "HOME": str(self.work), "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
        if done.returncode != 0:
            self.fail(f"{name}: {done.stderr.strip()}")
            return
        folder = next((out / "python").glob("*/__init__.py")).parent
        if not compileall.compile_dir(folder, quiet=2):
            self.fail(f"{name}: some file does not compile")
        self.packages_made.append(folder)
        if name in PUBLISHED:
            self.compare(name, folder)

    def check_types(self, packages):
        """Packages in one run of the checker have names of their own."""
        folders = [str(folder.parent.relative_to(self.work)) for folder in packages]
        names = [word for folder in packages for word in ("-p", folder.name)]
        options = ["--no-error-summary", "--hide-error-context"]
        options += ["--cache-dir", str(self.work / "mypy" / threading.current_thread().name)]
        command = [sys.executable, "-m", "mypy", *options, *names]
        environment = {**os.environ, "MYPYPATH": os.pathsep.join(folders)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.work, env=environment, timeout=300)
        for line in (done.stdout + done.stderr).splitlines():
            if " note: " not in line:
                self.fail(line)

    def batches(self):
        """All packages, in as few batches as names allow."""
        batches = []
        for folder in sorted(self.packages_made):
            for batch in batches:
                if folder.name not in (it.name for it in batch):
                    batch.append(folder)
                    break
            else:
                batches.append([folder])
        return batches

    def compare(self, name, folder):
        ours, theirs = surface(folder), surface(self.packages / "published" / folder.name)
        if name in OLDER:
            ours, theirs = ([like_older(line) for line in lines] for lines in (ours, theirs))
        differences = [f"+ {line}" for line in ours if line not in set(theirs)]
        differences += [f"- {line}" for line in theirs if line not in set(ours)]
        unexplained = 0
        for difference in differences:
            reason = self.reason(name, difference)
            if reason is None:
                unexplained += 1
                self.failures.append(f"{name}: {difference}")
            if self.is_showing:
                print(f"{name}: {difference}" + (f"  ({reason.reason})" if reason else ""))
        explained = len(differences) - unexplained
        print(f"{name}: {len(theirs)} facts, {explained} differences with a reason, {unexplained} without")

    def reason(self, name, difference):
        for reason in self.reasons:
            if reason.name in ("*", name) and reason.pattern.search(difference):
                reason.is_used = True
                return reason
        return None

    def check_reasons(self):
        for reason in self.reasons:
            if not reason.is_used:
                what = f"nothing differs in {reason.name} like {reason.pattern.pattern}"
                self.failures.append(f"python-differences.txt: {what}")


if __name__ == "__main__":
    main()
