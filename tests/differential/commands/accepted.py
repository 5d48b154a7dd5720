"""Differences on purpose: a pattern for the signature, and the reason."""

import re

ACCEPTED = [
    (r"^state (move|mv) stdout .*(\x1b|Do you want)", "a move is not done without a confirmation"),
    (r"^.* stderr .*(hint\[|fatal error|goroutine|panic)", "hints are this program's own; nothing is said where the reference crashes"),
    (r"^.* stdout .*<missing> \| Usage:", "the reference shows its help below some errors"),
]
COMPILED = [(re.compile(pattern, re.DOTALL), reason) for pattern, reason in ACCEPTED]


def reason_for(signature):
    """Why a difference is accepted; None if it is not."""
    for pattern, reason in COMPILED:
        if pattern.search(signature):
            return reason
    return None
