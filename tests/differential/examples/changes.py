"""Changes of property values, which follow from their paths, and their description as a provider gives it."""

import re
import zlib

SIGNATURE = "4dabf18193072939515e22adb298388d"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
ADD, DELETE, UPDATE = 0, 2, 4


def number_of(text):
    """A number that looks random and is the same in every run."""
    return zlib.crc32(text.encode())


def changed(value, path, turn):
    """`value` with changes at the places that `path` and `turn` choose. Assets, secrets and references stay as they are."""
    choice = number_of(f"{path} {turn}") % 6
    if isinstance(value, dict):
        if SIGNATURE in value:
            return value
        members = {key: changed(member, f"{path}.{key}", turn) for key, member in value.items()}
        if choice == 0:
            members["added"] = "new value"
        elif choice == 1 and len(members) > 1:
            del members[max(members)]
        elif choice == 2:
            members["addedObject"] = {"list": [1, "two", True], "lines": {"text": "line 1\nline 2"}}
        return members
    if isinstance(value, list):
        elements = [changed(element, f"{path}[{at}]", turn) for at, element in enumerate(value)]
        return {0: [*elements, "appended"], 1: elements[1:], 2: ["first", *elements]}.get(choice, elements)
    if choice > 1 or value is None or value == UNKNOWN:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value}-x" if choice else value.replace("a", "o")
    return value + 1


def details(old, new, path=""):
    """Paths that differ, with the kind of each difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            place = f'{path}["{key}"]' if not re.fullmatch(r"[A-Za-z_]\w*", key) else f"{path}.{key}".lstrip(".")
            yield from _details_of_member(key in old, key in new, old.get(key), new.get(key), place)
    elif isinstance(old, list) and isinstance(new, list):
        for at in range(max(len(old), len(new))):
            there = (old[at] if at < len(old) else None, new[at] if at < len(new) else None)
            yield from _details_of_member(at < len(old), at < len(new), *there, f"{path}[{at}]")
    elif old != new:
        yield path, UPDATE


def _details_of_member(was_there, is_there, old, new, place):
    if not was_there:
        yield place, ADD
    elif not is_there:
        yield place, DELETE
    elif old != new:
        yield from details(old, new, place)
