#!/usr/bin/env python3
"""Runs variations of the recorded cases with the reference and with Plumb, and prints what differs.

    PLUMB_REFERENCE=path/to/pulumi tests/differential/cases/run.py --bin target/debug/plumb \\
        --python-bin .cache/venvs/pulumi-3.259/bin --seed 1 [--filter '^cli-'] [--keep DIR]
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "oracle"), str(HERE), str(HERE.parent / "commands")]

import accepted  # noqa: E402
import compare  # noqa: E402
import normal  # noqa: E402
import recorded_cases  # noqa: E402
import run_cases  # noqa: E402
import vary  # noqa: E402


class Pair:
    """The two binaries, and where variations are written."""

    def __init__(self, options, folder):
        self.folder, self.seed = Path(options.keep or folder), options.seed
        options.keep = False  # for the runner it means the folders of each run
        self.explanations = recorded_cases.EXPLANATIONS
        self.reference = self.setup(options, os.environ["PLUMB_REFERENCE"])
        self.ours = self.setup(options, recorded_cases.copied(Path(options.bin), Path(folder) / "pulumi"))

    @staticmethod
    def setup(options, binary):
        return run_cases.Setup(argparse.Namespace(**{**vars(options), "bin": binary}))

    def differences(self, name, source):
        """Differences of one variation, by step. What the reference itself does not do twice alike is left out.

        None if something is missing that the case needs.
        """
        case = vary.varied(json.loads((source / "case.json").read_text()), f"{self.seed} {name}")
        if self.ours.lacks(case):
            return None
        folder = self.written(name, source, case)
        ours = self.run(self.ours, folder)
        found = self.compared(case, self.run(self.reference, folder), ours)
        for _ in range(2):
            if not found:
                break
            again = self.compared(case, self.run(self.reference, folder, jitter="1"), ours)
            found = [one for one in found if place(one) in set(map(place, again))]
        return found

    def written(self, name, source, case):
        """A folder with the programs of `source` and the varied steps."""
        folder = self.folder / name.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        for entry in source.iterdir():
            link = folder / entry.name
            if entry.name not in ("case.json", "expected") and not link.exists():
                link.symlink_to(entry)
        (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
        return folder

    @staticmethod
    def run(setup, folder, jitter=None):
        return run_cases.Run(setup, folder, json.loads((folder / "case.json").read_text()), jitter).run()

    def compared(self, case, expected, actual):
        found = []
        for number, (step, one, two) in enumerate(zip(case["steps"], expected, actual), 1):
            one, two = json.loads(json.dumps(one)), json.loads(json.dumps(two))
            recorded_cases.order_copies(one, two)
            for explained in [*self.explanations.values(), accept_texts]:
                explained(step, one, two)
            found += [f"step {number} `{step['run']}`: {line}" for line in run_cases.compare_step(one, two)]
        return found


def accept_texts(step, expected, actual):
    """Makes output and exit code like the reference's where `commands/accepted.py` has a reason for each difference."""
    words = shlex.split(step["run"]) if isinstance(step["run"], str) else step["run"]
    command = compare.command_of(words)
    parts = [*((part, *texts(expected, actual, part)) for part in ("stdout", "stderr")),
             ("exit", [f"{expected['exit']} {first_error(expected)}"], [f"{actual['exit']} {first_error(actual)}"])]
    for part, one, two in parts:
        if one is None or two is None or expected.get(part) == actual.get(part):
            continue
        pair = compare.first_difference(*(compare.without_order(one, two) if command in compare.OPERATIONS else (one, two)))
        if pair is None or accepted.reason_for(compare.Difference(0, command, part, *pair).signature, words):
            actual[part] = expected.get(part)


def texts(expected, actual, part):
    """The lines of both sides, without what differs in any two runs."""
    def plain(lines):
        are_lines = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
        return normal.Normaliser("<root>").lines("\n".join(lines)) if are_lines else None

    return plain(expected.get(part)), plain(actual.get(part))


def first_error(record):
    return next(iter(record.get("stderr") or record.get("stderrInfo") or []), "")


def place(line):
    """A difference without what is different: its step and path."""
    return line.split("\n")[0]


def main():
    parser = argparse.ArgumentParser(description="Compare variations of the recorded cases.")
    parser.add_argument("--bin", required=True, help="the built `plumb`")
    parser.add_argument("--python-bin", required=True, help="bin folder of a Python with the packages pulumi and grpcio")
    parser.add_argument("--node-modules", default=os.environ.get("ORACLE_NODE_MODULES"), help="a folder with @pulumi/pulumi")
    parser.add_argument("--seed", type=int, default=1, help="another seed varies in another way")
    parser.add_argument("--filter", default="", help="regular expression on names of cases")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one command")
    parser.add_argument("--keep", help="folder for the variations")
    parser.add_argument("--max-lines", type=int, default=12, help="differences shown per case")
    options = parser.parse_args()
    options.lab, options.path = str(TESTS / "lab"), None
    with tempfile.TemporaryDirectory(prefix="plumb-varied-") as folder:
        return run(Pair(options, folder), options)


def run(pair, options):
    cases = [(name, folder) for name, folder, _ in recorded_cases.listed() if re.search(options.filter, name)]

    def one(case):
        started = time.time()
        try:
            found = pair.differences(*case)
        except Exception as error:  # a broken case must not stop the others
            found = [f"{type(error).__name__}: {error}"]
        return case[0], found, time.time() - started

    same, different = 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, found, seconds in pool.map(one, cases):
            if found is None:
                print(f"skipped {name}: needs --node-modules", flush=True)
                continue
            same, different = same + (not found), different + bool(found)
            print(f"{'differs' if found else 'same'} {name} ({seconds:.1f}s)", flush=True)
            for line in found[:options.max_lines]:
                print(f"    {line}", flush=True)
            if len(found) > options.max_lines:
                print(f"    … and {len(found) - options.max_lines} more", flush=True)
    print(f"{same} the same, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
