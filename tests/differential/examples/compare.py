"""Differences between the records of two sides."""

import difflib
import json
import re

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIMES = {"created", "modified", "time", "salt", "ciphertext", "sourcePosition", "stackTrace"}
# Lines of the machine, not of the program: dots for each second, frames of the hosts, and where lists begin and end.
NOISE = re.compile(r'@ [\w ]*\.+|[{}\[\],]*|"sourcePosition": ".*(python-exec|/lib/python3).*"|pulumi:pulumi:Stack \S+')


def normal(text, root):
    text = text.replace(str(root), "ROOT")
    text = UUID.sub("UUID", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d+(\.\d+)?(ms|s)\b|\bnode:\d+\b|127\.0\.0\.1:\d+", "N", text)
    return re.sub(r'"duration": \d+', '"duration": N', text)


def lines(text, root):
    """Lines in alphabetical order and without commas at their ends, because steps end in any order, and dependencies stand in it."""
    return sorted(line.rstrip(",") for line in normal(text, root).splitlines() if not NOISE.fullmatch(line.strip()))


def states(text, root):
    """Resources of an exported state by URN, without times and ids of providers."""
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(member) for key, member in value.items() if key not in TIMES}
        if isinstance(value, list):
            return [plain(element) for element in value]
        return normal(value, root) if isinstance(value, str) else value

    resources = (json.loads(text).get("deployment") or {}).get("resources", [])
    found = {}
    for resource in map(plain, resources):
        resource["dependencies"] = sorted(resource.get("dependencies") or [])
        for of_property in (resource.get("propertyDependencies") or {}).values():
            (of_property or []).sort()
        found[resource["urn"]] = resource
    return found


def differences(words, reference, plumb, roots):
    """Texts that describe how two outcomes of a command differ."""
    if reference[0] != plumb[0]:
        yield f"exit {reference[0]} and {plumb[0]}: {plumb[2].strip()[-200:] or plumb[1].strip()[-200:]}"
        return
    if words[:2] == ["stack", "export"] and reference[0] == 0:
        there, here = (states(it[1], root) for it, root in zip((reference, plumb), roots))
        for urn in sorted({*there, *here}):
            if urn not in there or urn not in here:
                yield f"{'-' if urn in there else '+'} {urn}"
            elif there[urn] != here[urn]:
                keys = [key for key in {**there[urn], **here[urn]} if there[urn].get(key) != here[urn].get(key)]
                yield f"{urn} differs in {', '.join(keys)}"
        return
    for at, name in ((1, "stdout"), (2, "stderr")):
        pair = [lines(it[at], root) for it, root in zip((reference, plumb), roots)]
        changes = [it for it in difflib.unified_diff(*pair, lineterm="", n=0) if not it.startswith(("---", "+++", "@@"))]
        if changes:
            yield "\n      ".join([f"{name}, {len(changes)} lines", *(it[:160] for it in changes[:6])])
