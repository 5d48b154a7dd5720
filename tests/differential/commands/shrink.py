"""The shortest script that still shows a difference."""


def shrink(steps, still_differs, rounds=40):
    """Drops steps, the last first, as long as `still_differs` says so."""
    left = rounds
    at = len(steps) - 1
    while at >= 0 and left > 0:
        shorter = steps[:at] + steps[at + 1:]
        left -= 1
        if shorter and still_differs(shorter):
            steps = shorter
        at = min(at - 1, len(steps) - 1)
    return steps
