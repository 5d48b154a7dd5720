"""Differences on purpose: a pattern for the signature, and the reason."""

import re

ACCEPTED = [
    (r"^version ", "a reference built from sources says no version"),
    (r"^(up|preview|refresh|destroy) stderr <missing> \| Replaced or deleted, and why:", "the reasons of replacements"),
    (r"invalid YAML file|could not validate|did not find expected", "problems of files have the words of another parser, and places"),
    (r"^stack change-secrets-provider exit", "an empty passphrase is not taken from nobody"),
    (r"^config set exit .*as bool", "what is no truth value is refused"),
    (r"cannot unmarshal .* \| .*invalid type", "JSON of another shape has the words of another parser"),
    (r"^state (move|mv|repair) exit # .*requires --yes", "states are not changed without a confirmation"),
    (r"^stack export .*ability to export previous", "previous states can be exported"),
    (r"^state upgrade exit # .*requires --yes", "stores are not changed without a confirmation"),
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
