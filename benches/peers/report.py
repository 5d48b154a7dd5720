"""Tables for people."""

from .engines import CREATE, OPERATIONS, PROGRAM, SAME, VERSION
from .results import Key
from .targets import BUILT_IN, REFERENCE_COUNT, REFERENCES, all_targets, cases, reference

HEADER = ["phase", "engine", "minimum", "median", "CPU", "engine CPU", "engine memory", "program memory", "to plumb"]
PEERS = ["pulumi", "terraform"]


def render(results, titles):
    """The whole report as text."""
    parts = [table("Start-up", version_rows(results))]
    for workload, count in cases(results):
        title = f"{workload}: {count} resources ({titles[workload]})" if count else f"{workload}: {titles[workload]}"
        parts.append(table(title, case_rows(results, workload, count)))
    parts.append(failures(results))
    parts.append(targets(results))
    return "\n\n".join(part for part in parts if part)


def version_rows(results):
    return [row for engine in ["plumb", *PEERS] for row in rows_of(results, Key(engine, "", 0, VERSION))]


def case_rows(results, workload, count):
    rows = []
    for phase in OPERATIONS:
        for engine in ["plumb", *PEERS]:
            rows += rows_of(results, Key(engine, workload, count, phase))
        if phase in (CREATE, SAME):
            rows += baseline_rows(results, workload, count, phase)
    return rows


def rows_of(results, key):
    """The row for what was measured, or for a reference figure in its place; none without either."""
    ours = results.median(Key("plumb", key.workload, key.count, key.phase), "wall")
    if key in results.samples:
        return [measured_row(results, key, key.phase, key.engine, ours)]
    figure = reference(key)
    if figure is None:
        return []
    return [[key.phase, f"{key.engine} (reference)", "", seconds(figure), "", "", "", "", ratio(figure, ours)]]


def baseline_rows(results, workload, count, phase):
    key = Key("baseline", workload, count, PROGRAM)
    if key not in results.samples:
        return []
    ours = results.median(Key("plumb", workload, count, phase), "wall")
    return [measured_row(results, key, phase, "program alone", ours)]


def measured_row(results, key, phase, name, ours):
    median = results.median(key, "wall")
    return [
        phase,
        name,
        seconds(results.minimum(key, "wall")),
        seconds(median),
        seconds(results.median(key, "cpu")),
        seconds(results.median(key, "engine_cpu")),
        megabytes(results.maximum(key, "engine_memory")),
        megabytes(results.maximum(key, "program_memory")),
        ratio(median, ours),
    ]


def failures(results):
    lines = []
    for key, message in results.failures.items():
        # The end of what it printed says why.
        last = message.splitlines()[-1] if message else ""
        lines.append(f"  {key.engine}, {key.workload or 'start-up'}, {key.count} resources, {key.phase}: {last}")
    return "\n".join(["Failed", *lines]) if lines else ""


def targets(results):
    found = all_targets(results)
    rows = [[mark(target), target.claim, target.measured, target.limit] for target in found]
    lines = [table("Targets", rows, ["", "claim", "measured", "target"], left=4)]
    if any(target.is_reference for target in found):
        lines.append(reference_note())
    return "\n".join(lines)


def reference_note():
    figures = [f"{engine} {phase} {value:g} s" for (engine, phase), value in REFERENCES.items()]
    return (
        "Reference figures were measured on another machine, not in this run "
        f"({BUILT_IN}, {REFERENCE_COUNT} resources):\n"
        f"  {', '.join(figures)}."
    )


def mark(target):
    return {True: "pass", False: "FAIL", None: "-"}[target.passed]


def table(title, rows, header=None, left=2):
    """Columns as wide as they need to be; the first `left` ones start at the left."""
    if not rows:
        return ""
    rows = [header or HEADER, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [title]
    for row in rows:
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def seconds(value):
    if value is None:
        return ""
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def megabytes(value):
    return "" if value is None else f"{value / 1e6:.1f} MB"


def ratio(theirs, ours):
    return "" if not theirs or not ours else f"{theirs / ours:.2f} x"
