"""The command line."""

import argparse
import json
import os
import sys
from pathlib import Path

from peers.engines import SetupError
from peers.setup import ROOT, MissingError, binary, say

from . import report
from .projects import MAKERS, SHAPES
from .runner import FailedError, Runner

SMOKE_COUNT = 20


def main(arguments=None):
    options = parse(arguments)
    try:
        plumb = binary(options.plumb, "plumb-cli", "plumb")
        null_monitor = binary(options.null_monitor, "null-monitor", "null-monitor")
        pairs, starts = Runner(plumb, null_monitor, options).run()
    except (FailedError, MissingError, SetupError) as error:
        say(f"error: {error}")
        return 2
    print(report.render(pairs, starts, options.count))
    document = {"count": options.count, "runs": options.runs, "load": os.getloadavg(), **report.to_json(pairs, starts)}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(document, indent=2) + "\n")
    say(f"wrote {options.json}")
    met = all(map(report.meets_ratio, pairs)) and all(map(report.meets_start, starts))
    return 1 if options.check and not met else 0


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="benches/overhead", description="Runs programs with Plumb and without, in turns, and prints what Plumb adds."
    )
    parser.add_argument("--plumb", metavar="FILE", help="the binary to measure; built if not given")
    parser.add_argument("--null-monitor", metavar="FILE", help="the engine that does nothing; built if not given")
    parser.add_argument("--languages", metavar="NAMES", default=",".join(MAKERS), help=f"of {', '.join(MAKERS)}")
    parser.add_argument("--shapes", metavar="NAMES", default=",".join(SHAPES), help=f"of {', '.join(SHAPES)}; may be empty")
    parser.add_argument("--count", metavar="N", type=int, default=1000, help="how many resources (1000)")
    parser.add_argument("--runs", metavar="N", type=int, default=5, help="how many pairs of each (5)")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=600, help="for one run (600)")
    json_file = ROOT / "target" / "benches" / "overhead.json"
    parser.add_argument("--json", metavar="FILE", default=json_file, type=Path, help="where to write all numbers")
    parser.add_argument("--smoke", action="store_true", help=f"see that it works: {SMOKE_COUNT} resources, one pair")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    options = parser.parse_args(arguments)
    options.languages = named(parser, options.languages, MAKERS)
    options.shapes = named(parser, options.shapes, SHAPES)
    if options.smoke:
        options.count, options.runs = SMOKE_COUNT, 1
    if options.runs < 1 or options.count < 10 or options.count % 10:
        parser.error("--runs starts at 1, and --count is a multiple of 10")
    return options


def named(parser, text, known):
    names = [name for name in text.split(",") if name]
    unknown = sorted(set(names) - set(known))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
