#!/usr/bin/env python3
"""SDKs for Java, generated from every schema in `tests/data/schemas`: they compile, and those of published packages offer what
the published ones do.

    tests/codegen/java.py --bin PLUMB --repository .cache/java/sdk-1.36.1 [--published FOLDER] [--show] [--record]

`--repository` is the folder that `tests/setup-java.sh` makes. What published packages offer is known by a digest for each
class (`java-published.txt`). FOLDER holds their sources, as `<package>/src/main/java`; with it differences are told line by
line, and `--record` writes the digests anew. `--show` prints differences that have a reason, too.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent / "data" / "schemas"
DIGESTS = HERE / "java-published.txt"
PUBLISHED = ("random", "command", "std", "docker", "eks")

# What does not compile, or is not generated, and why.
EXPECTED = (
    (r"^overlay-supported-languages: .*(cannot find symbol|does not exist)", "types that people add by hand"),
    (r"^different-package-name-conflict: .*same file", "three resources called alike in one module"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--repository", required=True, type=Path)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="plumb-java-sdks-"))
    try:
        failures = check(args, work)
    finally:
        shutil.rmtree(work)
    print("\n".join(failures), file=sys.stderr, end="\n" if failures else "")
    return 1 if failures else 0


def check(args, work):
    failures = []
    jobs = []
    compiled = 0
    path = class_path(args.repository.resolve())
    known = {name for jar in path.split(os.pathsep) for name in zipfile.ZipFile(jar).namelist()}
    for schema in schemas():
        name = schema.stem
        done = subprocess.run(
            [args.bin.resolve(), "package", "gen-sdk", "--language", "java", "--out", work / name, schema],
            capture_output=True, text=True)
        if done.returncode != 0:
            failures.append(f"{name}: {done.stderr.strip()}")
            continue
        compiled += 1
        stand_in(work / name / "java", work / name / "others", known)
        jobs += ["compile", work / name / "java", work / name / "others", work / name / "classes"]
        if name in PUBLISHED:
            jobs += ["surface", work / name / "classes", work / name / "surface", root_of(work / name / "java")]
    if args.published:
        for name in PUBLISHED:
            sources, others, classes = args.published.resolve() / name, work / name / "their-others", work / name / "their-classes"
            stand_in(sources, others, known)
            jobs += ["compile", sources, others, classes, "surface", classes, work / name / "published", root_of(sources)]
    done = subprocess.run(["java", "-Xss8m", HERE / "java" / "Sdks.java", path, *jobs], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        return failures + [done.stdout, done.stderr]
    for line in done.stdout.splitlines():
        folder, fault = line.split("\t", 1)
        failures.append(f"{Path(folder).parent.name}: {fault}")
    failures = [it for it in failures if not any(re.search(pattern, it) for pattern, _ in EXPECTED)]
    failures += compare(args, work)
    print(f"{compiled} SDKs compile")
    return failures


def schemas():
    folders = [SCHEMAS, SCHEMAS / "cases", SCHEMAS / "cases" / "parameterized", SCHEMAS / "cases" / "programs"]
    files = [file for folder in folders for file in folder.iterdir() if file.suffix in (".json", ".yaml")]
    return sorted(file for file in files if file.name != "import-states.json")


def root_of(sources):
    """The package that an SDK begins with."""
    utilities = min(sources.rglob("Utilities.java"), key=lambda file: len(file.parts))
    return ".".join(utilities.parent.relative_to(sources / "src" / "main" / "java").parts)


def stand_in(sources, others, known):
    """Classes of SDKs that are not installed here, with nothing in them."""
    own = root_of(sources) + "."
    for source in sources.rglob("*.java"):
        for name in re.findall(r"\bcom(?:\.[a-z_]\w*)+\.[A-Z]\w*", source.read_text()):
            path = name.replace(".", "/")
            file = others / f"{path}.java"
            if name.startswith(own) or f"{path}.class" in known or file.exists():
                continue
            package, simple = name.rsplit(".", 1)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"package {package};\npublic class {simple} {{}}\n")


def class_path(repository):
    """All that the SDK needs, out of a local Maven repository."""
    folders = ["com/pulumi/pulumi", "com/google", "io/grpc"]
    jars = [jar for folder in folders for jar in sorted((repository / folder).rglob("*.jar"))]
    return os.pathsep.join(str(jar) for jar in jars)


def compare(args, work):
    """Differences to what is published, without those that have a reason."""
    reasons = [line.split("\t") for line in (HERE / "java-differences.txt").read_text().splitlines()
               if line.strip() and not line.startswith("#")]
    used = set()
    failures = []

    def explained(name, difference):
        for index, (package, pattern, reason) in enumerate(reasons):
            if package in ("*", name) and re.search(pattern, difference):
                used.add(index)
                return reason
        return None

    if not args.published:
        return compare_digests(work)
    records = []
    for name in PUBLISHED:
        ours = set((work / name / "surface").read_text().splitlines())
        theirs = set((work / name / "published").read_text().splitlines())
        differences = [f"+ {line}" for line in sorted(ours - theirs)] + [f"- {line}" for line in sorted(theirs - ours)]
        unexplained = 0
        for difference in differences:
            reason = explained(name, difference)
            if reason is None:
                unexplained += 1
                failures.append(f"{name}: {difference}")
            elif args.show:
                print(f"{name}: {difference}  ({reason})")
        print(f"{name}: {len(theirs)} facts, {len(differences) - unexplained} differences with a reason, {unexplained} without")
        records += [f"{name} {digest}" for digest in digests(ours)]
    failures += [f"java-differences.txt: nothing differs like {reason[1]}" for index, reason in enumerate(reasons) if index not in used]
    if args.record and not failures:
        DIGESTS.write_text(
            "# Classes of published packages, with a digest of what each offers where the generated one offers the same, or differs\n"
            "# for a reason that java-differences.txt gives. Written by java.py --published FOLDER --record.\n"
            + "".join(f"{line}\n" for line in records))
    return failures


def digests(facts):
    """A line for each class."""
    classes = {}
    for fact in sorted(facts):
        classes.setdefault(fact.split(":", 1)[0], []).append(fact)
    return [f"{name} {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:12]}" for name, lines in sorted(classes.items())]


def compare_digests(work):
    known = [line for line in DIGESTS.read_text().splitlines() if not line.startswith("#")]
    failures = []
    for name in PUBLISHED:
        ours = {f"{name} {line}" for line in digests((work / name / "surface").read_text().splitlines())}
        theirs = {line for line in known if line.startswith(f"{name} ")}
        failures += [f"other than published, ask --published: {line}" for line in sorted(ours ^ theirs)]
        print(f"{name}: {len(theirs)} classes as published")
    return failures


if __name__ == "__main__":
    sys.exit(main())
