"""Tables for people, and goals."""

from statistics import median

from peers.report import seconds, table

RATIO_LIMIT = 1.10
START_LIMIT = 0.060

PAIRS_HEADER = ["language", "shape", "phase", "alone", "Plumb", "ratio", "of medians", "CPU added", "engine CPU", "goal"]
STARTS_HEADER = ["language", "", "SDK alone", "program alone", "Plumb", "over SDK", "goal"]


def meets_ratio(pairs):
    return pairs.ratio_of_minima <= RATIO_LIMIT


def meets_start(starts):
    return starts.over_bare <= START_LIMIT


def mark(is_met):
    return "pass" if is_met else "FAIL"


def render(pairs, starts, count):
    rows = [
        [
            one.language,
            one.shape,
            one.phase,
            seconds(min(one.alone)),
            seconds(min(one.plumb)),
            f"{one.ratio_of_minima:.2f}",
            f"{one.ratio_of_medians:.2f}",
            seconds(one.added_cpu),
            seconds(min(one.engine_cpu)),
            mark(meets_ratio(one)),
        ]
        for one in pairs
    ]
    starting = [
        [
            one.language,
            "",
            seconds(min(one.bare)),
            seconds(min(one.alone)),
            seconds(min(one.plumb)),
            seconds(one.over_bare),
            mark(meets_start(one)),
        ]
        for one in starts
    ]
    return "\n\n".join(
        [
            table(
                f"{count} resources, fastest runs; at most {RATIO_LIMIT} times the program alone", rows, PAIRS_HEADER, left=3
            ),
            table(
                f"From the start to the answer of the first registration; at most {START_LIMIT * 1000:.0f} ms over the SDK",
                starting,
                STARTS_HEADER,
            ),
        ]
    )


def to_json(pairs, starts):
    return {
        "pairs": [
            vars(one)
            | {"ratio_of_minima": one.ratio_of_minima, "ratio_of_medians": one.ratio_of_medians, "met": meets_ratio(one)}
            for one in pairs
        ],
        "starts": [
            vars(one)
            | {"over_bare": one.over_bare, "median_over_bare": median(one.plumb) - median(one.bare), "met": meets_start(one)}
            for one in starts
        ],
    }
