#!/usr/bin/env python3
"""SDKs for .NET, generated from every schema in `tests/data/schemas`: a grammar of C# accepts them, every class that they name
is there, and those of published packages offer what the published ones do.

    tests/codegen/csharp.py --bin PLUMB [--published FOLDER] [--show] [--record]

Runs with the Python of `tests/setup-csharp-grammar.sh`. What published packages offer is known by a digest for each class
(`csharp-published.txt`). FOLDER holds their sources, a folder for each package; with it differences are told line by line, and
`--record` writes the digests anew. `--show` prints differences that have a reason, too.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tree_sitter
import tree_sitter_c_sharp

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent / "data" / "schemas"
DIGESTS = HERE / "csharp-published.txt"
DIFFERENCES = HERE / "csharp-differences.txt"
PUBLISHED = ("random", "command", "std", "docker", "eks")
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c_sharp.language()))

# What is not generated, or is not there, and why.
EXPECTED = (
    (r"^overlay-supported-languages: .* is not declared", "types that people add by hand"),
    (r"^kubernetes20: .*KubernetesResource is not declared", "a class that people add by hand"),
    (r"^different-package-name-conflict: .*same file", "three resources called alike in one module"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="plumb-csharp-sdks-"))
    try:
        failures = check(args, work)
    finally:
        shutil.rmtree(work)
    print("\n".join(failures), file=sys.stderr, end="\n" if failures else "")
    return 1 if failures else 0


def check(args, work):
    failures, surfaces, parsed = [], {}, 0
    for schema in schemas():
        name = schema.stem
        done = subprocess.run(
            [args.bin.resolve(), "package", "gen-sdk", "--language", "csharp", "--out", work / name, schema],
            capture_output=True, text=True)
        if done.returncode != 0:
            failures.append(f"{name}: {done.stderr.strip()}")
            continue
        parsed += 1
        facts, faults = read(work / name / "dotnet")
        failures += [f"{name}: {fault}" for fault in faults]
        failures += [f"{name}: {fault}" for fault in undeclared(work / name / "dotnet", facts)]
        if name in PUBLISHED:
            surfaces[name] = facts
    failures = [it for it in failures if not any(re.search(pattern, it) for pattern, _ in EXPECTED)]
    print(f"{parsed} SDKs are C#")
    return failures + (compare(args, surfaces) if args.published else compare_digests(surfaces))


def schemas():
    folders = [SCHEMAS, SCHEMAS / "cases", SCHEMAS / "cases" / "parameterized", SCHEMAS / "cases" / "programs"]
    files = [file for folder in folders for file in folder.iterdir() if file.suffix in (".json", ".yaml")]
    # An extension of another package, and names that mean ill.
    made_up = [HERE / "use-go" / "extension.json", HERE / "use-go" / "hostile.json"]
    return [*made_up, *sorted(file for file in files if file.name != "import-states.json")]


def read(folder):
    """What an SDK offers, and what is no C#."""
    facts, faults = set(), []
    for file in sorted(folder.rglob("*.cs")):
        tree = PARSER.parse(file.read_bytes())
        if tree.root_node.has_error:
            faults.append(f"{file.relative_to(folder)}:{broken(tree.root_node)} is no C#")
        Reader(facts).walk(tree.root_node, "")
    return facts, faults


def broken(node):
    while True:
        child = next((it for it in node.children if it.has_error or it.is_missing), None)
        if child is None or node.is_error:
            return node.start_point[0] + 1
        node = child


def undeclared(folder, facts):
    """Classes of the SDK that are mentioned in full and are nowhere."""
    declared = {fact.split(": ", 1)[0] for fact in facts}
    root = next(file.stem for file in folder.iterdir() if file.suffix == ".csproj")
    mentioned = set()
    for file in folder.rglob("*.cs"):
        mentioned |= set(re.findall(r"global::(%s(?:\.\w+)+)" % re.escape(root), file.read_text()))
    for name in sorted(mentioned):
        steps = name.split(".")
        prefixes = {".".join(steps[:index]) for index in range(1, len(steps) + 1)}
        is_internal = name.startswith(f"{root}.Utilities.") or name.endswith("ResourceTypeAttribute")
        if not prefixes & declared and not is_internal:
            yield f"{name} is not declared"


def short(text):
    """Types without where they are, and without spaces that mean nothing."""
    text = re.sub(r"\s+", " ", text).replace('@"', '"').replace("\\n", " ").strip()
    text = re.sub(r"\b(?:global::)?(?:[A-Za-z_]\w*\.)+(?=[A-Z]\w*)", "", text)
    return re.sub(r" ?([<>(){},;?=]) ?", r"\1", text)


