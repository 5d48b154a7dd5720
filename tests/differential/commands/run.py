#!/usr/bin/env python3
"""Runs generated scripts with two binaries and reports how they differ."""

import argparse
import collections
import os
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from accepted import reason_for
from compare import compare
from scripts import Generator
from shrink import shrink
from stage import Side


def main():
    options = arguments()
    seed = options.seed or random.SystemRandom().randrange(10**9)
    print(f"seed {seed}", flush=True)
    histogram, examples, commands = collections.Counter(), {}, 0
    for number in range(options.first, options.first + options.scripts):
        steps = Generator(seed, number).script()
        found, done = play(steps, options)
        commands += done
        for difference in found:
            signature = difference.signature
            if not reason_for(signature, steps[difference.step]):
                histogram[signature] += 1
                examples.setdefault(signature, (number, steps, difference))
        if number % 20 == 19:
            print(f"{number + 1} scripts, {commands} commands, {len(histogram)} kinds of differences", flush=True)
    report(histogram, examples, options)
    print(f"{options.scripts} scripts, {commands} commands: {sum(histogram.values())} differences of {len(histogram)} kinds")
    return 1 if histogram else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the binary to judge")
    parser.add_argument("--reference", default=os.environ.get("PLUMB_REFERENCE"), help="the reference; default $PLUMB_REFERENCE")
    parser.add_argument("--python-bin", type=Path, help="bin folder of a Python with the packages of the lab provider")
    parser.add_argument("--scripts", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first script")
    parser.add_argument("--seed")
    parser.add_argument("--shrink", action="store_true", help="shorten an example of each kind")
    parser.add_argument("--verbose", action="store_true", help="show every step of every script")
    options = parser.parse_args()
    if not options.reference:
        parser.error("no reference: give --reference or set PLUMB_REFERENCE")
    if options.python_bin:
        options.python_bin = options.python_bin.absolute()
    return options


def play(steps, options):
    """Differences of one script, and how many commands ran. Stops where the two sides have drifted apart."""
    with tempfile.TemporaryDirectory(prefix="commands-") as folder:
        sides = [Side(binary, Path(folder) / name, options.python_bin)
                 for name, binary in (("a", options.reference), ("b", options.bin))]
        found, done = [], 0
        for number, step in enumerate(steps):
            try:
                reference, plumb = [side.step(step) for side in sides]
            except subprocess.TimeoutExpired as error:
                print(f"timeout: {error.cmd}", file=sys.stderr)
                break
            if isinstance(step, dict):
                continue
            done += 1
            new = list(compare(number, step, reference, plumb))
            if options.verbose:
                print(f"$ {shlex.join(step)}", *(f"\n    {it.part}\n      - {it.expected}\n      + {it.actual}" for it in new))
            found += new
            if any(it.part == "exit" or it.part.startswith("file") for it in new):
                break
        return found, done


def report(histogram, examples, options):
    for signature, count in histogram.most_common():
        number, steps, difference = examples[signature]
        print(f"\n{count} x {difference.command}: {difference.part}  (script {number}, step {difference.step})")
        print(f"    - {difference.expected[:400]}\n    + {difference.actual[:400]}")
        steps = steps[:difference.step + 1]
        if options.shrink:
            steps = shrink(steps, lambda shorter: any(it.signature == signature for it in play(shorter, options)[0]))
        for step in steps if options.shrink else steps[-1:]:
            print(f"      {shown(step)}")


def shown(step):
    if isinstance(step, dict):
        return " ".join(str(step[key]) for key in ("cloud", "data") if key in step) or next(f"{key} {step[key]}" for key in ("write", "delete") if key in step)
    return f"$ {shlex.join(step)}"


if __name__ == "__main__":
    sys.exit(main())
