"""The goals for speed and memory, and whether this run meets them.

Times are medians over the runs, memory is the maximum. What an engine adds to a program is a small difference of large
numbers, which noise would drown, so there the fastest runs are compared.

Where a peer did not run here, the target is held against a reference figure. That was measured on another machine, so
the ratio is a rough one, and it says so.
"""

from dataclasses import dataclass

from .engines import CREATE, DESTROY, OPERATIONS, PROGRAM, SAME, VERSION
from .projects import WORKLOADS
from .results import Key

# Seconds, for 1,000 built-in resources, and for `version`.
REFERENCES = {
    ("pulumi", CREATE): 55.0,
    ("pulumi", DESTROY): 47.0,
    ("pulumi", SAME): 1.4,
    ("pulumi", VERSION): 0.140,
    ("terraform", CREATE): 14.0,
    ("terraform", DESTROY): 19.0,
    ("terraform", SAME): 1.4,
    ("terraform", VERSION): 0.042,
}
REFERENCE_COUNT = 1000
BUILT_IN = "stash-yaml"

TIMES_FASTER = {("pulumi", CREATE): 200, ("terraform", CREATE): 50, ("pulumi", SAME): 10, ("terraform", SAME): 10}
GROWTH = 12
VERSION_LIMIT = 0.010
EMPTY_LIMIT = 0.060
MEMORY_BASE = 60e6
MEMORY_EACH = 10e3
BASELINE_RATIO = 1.15
IDEAL_RATIO = 1.1
IDEAL_COUNT = 10000


@dataclass
class Target:
    """A claim with a number beside it; `passed` is None when nothing was measured."""

    claim: str
    measured: str
    limit: str
    passed: bool | None
    is_reference: bool = False


def all_targets(results):
    return [
        *faster_than_peers(results),
        *growth(results),
        start_up(results),
        empty(results),
        *memory(results),
        *overhead(results),
        *ideal(results),
    ]


def reference(key):
    """The reference figure for a peer, or None."""
    is_measured = key.phase == VERSION or (key.workload == BUILT_IN and key.count == REFERENCE_COUNT)
    return REFERENCES.get((key.engine, key.phase)) if is_measured else None


def faster_than_peers(results):
    for (peer, phase), times in TIMES_FASTER.items():
        ours = results.median(Key("plumb", BUILT_IN, REFERENCE_COUNT, phase), "wall")
        peer_key = Key(peer, BUILT_IN, REFERENCE_COUNT, phase)
        theirs = results.median(peer_key, "wall")
        is_reference = theirs is None
        if is_reference:
            theirs = reference(peer_key)
        source = f"reference figure, {theirs:g} s" if is_reference else "this run"
        claim = f"{phase} of {REFERENCE_COUNT} built-in resources against {peer} ({source})"
        if ours is None:
            yield Target(claim, "not measured", f"at least {times} times faster", None, is_reference)
        else:
            ratio = theirs / ours
            measured = f"{ratio:.1f} times faster"
            yield Target(claim, measured, f"at least {times} times", ratio >= times, is_reference)


def growth(results):
    """10,000 resources against 1,000: the worst operation of each workload in which the engine is what takes time."""
    slow = {workload.name for workload in WORKLOADS if workload.is_slow}
    for workload in workloads(results):
        if workload in slow:
            continue
        ratios = {}
        for phase in OPERATIONS:
            small = results.median(Key("plumb", workload, 1000, phase), "wall")
            large = results.median(Key("plumb", workload, 10000, phase), "wall")
            if small and large:
                ratios[phase] = large / small
        claim = f"{workload}: 10000 resources against 1000"
        if not ratios:
            yield Target(claim, "not measured", f"at most {GROWTH} times", None)
            continue
        worst = max(ratios, key=ratios.get)
        measured = f"{ratios[worst]:.1f} times ({worst})"
        yield Target(claim, measured, f"at most {GROWTH} times", ratios[worst] <= GROWTH)


def start_up(results):
    return at_most_seconds("`version`", results.median(Key("plumb", "", 0, VERSION), "wall"), VERSION_LIMIT)


def empty(results):
    seconds = results.median(Key("plumb", "empty", 0, CREATE), "wall")
    return at_most_seconds("`up` without resources", seconds, EMPTY_LIMIT)


def at_most_seconds(claim, seconds, limit):
    text = f"at most {limit * 1000:.0f} ms"
    if seconds is None:
        return Target(claim, "not measured", text, None)
    return Target(claim, f"{seconds * 1000:.1f} ms", text, seconds <= limit)


def memory(results):
    """The engine's own memory: the worst operation of each workload and size."""
    for workload, count in cases(results):
        peaks = {}
        for phase in OPERATIONS:
            peak = results.maximum(Key("plumb", workload, count, phase), "engine_memory")
            if peak is not None:
                peaks[phase] = peak
        if not peaks:
            continue
        worst = max(peaks, key=peaks.get)
        limit = MEMORY_BASE + MEMORY_EACH * count
        claim = f"{workload}: engine memory for {count} resources"
        measured = f"{peaks[worst] / 1e6:.1f} MB ({worst})"
        yield Target(claim, measured, f"at most {limit / 1e6:.1f} MB", peaks[worst] <= limit)


def overhead(results):
    """What the engine adds to a program that it runs."""
    for workload, count in cases(results):
        alone = results.minimum(Key("baseline", workload, count, PROGRAM), "wall")
        if alone is None:
            continue
        for phase in (CREATE, SAME):
            ours = results.minimum(Key("plumb", workload, count, phase), "wall")
            if ours is not None:
                claim = f"{workload}: {phase} of {count} resources against the program alone"
                measured = f"{ours / alone:.2f} times ({ours:.2f} s, {alone:.2f} s alone)"
                yield Target(claim, measured, f"at most {BASELINE_RATIO} times", ours / alone <= BASELINE_RATIO)


def ideal(results):
    """What the engine adds to a provider that takes its time."""
    for workload in (workload for workload in WORKLOADS if workload.is_slow):
        seconds = results.median(Key("plumb", workload.name, IDEAL_COUNT, CREATE), "wall")
        if seconds is not None:
            alone = IDEAL_COUNT / workload.parallel * workload.call_seconds
            claim = f"{workload.name}: {CREATE} of {IDEAL_COUNT} resources against the provider's calls alone"
            measured = f"{seconds / alone:.2f} times ({seconds:.2f} s, {alone:.2f} s alone)"
            yield Target(claim, measured, f"at most {IDEAL_RATIO} times", seconds / alone <= IDEAL_RATIO)


def cases(results):
    found = ((key.workload, key.count) for key in results.keys() if key.engine == "plumb" and key.workload)
    return list(dict.fromkeys(found))


def workloads(results):
    return list(dict.fromkeys(workload for workload, count in cases(results) if count))