class Reader:
    """Collects facts of declarations."""

    def __init__(self, facts):
        self.facts = facts

    def walk(self, node, path):
        for child in node.children:
            kind = child.type
            if kind in ("namespace_declaration", "class_declaration", "struct_declaration", "enum_declaration"):
                name = text(child.child_by_field_name("name"))
                below = f"{path}.{name}" if path else name
                if kind != "namespace_declaration":
                    if "public" not in modifiers(child):
                        continue
                    self.declared(child, below, kind)
                self.walk(child.child_by_field_name("body"), below)
            elif kind.endswith("_declaration") or kind == "enum_member_declaration":
                self.member(child, path)
            elif kind in ("declaration_list", "enum_member_declaration_list"):
                self.walk(child, path)

    def put(self, path, fact):
        self.facts.add(f"{path}: {fact}")

    def declared(self, node, path, kind):
        words = modifiers(node)
        bases = [text(it) for it in node.children if it.type == "base_list"]
        self.put(path, " ".join([*attributes(node), *words, kind.split("_")[0], *map(short, bases)]))

    def member(self, node, path):
        words, marks = modifiers(node), attributes(node)
        kind = node.type
        if kind == "enum_member_declaration":
            return self.put(path, short(text(node)))
        is_kept = kind == "field_declaration" and any("Input" in it for it in marks)
        is_read = kind == "constructor_declaration" and any("OutputConstructor" in it for it in marks)
        if "public" not in words and not is_kept and not is_read:
            return None
        if kind == "property_declaration":
            accessors = node.child_by_field_name("accessors")
            can = sorted(re.findall(r"(private set|set|get)\b", text(accessors))) if accessors else ["get"]
            can = [it for it in ("get", "private set", "set") if it in can]
            fact = f"{text(node.child_by_field_name('type'))} {text(node.child_by_field_name('name'))} {can}"
        elif kind == "field_declaration":
            fact = re.sub(r" ?=.*", ";", text(node).split("]")[-1] if marks else text(node))
        else:
            parts = [it for it in node.children if it.type not in ("attribute_list", "modifier", "block", "arrow_expression_clause", ";")]
            fact = "".join(text(it) + " " for it in parts if it.type != "constructor_initializer")
            if kind == "constructor_declaration" and is_public(words):
                self.filled(node, path)
        self.put(path, short(" ".join([*marks, *words, fact])))
        return None

    def filled(self, node, path):
        """What a constructor fills in."""
        body = node.child_by_field_name("body")
        for statement in re.findall(r"^\s*(\w+ = .*;)$", text(body) if body else "", re.MULTILINE):
            if "Utilities" in statement or re.match(r"[A-Z]\w* = (\"|-?[0-9]|true|false|[\w.:]+\.[A-Z]\w*;)", statement):
                self.put(path, f"fills in {short(statement)}")


def is_public(words):
    return "public" in words


def text(node):
    return node.text.decode()


def modifiers(node):
    return [text(it) for it in node.children if it.type == "modifier"]


def attributes(node):
    marks = []
    for child in node.children:
        if child.type == "attribute_list":
            mark = re.sub(r"\w*ResourceType(Attribute)?\(", "ResourceType(", short(text(child)))
            if "EditorBrowsable" not in mark:
                marks.append(mark)
    return sorted(marks)


def compare(args, surfaces):
    """Differences to what is published, without those that have a reason."""
    reasons = [line.split("\t") for line in DIFFERENCES.read_text().splitlines() if line.strip() and not line.startswith("#")]
    used, failures, records = set(), [], []
    for name in PUBLISHED:
        ours, (theirs, _) = surfaces[name], read(args.published / name)
        differences = [f"+ {line}" for line in sorted(ours - theirs)] + [f"- {line}" for line in sorted(theirs - ours)]
        explained = 0
        for difference in differences:
            known = [(index, it) for index, it in enumerate(reasons) if it[0] in ("*", name) and re.search(it[1], difference)]
            if not known:
                failures.append(f"{name}: {difference}")
                continue
            explained += 1
            used.add(known[0][0])
            if args.show:
                print(f"{name}: {difference}  ({known[0][1][2]})")
        print(f"{name}: {len(theirs)} facts, {explained} differences with a reason, {len(differences) - explained} without")
        records += [f"{name} {digest}" for digest in digests(ours)]
    failures += [f"{DIFFERENCES.name}: nothing differs like {it[1]}" for index, it in enumerate(reasons) if index not in used]
    if args.record and not failures:
        DIGESTS.write_text(
            "# Classes of published packages, with a digest of what each offers where the generated one offers the same, or differs\n"
            "# for a reason that csharp-differences.txt gives. Written by csharp.py --published FOLDER --record.\n"
            + "".join(f"{line}\n" for line in records))
    return failures


def digests(facts):
    """A line for each class."""
    classes = {}
    for fact in sorted(facts):
        classes.setdefault(fact.split(":", 1)[0], []).append(fact)
    return [f"{name} {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:12]}" for name, lines in sorted(classes.items())]


def compare_digests(surfaces):
    known = [line for line in DIGESTS.read_text().splitlines() if not line.startswith("#")]
    failures = []
    for name in PUBLISHED:
        ours = {f"{name} {line}" for line in digests(surfaces[name])}
        theirs = {line for line in known if line.startswith(f"{name} ")}
        failures += [f"other than published, ask --published: {line}" for line in sorted(ours ^ theirs)]
        print(f"{name}: {len(theirs)} classes as published")
    return failures


if __name__ == "__main__":
    sys.exit(main())
