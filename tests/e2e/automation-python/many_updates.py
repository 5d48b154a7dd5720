#!/usr/bin/env python3
"""Many updates that change nothing from one process: what they leave behind, and whether they become slower.

    tests/e2e/automation-python/many_updates.py --bin target/debug/plumb [--count 1000]

Runs with a Python that has the published SDK. After a tenth of the updates everything is counted, and again at the end:
memory of this process, threads, child processes (zombies among them), open files, temporary files. Growth is a failure; the
limits are written beside what they limit.
"""

import argparse
import gc
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

HOME = tempfile.mkdtemp(prefix="plumb-many-")
os.environ.update({"TMPDIR": f"{HOME}/tmp", "HOME": f"{HOME}/home", "PULUMI_CONFIG_PASSPHRASE": "many"})
for name in ("tmp", "home", "bin"):
    os.mkdir(f"{HOME}/{name}")
tempfile.tempdir = None

from support import World, children, expect, stash  # noqa: E402 (its folders are below the one made here)


def main():
    parser = argparse.ArgumentParser(description="Run many updates from one process.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--count", type=int, default=40, help="how many updates (40)")
    options = parser.parse_args()
    os.symlink(options.bin.absolute(), f"{HOME}/bin/pulumi")
    os.environ["PATH"] = f"{HOME}/bin:{os.environ['PATH']}"
    world = World()
    try:
        return run(world, options.count)
    finally:
        shutil.rmtree(HOME, ignore_errors=True)


def run(world, count):
    stack = world.inline(lambda: stash("a", 1))
    stack.up()
    took, early = [], None
    for number in range(1, count + 1):
        started = time.monotonic()
        result = stack.up(on_event=lambda event: None)
        took.append(time.monotonic() - started)
        expect(result.summary.resource_changes, {"same": 2})
        if number == max(count // 10, 10):
            early = counted(world)
    late = counted(world)
    tenth = max(count // 10, 5)
    first, last = statistics.median(took[:tenth]), statistics.median(took[-tenth:])
    print(f"{count} updates: median of the first {tenth} {first:.3f} s, of the last {tenth} {last:.3f} s")
    for what, before in early.items():
        print(f"  {what}: {before} early, {late[what]} at the end")
    return judge(early, late, first, last, count)


def counted(world):
    """What this process holds now. What is on its way out is waited for, for a while."""
    end = time.monotonic() + 10
    while children() and time.monotonic() < end:
        time.sleep(0.05)
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    files = [it for it in (world.root / "backend").rglob("*") if it.is_file()]
    history = [it for it in files if {"history", "backups"} & set(it.parent.parts)]
    return {
        "memory of the process (KiB)": int(status["VmRSS"].split()[0]),
        "threads": int(status["Threads"]),
        "child processes": len(children()),
        "open files": len(os.listdir("/proc/self/fd")),
        "temporary files": len(os.listdir(os.environ["TMPDIR"])),
        "files of home": sum(1 for _ in (world.root / "home").rglob("*")),
        "files of the history and backups": len(history),
        "other files of the backend": len(files) - len(history),
    }


def judge(early, late, first, last, count):
    """0 if nothing has grown that must not."""
    grown = {what: late[what] - before for what, before in early.items()}
    limits = {
        # A few dozen KiB an update at most: caches of the SDK and of gRPC fill up in the beginning.
        "memory of the process (KiB)": 8192 + 4 * count, "threads": 4, "child processes": 0, "open files": 8,
        "temporary files": 0, "files of home": 0, "other files of the backend": 0}
    problems = [f"{what} has grown by {grown[what]}, more than {limit}" for what, limit in limits.items() if grown[what] > limit]
    if late["child processes"]:
        problems.append("there are child processes left")
    # On a busy machine times say little: only what has become several times slower is a failure.
    if last > 3 * first + 0.5:
        problems.append("the last updates are much slower than the first")
    for problem in problems:
        print(f"FAILED {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
