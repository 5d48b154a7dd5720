#!/usr/bin/env python3
"""Programs of PCL in C#: a grammar of C# accepts them, and all that they name in SDKs is there. There is no need for .NET.

    tests/codegen/csharp_programs.py --bin PLUMB [--keep FOLDER]

Runs with the Python of `tests/setup-csharp-grammar.sh`. Every program of `tests/programs` is converted. Classes, the properties
that initializers set, and the properties of resources that programs read are looked up in the SDKs that `plumb` makes.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from csharp import PARSER, broken, read, text

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
SDKS = ("random", "command", "std")
# Programs that C# has no form for yet, and says so.
LACKING = {"hooks"}
# Properties that all resources have.
INHERITED = {"Id", "Urn", "GetResourceName", "GetResourceType"}


def main():
    parser = argparse.ArgumentParser(description="Check programs in C#.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--keep", type=Path, help="leave the programs in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = args.keep.resolve() if args.keep else Path(folder)
        failures, count = check(args.bin.resolve(), root)
    print("\n".join(failures), file=sys.stderr, end="\n" if failures else "")
    print(f"{count} programs in C# are checked, {len(failures)} failures")
    return 1 if failures else 0


def check(binary, root):
    environment = {**os.environ, "PULUMI_HOME": str(root / "home"), "PULUMI_BACKEND_URL": f"file://{root}"}
    root.mkdir(parents=True, exist_ok=True)

    def run(words, cwd):
        return subprocess.run([binary, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)

    known, failures, count = {}, [], 0
    schemas = PROGRAMS.parent / "data" / "schemas"
    for name in SDKS:
        words = ["package", "gen-sdk", "--language", "csharp", "--out", root / "sdks" / name, schemas / f"{name}.json"]
        run(words, root).check_returncode()
        for fact in read(root / "sdks" / name / "dotnet")[0]:
            owner, _, what = fact.partition(": ")
            known.setdefault(owner, []).append(what)
    for program in sorted(it for it in PROGRAMS.iterdir() if it.is_dir()):
        out = root / program.name
        words = ["convert", "--from", "pcl", "--language", "csharp", "--out", out, "--name", program.name]
        done = run([*words, "--generate-only", "--strict"], program)
        if program.name in LACKING:
            if "programs in C# have no form" not in done.stderr:
                failures.append(f"{program.name}: has a form now")
            continue
        if done.returncode != 0:
            failures.append(f"{program.name}: {done.stderr.strip()}")
            continue
        count += 1
        for file in sorted(out.glob("*.cs")):
            failures += [f"{program.name}/{file.name}: {fault}" for fault in faults(file, known)]
    return failures, count


def faults(file, known):
    """What is wrong in a program."""
    tree = PARSER.parse(file.read_bytes())
    if tree.root_node.has_error:
        yield f"line {broken(tree.root_node)} is no C#"
        return
    aliases = dict(re.findall(r"^using (\w+) = ([\w.]+);$", file.read_text(), re.MULTILINE))
    resources = {}
    for node in walk(tree.root_node):
        if node.type != "object_creation_expression":
            continue
        written = text(node.child_by_field_name("type"))
        alias, _, rest = written.partition(".")
        if alias not in aliases:
            continue
        name = f"{aliases[alias]}.{rest}"
        if name not in known:
            yield f"the class {name} is nowhere"
            continue
        own = next((it for it in node.children if it.type == "initializer_expression"), None)
        if own is not None:
            yield from unknown(own, name, known)
        arguments = node.child_by_field_name("arguments")
        for argument in walk(arguments) if arguments else ():
            if argument.type == "implicit_object_creation_expression" and argument.parent.parent == arguments:
                inner = next((it for it in argument.children if it.type == "initializer_expression"), None)
                if inner is not None:
                    yield from unknown(inner, f"{name}Args", known)
        if node.parent.type == "variable_declarator":
            resources[text(node.parent.children[0])] = name
    for node in walk(tree.root_node):
        if node.type != "member_access_expression":
            continue
        receiver, member = text(node.child_by_field_name("expression")), text(node.child_by_field_name("name"))
        if receiver in resources and member not in INHERITED and not has(known, resources[receiver], member):
            yield f"{resources[receiver]} has no {member}"
        if member == "Invoke":
            alias, _, rest = receiver.partition(".")
            if f"{aliases.get(alias)}.{rest}" not in known:
                yield f"the function {receiver} is nowhere"


def unknown(initializer, name, known):
    """Properties that an initializer sets and the class does not have."""
    for child in initializer.children:
        if child.type == "assignment_expression":
            member = text(child.child_by_field_name("left"))
            if not has(known, name, member):
                yield f"{name} has no {member}"


def has(known, name, member):
    return any(re.search(rf"\b{re.escape(member)} \[", what) for what in known.get(name, ()))


def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)


if __name__ == "__main__":
    sys.exit(main())
