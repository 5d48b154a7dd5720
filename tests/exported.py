#!/usr/bin/env python3
"""Programs made of states: deployed, exported, and previewed on the same stack.

    tests/exported.py --bin target/debug/plumb --tools .cache/programs [--share N --seed S] [--only NAME] [--keep FOLDER]

Every program in `tests/programs` is converted to Python and deployed. `export-program` then makes programs of its state in Python,
TypeScript and YAML, and their previews must find nothing to do. Only components go, because their code is not in the state.
"""

import argparse
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs import FIRST, NOT_RUN, PROGRAMS, World

LANGUAGES = ("python", "typescript", "yaml")
# The code of hooks is not in the state.
LACKING = {"hooks"}


def main():
    parser = argparse.ArgumentParser(description="Export the states of programs.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--tools", required=True, type=Path, help="the folder of tests/setup-programs.sh")
    parser.add_argument("--only", help="the name of one program")
    parser.add_argument("--share", type=int, default=1, help="one program out of so many")
    parser.add_argument("--seed", type=int, default=0, help="which share of the programs")
    parser.add_argument("--keep", type=Path, help="leave the programs in this folder")
    args = parser.parse_args()
    names = sorted(it.name for it in PROGRAMS.iterdir() if it.is_dir() and it.name not in NOT_RUN | LACKING)
    names = [it for at, it in enumerate(names) if (it == args.only if args.only else (at + args.seed) % args.share == 0)]
    with tempfile.TemporaryDirectory() as folder:
        root = args.keep.resolve() if args.keep else Path(folder)
        world = World(args.bin.resolve(), args.tools.resolve(), None, None, None, root)
        with ThreadPoolExecutor(2) as pool:
            failures = [it for found in pool.map(lambda name: check(world, name), names) for it in found]
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(names)} states exported to {len(LANGUAGES)} languages, {len(failures)} failures")
    sys.exit(1 if failures else 0)


def check(world, name):
    """Deploys one program and exports its state; returns what failed."""
    program, state = world.root / FIRST / name, world.root / "states" / name
    state.mkdir(parents=True)
    convert = ["convert", "--from", "pcl", "--language", FIRST, "--out", str(program), "--name", name, "--generate-only"]
    failure = ran(world, convert, PROGRAMS / name, state) or ran(world, ["stack", "init", "dev"], program, state)
    if not failure:
        world.share_packages(program)
        world.configure(name, program, state)
    failure = failure or ran(world, ["up", "--yes", "--skip-preview"], program, state)
    if failure:
        return [f"{name}: {failure}"]
    failures = []
    for language in LANGUAGES:
        out = world.root / "exported" / language / name
        export = ["export-program", "--language", language, "--out", str(out), "--generate-only"]
        problem = ran(world, export, program, state)
        if not problem:
            world.share_packages(out)
            problem = changes(world, out, state, language)
        if problem:
            failures.append(f"{name}: {language}: {problem}")
    return failures


def ran(world, words, cwd, state):
    done = world.plumb(*words, cwd=cwd, state=state)
    return f"{words[0]}: {done.stdout[-2000:]}{done.stderr[-3000:]}" if done.returncode else None


def changes(world, out, state, language):
    """What a preview finds to do, apart from components that go."""
    done = world.plumb("preview", "--stack", "dev", "--json", cwd=out, state=state)
    if done.returncode:
        return f"preview: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    found = []
    for step in json.loads(done.stdout)["steps"]:
        resource = step.get("oldState") or step["newState"]
        is_component = step["op"] == "delete" and not resource.get("custom")
        # The SDK of another language has another version, and that of YAML none.
        is_version = step["op"] == "update" and language != FIRST and resource["type"].startswith("pulumi:providers:")
        if step["op"] != "same" and not is_component and not is_version:
            found.append(f"{step['op']} {step['urn']} {json.dumps(step.get('detailedDiff'))}")
    return "\n".join(found) or None


if __name__ == "__main__":
    main()
