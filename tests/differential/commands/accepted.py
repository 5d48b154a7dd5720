"""Differences on purpose: a pattern for the signature and, behind ` $ `, the command; and the reason."""

import re

ACCEPTED = [
    (r"^version ", "a reference built from sources says no version"),
    (r"^(up|preview|refresh|destroy) stderr <missing> \| Replaced or deleted, and why:", "the reasons of replacements"),
    (r"searching upwards from \) .*\| .*searching upwards from \S", "the folder is named where the reference names none"),
    (r"invalid YAML file|could not validate|did not find expected", "problems of files have the words of another parser, and places"),
    (r"^stack change-secrets-provider exit", "an empty passphrase is not taken from nobody"),
    (r"^config set exit .*as bool", "what is no truth value is refused"),
    (r"cannot unmarshal .* \| .*invalid type", "JSON of another shape has the words of another parser"),
    (r"^state (move|mv|repair) exit # .*requires --yes", "states are not changed without a confirmation"),
    (r"^stack export .*ability to export previous", "previous states can be exported"),
    (r"^state upgrade exit # .*requires --yes", "stores are not changed without a confirmation"),
    (r"^state (move|mv) stdout .*(\x1b|Do you want)", "a move is not done without a confirmation"),
    (r"^.* stderr .*(hint\[|fatal error|goroutine|panic)", "hints are this program's own; nothing is said where the reference crashes"),
    (r" (stdout|stderr) <help> \| <missing>", "the reference shows its help beside some errors"),
    (r" snapshot integrity error\. This is a bug!", "what is wrong with a state is said in a line, and what only shows it does so"),
    (r"^stack history stdout (Version: #|    \"_\": #,?) \| ", "updates are numbered"),
    (r"^destroy (stdout|file <store>).*\$ .*--run-program", "what a destroy makes because the program says so is deleted again"),
    (r"^(console|policy ls|logs) ", "what is not there is said in words of its own"),
    (r"^(schema check|login|stack select) stderr ", "mistakes in schemas, addresses and names of providers have words of their own"),
    (r"^plugin (ls|list) ", "languages are built in"),
]
COMPILED = [(re.compile(pattern, re.DOTALL), reason) for pattern, reason in ACCEPTED]


def reason_for(signature, words):
    """Why a difference of the command with these words is accepted; None if it is not."""
    subject = f"{signature} $ {' '.join(words)}"
    for pattern, reason in COMPILED:
        if pattern.search(subject):
            return reason
    return None
