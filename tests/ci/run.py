#!/usr/bin/env python3
"""Runs the tests: `tests/run.sh` and `tests/nightly.sh` call it.

    tests/run.sh                 format, lints, tests, and the share of the slow suites that falls to this commit
    tests/run.sh --all           every suite
    tests/nightly.sh             every suite, and those that no commit waits for
    tests/run.sh --fast          format, lints, unit and integration tests
    tests/run.sh --only REGEX    the steps whose names match, and what they need; with --built: of the program as it is
    tests/run.sh --list          names of the steps, with what each takes part in
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import steps
from schedule import Schedule

ROOT = Path(__file__).resolve().parents[2]
SECONDS_WITHOUT_A_REASON = 180


def of_this_commit(suites, number):
    """The suites that the commit with this number runs. Those of one share take turns."""
    turns = {}
    for step in suites:
        if step.share == steps.NIGHTLY:
            continue
        groups = turns.setdefault(step.share, [])
        if (group := step.group or step.name) not in groups:
            groups.append(group)
        if (number + groups.index(group)) % step.share == 0:
            yield step


def with_needs(chosen, all_steps):
    """The chosen steps and all that they need, in the order of the table."""
    by_name = {step.name: step for step in all_steps}
    names, open_ends = set(), [step.name for step in chosen]
    while open_ends:
        name = open_ends.pop()
        if name not in names:
            names.add(name)
            open_ends.extend(by_name[name].needs())
    return [step for step in all_steps if step.name in names]


def choose(options, table, commit):
    """The steps to run, and those of other commits' shares."""
    suites = [step for step in table if step.name not in steps.SETUPS]
    if options.only:
        return with_needs([step for step in table if re.search(options.only, step.name)], table), []
    if options.fast:
        return with_needs([step for step in suites if step.name in steps.FAST], table), []
    by_day = [step for step in suites if step.share != steps.NIGHTLY]
    chosen = suites if options.nightly else by_day if options.all else list(of_this_commit(suites, commit))
    return with_needs(chosen, table), [step for step in suites if step not in chosen]


def report(results, others, left_out, seconds):
    print(f"\n{'seconds':>8} {'processor':>9}")
    for result in results:
        reason = ""
        if result.seconds > SECONDS_WITHOUT_A_REASON:
            reason = f"  ({result.step.reason or 'over three minutes, and nothing says why'})"
        print(f"{result.seconds:8.0f} {result.cpu:9.0f}  {result.step.name}{reason}")
    print(f"{seconds:8.0f} {sum(result.cpu for result in results):9.0f}  all")
    if others:
        print(f"\nLeft to other commits (tests/nightly.sh runs all): {', '.join(step.name for step in others)}")
    failed = [result for result in results if not result.passed]
    for result in failed:
        print(f"\nFAILED: {result.step.name}. Again: tests/run.sh --only '^{result.step.name}$'")
        if result.step.name in steps.REPRODUCE:
            print(f"The same histories: {' '.join(result.step.command)}")
        if seed := result.step.env.get("PROPTEST_RNG_SEED"):
            print(f"The same values in property tests: PROPTEST_RNG_SEED={seed} {' '.join(result.step.command)}")
    print(f"\n{len(results) - len(failed)} passed, {len(failed)} failed")
    for what in left_out:
        print(f"!!! LEFT OUT: {what}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(prog="tests/run.sh", description="Run the tests.")
    parser.add_argument("--fast", action="store_true", help="format, lints, unit and integration tests")
    parser.add_argument("--all", action="store_true", help="every suite, whatever falls to this commit")
    parser.add_argument("--nightly", action="store_true", help="every suite, and those that no commit waits for")
    parser.add_argument("--only", metavar="REGEX", help="the steps whose names match, and what they need")
    parser.add_argument("--built", action="store_true", help="take target/debug/plumb as it is: no build, no unit tests")
    parser.add_argument("--keep-going", action="store_true", help="run what does not need the steps that failed")
    parser.add_argument("--list", action="store_true", help="print the names of the steps")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long, with what has failed by then")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="cores to keep busy")
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").absolute()
    commit = steps.number_of_commit(ROOT)
    table, left_out = steps.table(target, commit)
    if options.list:
        for step in table:
            when = {1: "", steps.NIGHTLY: " (at night)"}.get(step.share, f" (one commit of {step.share})")
            print(step.name + when)
        return 0
    os.environ.update({"PYTHONDONTWRITEBYTECODE": "1"})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # steps are stopped, too
    started = time.monotonic()
    chosen, others = choose(options, table, commit)
    passed = steps.FAST if options.built else ()
    chosen = [step for step in chosen if step.name not in passed]
    results = Schedule(chosen, options.cores, target / "ci", ROOT, passed, options.keep_going,
                       options.minutes).run()
    return report(results, others, [] if options.fast else left_out, time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
