#!/usr/bin/env python3
"""The display suite of the reference, through `replay-events`.

    tests/suites/goldens.py PLUMB CHECKOUT/pkg/backend/display/testdata [WORD]

Every event file is shown as a diff and as progress, each with types and names and with URNs, and compared with the texts of the
suite. With a word, only cases whose names have it, and the first lines that differ. Two things are taken out: the link to
the operation, which a replay has not, and how long steps took, which the suite does not show.
"""

import re
import subprocess
import sys
from pathlib import Path

FLAGS = ["--show-config", "--show-replacement-steps", "--show-sames", "--show-reads"]
LINK = "<{%fg 13%}><{%bold%}>View Live: <{%underline%}><{%fg 12%}>link<{%reset%}>\n\n"
TIME = re.compile(r" \(\d+(\.\d+)?s\)")


def cases(folder):
    """Name, event file, flags, and the files with the expected output."""
    for part in ("not-truncated", "truncated", "json-yaml"):
        for events in sorted((folder / part).glob("*.json")):
            cut = ["--show-full-output=false"] if part == "truncated" else []
            yield "", events, ["--diff", *cut]
            if part == "not-truncated":
                yield ".urns", events, ["--diff", "--urns"]
                yield ".non-interactive", events, []
                yield ".urns-non-interactive", events, ["--urns"]


def main():
    plumb, folder = sys.argv[1], Path(sys.argv[2])
    word = sys.argv[3] if len(sys.argv) > 3 else None
    same, counted = {}, {}
    for suffix, events, flags in cases(folder):
        name = f"{events.relative_to(folder)}{suffix}"
        if word and word not in name:
            continue
        command = [plumb, "replay-events", "update", str(events), "--color", "raw", *FLAGS, *flags]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        stdout = (events.parent / f"{events.name}{suffix}.stdout.txt").read_text().replace(LINK, "")
        shown = TIME.sub("", ran.stdout)
        counted[suffix] = counted.get(suffix, 0) + 1
        if shown == stdout:
            same[suffix] = same.get(suffix, 0) + 1
            continue
        print(name, ran.stderr[:200])
        if word:
            report(stdout.split("\n"), shown.split("\n"))
    for suffix, count in counted.items():
        print(f"{suffix or 'diff'}: {same.get(suffix, 0)} of {count}")
    print(f"all: {sum(same.values())} of {sum(counted.values())}")


def report(wanted, got):
    reported = 0
    for number in range(max(len(wanted), len(got))):
        pair = [lines[number] if number < len(lines) else None for lines in (wanted, got)]
        if pair[0] != pair[1]:
            print(f"{number + 1}\n  - {pair[0]!r}\n  + {pair[1]!r}")
            reported += 1
            if reported == 6:
                return


if __name__ == "__main__":
    main()
