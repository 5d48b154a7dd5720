"""Differences of two outcomes, and their signatures."""

import collections
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """A difference of one step."""

    step: int
    command: str
    part: str
    expected: str
    actual: str

    @property
    def signature(self):
        """The same for the same fault in other scripts: names and numbers do not count."""
        return f"{self.command} {self.part} {_plain(self.expected)} | {_plain(self.actual)}"


def compare(number, words, reference, plumb):
    """Every part of the outcome that differs, with its first differing lines."""
    command = command_of(words)
    if reference.exit != plumb.exit:
        said = lambda outcome: next(iter(outcome.stderr), "")
        yield Difference(number, command, "exit", f"{reference.exit} {said(reference)}", f"{plumb.exit} {said(plumb)}")
        return
    for part in ("stdout", "stderr"):
        both = [getattr(outcome, part) for outcome in (reference, plumb)]
        pair = first_difference(*(without_order(*both) if command in OPERATIONS else both))
        if pair:
            yield Difference(number, command, part, *pair)
    for name in sorted({*reference.files, *plumb.files}):
        # Settings that held nothing but a salt are not there on the other side.
        both = [files.get(name) or None if name.endswith(".yaml") else files.get(name) for files in (reference.files, plumb.files)]
        pair = first_difference(*both)
        if pair:
            yield Difference(number, command, f"file {name}", *pair)


OPERATIONS = ("up", "preview", "refresh", "destroy", "import")


def without_order(expected, actual):
    """The lines that one side has and the other has not: the reference shows rows and problems in an order of chance."""
    counted = [collections.Counter(lines) for lines in (expected, actual)]
    only = lambda lines, ours, theirs: [line for line in lines if ours[line] > theirs[line]]
    return only(expected, *counted), only(actual, *reversed(counted))


def command_of(words):
    """The words that name the command."""
    named = []
    for word in words[:3]:
        if word.startswith("-") or not re.fullmatch(r"[a-z-]+", word) or (named and named[0] not in ("stack", "config", "state", "tag", "plugin", "policy", "org", "project")):
            break
        named.append(word)
        if len(named) == 2 and word not in ("tag", "env"):
            break
    return " ".join(named)


def first_difference(expected, actual):
    if expected == actual:
        return None
    if expected is None or actual is None:
        shown = lambda lines: "<none>" if lines is None else "<there>"
        return shown(expected), shown(actual)
    for at in range(max(len(expected), len(actual))):
        pair = tuple(lines[at] if at < len(lines) else "<missing>" for lines in (expected, actual))
        if pair[0] != pair[1]:
            return pair
    return None


def _plain(line):
    line = re.sub(r"urn:pulumi:\S*", "URN", line)
    line = re.sub(r"'[^']*'", "'_'", line)
    line = re.sub(r'\\?"[^"]*"', '"_"', line)
    return re.sub(r"\d+", "#", line)[:160]
