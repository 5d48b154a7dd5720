#!/usr/bin/env python3
"""Runs public programs with two binaries against a provider that accepts everything, and reports how they differ."""

import argparse
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from compare import differences
from side import Side

SETTINGS = {"aws:region": "us-west-2", "gcp:project": "project", "gcp:region": "us-central1", "gcp:zone": "us-central1-a",
            "azure-native:location": "westus"}
PLAIN = [({}, words) for words in (
    ["preview", "--diff"], ["up", "--yes", "--skip-preview"], ["up", "--yes"], ["stack", "output", "--json", "--show-secrets"],
    ["stack", "export"], ["refresh", "--yes"], ["preview", "--json"], ["destroy", "--yes"])]
CHANGED = {"ANYTHING_CHANGES": "1"}
DRIFTED = {**CHANGED, "ANYTHING_DRIFT": "1"}
CHANGES = [
    ({}, ["up", "--yes", "--skip-preview"]), (CHANGED, ["preview", "--diff"]), (CHANGED, ["preview"]), (CHANGED, ["preview", "--json"]),
    (CHANGED, ["up", "--yes", "--skip-preview", "--diff"]), (CHANGED, ["stack", "export"]),
    (DRIFTED, ["refresh", "--diff", "--preview-only"]), (DRIFTED, ["refresh", "--yes", "--skip-preview", "--diff"]),
    (DRIFTED, ["stack", "export"]), (DRIFTED, ["up", "--yes", "--skip-preview", "--diff", "--refresh"]),
    (DRIFTED, ["preview", "--diff", "--show-sames", "--refresh"]), (DRIFTED, ["destroy", "--yes", "--diff"])]


def main():
    options = arguments()
    same, seconds = 0, [0, 0]
    programs = [it.parent for it in sorted(options.programs.glob("**/Pulumi.yaml")) if re.search(options.only, str(it.parent.relative_to(options.programs)))]
    for program in programs:
        found = play(program, options, seconds)
        same += not found
        print(f"{'same' if not found else 'differs'}  {program.relative_to(options.programs)}", *found, sep="\n    ", flush=True)
    print(f"{len(programs)} programs, {same} the same; {seconds[0]:.0f} s with the reference, {seconds[1]:.0f} s with Plumb")
    return 0 if same == len(programs) else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the binary to judge")
    parser.add_argument("--reference", default=os.environ.get("PLUMB_REFERENCE"), help="the reference; default $PLUMB_REFERENCE")
    parser.add_argument("--programs", required=True, type=lambda it: Path(it).resolve(), help="folder with programs")
    parser.add_argument("--tools", required=True, type=lambda it: Path(it).resolve(), help="folder that setup.sh made")
    parser.add_argument("--only", default="", help="regular expression for folders of programs")
    parser.add_argument("--changes", action="store_true", help="change what programs ask for and what is read")
    options = parser.parse_args()
    if not options.reference:
        parser.error("--reference or PLUMB_REFERENCE names the reference")
    return options


def play(program, options, seconds):
    """Differences of one program, each with its command."""
    with tempfile.TemporaryDirectory(prefix="examples-") as folder:
        roots = [Path(folder) / "a", Path(folder) / "b"]
        sides = [Side(binary, root, program, options.programs, options.tools) for binary, root in zip((options.reference, options.bin), roots)]
        for words in (["stack", "init", "dev"], *settings(program)):
            for side in sides:
                side.run(words)
        found = []
        for variables, words in CHANGES if options.changes else PLAIN:
            reference, plumb = (side.run(words, **variables) for side in sides)
            for at, outcome in enumerate((reference, plumb)):
                seconds[at] += outcome[3]
            found += [f"{shlex.join(words)}: {it}" for it in differences(words, reference, plumb, roots)]
        return found


def settings(program):
    """Commands for the settings that the README of a program asks for, with a text for each value that is left to the reader."""
    readme = program / "README.md"
    text = readme.read_text() if readme.exists() else ""
    for line in re.findall(r"pulumi config set (.*)", text):
        line = re.sub(r"#.*|\|.*|`", "", re.sub(r"\$\(.*?\)|<[^>]*>|\[[^\]]*\]", "value", line))
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        given = [word for word in words if not word.startswith("-")]
        if given:
            yield ["config", "set", *words, *(["value"] if len(given) == 1 else []), *(["--plaintext"] if "--secret" not in words else [])]
    for key, value in SETTINGS.items():
        yield ["config", "set", key, value]


if __name__ == "__main__":
    sys.exit(main())
