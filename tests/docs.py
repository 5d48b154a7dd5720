#!/usr/bin/env python3
"""Checks what people read: links, words and examples of `docs/`, `README.md` and the other texts at the root.

    tests/docs.py --bin target/debug/plumb [--only docs/start/first-stack.md] [--network] [--write]

1. Links: every relative link leads to a file, every anchor to a heading, and every page of `docs/` is in `docs/SUMMARY.md`.
2. Words: none of the words that the style forbids, and each name in one spelling. Generated pages are left out.
3. Examples: JSON parses, Python compiles, and every complete YAML program passes a preview.
4. Sessions: the marked commands of a page run in order, in one folder, and print what the page shows.
5. Translations: programs in other languages are those of `plumb convert` (`tests/translations.py`). `--write` writes them.
6. Languages: `docs/languages.md` has the text that `tests/e2e/languages.py` writes. That it is true is what that test finds out.

Marks are comments on the line above a block:

    <!-- file: NAME -->     the block is the content of a file of the session
    <!-- run -->            the lines of the block that begin with `$ ` are run; the others are their output
    <!-- run: exit 1 -->    the last command of the block ends with this exit code
    <!-- run: network -->   only with `--network`: the commands install packages
    <!-- sketch -->         a block that is not complete, and therefore not checked

In shown output, a line `...` stands for any lines, and `...` at the end of a line for its rest. Durations, dates, names made by chance, hexadecimal ids and empty lines are not
compared. Only the standard library is used.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import languages  # noqa: E402
import translations  # noqa: E402

GENERATED = {"docs/cli.md", "docs/errors.md", "docs/languages.md"}
"""Pages whose words come from the code."""
RULES = ("docs/spec/", "docs/compatibility.md")
"""Pages that quote the reference, or that tests compare."""
AT_THE_ROOT = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "MAINTAINERS.md"]
FORBIDDEN = ["goes along", "go along", "makes way", "make way", "is told", "comes of", "come of", "for the sake of", "anew", "mend",
             "mends", "to mend", "whatever", "simply", "just", "please", "easily", "obviously"]
SPELLINGS = {"Node.js": r"\bNode[jJ][sS]\b|\bnode\.js\b", "PostgreSQL": r"\bPostgres\b|\bPostgresql\b", "GitHub": r"\bGithub\b",
             "GitLab": r"\bGitlab\b", "TypeScript": r"\bTypescript\b", "JavaScript": r"\bJavascript\b", "YAML": r"\bYaml\b",
             "JSON": r"\bJson\b", "HashiCorp": r"\bHashicorp\b", "Plumb": r"\bPLUMB\b(?!_)"}


class Block:
    """A fenced block: its language, its mark, its lines, and where it begins."""

    def __init__(self, language, mark, line, indent):
        self.language, self.mark, self.line, self.indent, self.lines = language, mark, line, indent, []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_and_prose(text):
    """The fenced blocks of a page, and its other lines by number."""
    blocks, prose, current, mark = [], {}, None, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"(\s*)```(\w*)", line)
        if current is not None:
            if fence and not fence[2]:
                blocks.append(current)
                current = None
            else:
                current.lines.append(line[current.indent:] if line[:current.indent].isspace() else line)
        elif fence:
            current, mark = Block(fence[2], mark, number, len(fence[1])), ""
        elif found := re.match(r"\s*<!-- (.*) -->\s*$", line):
            mark = found[1]
        else:
            prose[number] = line
            if line.strip():
                mark = ""
    return blocks, prose


def pages():
    below = [path for path in (ROOT / "docs").rglob("*.md")]
    return sorted(below) + [path for name in AT_THE_ROOT if (path := ROOT / name).exists()]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


# 1. Links.

def anchors(path):
    """The anchors of a page, as mdBook and the sites of repositories make them."""
    found, counts = set(), {}
    for line in blocks_and_prose(path.read_text())[1].values():
        if heading := re.match(r"#{1,6} (.*)", line):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            number = counts[anchor] = counts.get(anchor, -1) + 1
            found.add(f"{anchor}-{number}" if number else anchor)
        found.update(re.findall(r'<a (?:name|id)="([^"]+)"', line))
    return found


def links(path):
    for number, line in blocks_and_prose(path.read_text())[1].items():
        for target in re.findall(r"\[[^]]*\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
            if not re.match(r"[a-z]+:", target):
                yield number, target


def wrong_links(path):
    for number, target in links(path):
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists():
            yield f"{name_of(path)}:{number}: {target} leads nowhere"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            yield f"{name_of(path)}:{number}: {name_of(there)} has no heading #{anchor}"
    for number, line in blocks_and_prose(path.read_text())[1].items():
        for target in re.findall(r"`((?:docs|tests/(?!it/|transcripts)|benches|examples|integrations|release)/?[\w./-]+)`", line):
            if not (ROOT / target).exists():
                yield f"{name_of(path)}:{number}: there is no {target}"


def missing_pages():
    summary = ROOT / "docs/SUMMARY.md"
    listed = {(summary.parent / target).resolve() for _, target in links(summary)}
    for path in (ROOT / "docs").rglob("*.md"):
        if path != summary and path not in listed:
            yield f"{name_of(path)} is not in docs/SUMMARY.md"


# 2. Words.

def wrong_words(path):
    name = name_of(path)
    if name in GENERATED or name.startswith(RULES):
        return
    for number, line in blocks_and_prose(path.read_text())[1].items():
        plain = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>", " ", line)
        for word in FORBIDDEN:
            if re.search(rf"\b{word}\b", plain, re.IGNORECASE):
                yield f"{name}:{number}: the style forbids “{word}”"
        for spelling, wrong in SPELLINGS.items():
            if found := re.search(wrong, plain):
                yield f"{name}:{number}: “{found[0]}” is written {spelling}"


# 3. Examples.

def wrong_examples(path, world):
    blocks = blocks_and_prose(path.read_text())[0]
    has_session = any(block.mark == "run" for block in blocks)
    for block in blocks:
        # The commands of a session find out what is wrong with its files, of which a program may need several.
        is_of_session = block.mark.startswith("file:") and block.language == "yaml" and has_session
        if block.mark.startswith("sketch") or is_of_session:
            continue
        where = f"{name_of(path)}:{block.line}"
        try:
            if block.language == "json":
                json.loads(block.text)
            elif block.language == "python":
                compile(block.text, where, "exec")
            elif block.language == "yaml" and re.search(r"^name: ", block.text) and re.search(r"^runtime: yaml", block.text, re.M):
                yield from wrong_program(block, where, world)
        except (ValueError, SyntaxError) as error:
            yield f"{where}: {error}"


def wrong_program(block, where, world):
    """A preview of a complete program has to pass."""
    with world.session() as session:
        (session.folder / "Pulumi.yaml").write_text(block.text)
        code, output = session.run("plumb preview --stack dev --create --non-interactive 2>&1")
        if code:
            yield f"{where}: the preview of this program fails:\n{output}"


# 4. Sessions.

class World:
    """Where commands find the program."""

    def __init__(self, binary, folder):
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "plumb").symlink_to(binary)
        self.folder = folder

    def session(self):
        return Session(self.bin)


class Session:
    """A home, a folder and variables that the commands of one page share."""

    def __init__(self, bin):
        self.bin = bin

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory(prefix="plumb-docs-")
        root = Path(self.place.name).resolve()
        self.folder, self.home, self.exports, self.where = root / "hello", root / "home", root / "exports", root / "where"
        self.folder.mkdir()
        self.home.mkdir()
        self.exports.write_text("")
        self.where.write_text(str(self.folder))
        return self

    def __exit__(self, *_):
        self.place.cleanup()

    def run(self, command):
        script = (f'. {self.exports}; cd "$(cat {self.where})"; {{ {command}\n}}; code=$?; export -p > {self.exports}; '
                  f'pwd > {self.where}; exit $code')
        environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.home), "USER": "you", "LANG": "C.UTF-8",
                       "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(["bash", "-c", script], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=600)
        return done.returncode, done.stdout


def commands(block):
    """Pairs of a command and the lines that it is to print."""
    found = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and not found[-1][1] and found[-1][0].endswith(("\\", "&")):
            # A command goes on behind a backslash, or behind what it starts in the background.
            found[-1] = (f"{found[-1][0].removesuffix(chr(92)).rstrip()} {line.strip()}", [])
        elif found:
            found[-1][1].append(line)
    return [(command.split("  # ")[0], output) for command, output in found]


def normal(line):
    """A line without what differs from run to run."""
    line = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+( \+0000 UTC|Z)?", "DATE", line)
    line = re.sub(r"\b\d+(\.\d+)?(ms|s)\b", "TIME", line)
    line = re.sub(r"\b[0-9a-f]{8,}\b|(?<=\[id=)[^]]+", "ID", line)
    line = re.sub(r"\b(now|\d+ (second|minute)s? ago)\b", "NOW", line)
    line = re.sub(r"\bon \w+ by|PID \d+|pid \d+|Managed by \S+", "WHO", line)
    return re.sub(r"\b[a-z]+-[a-z]+\b", "NAME", line).rstrip()


def same(shown, printed):
    def one(wanted, line):
        return line.startswith(wanted[:-3]) if wanted.endswith("...") else line == wanted

    return len(shown) == len(printed) and all(map(one, shown, printed))


def agrees(shown, printed):
    """Whether output is as shown: parts between lines `...` follow one another in it."""
    lines = [line for line in map(normal, printed.splitlines()) if line]
    shown = [line for line in map(normal, shown) if line]
    parts, at = [[]], 0
    for line in shown:
        parts.append([]) if line.strip() == "..." else parts[-1].append(line)
    for number, part in enumerate(parts):
        starts = [at] if number == 0 else range(at, len(lines) - len(part) + 1)
        if number and number == len(parts) - 1:
            starts = [len(lines) - len(part)] if part else [len(lines)]
        start = next((start for start in starts if start >= at and same(part, lines[start:start + len(part)])), None)
        if start is None:
            return False
        at = start + len(part)
    return len(parts) > 1 or at == len(lines)


def wrong_sessions(path, world, network):
    blocks = blocks_and_prose(path.read_text())[0]
    if not any(block.mark.startswith("run") for block in blocks):
        return
    if any("network" in block.mark for block in blocks) and not network:
        return
    with world.session() as session:
        for block in blocks:
            if name := re.match(r"file: (\S+)", block.mark):
                file = Path(session.where.read_text().strip()) / name[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text)
            elif block.mark.startswith("run"):
                problem = run_block(block, session)
                if problem:
                    yield f"{name_of(path)}:{block.line}: {problem}"
                    return


def run_block(block, session):
    """What went wrong, or nothing."""
    pairs = commands(block)
    expected = int(found[1]) if (found := re.search(r"exit (\d+)", block.mark)) else 0
    for number, (command, shown) in enumerate(pairs):
        code, printed = session.run(command)
        wanted = expected if number == len(pairs) - 1 else 0
        if code != wanted:
            return f"`{command}` ends with exit code {code}, not {wanted}:\n{printed}"
        if shown and not agrees(shown, printed):
            return f"`{command}` prints something else:\n{printed}"
    return None


# 5. Translations.

def wrong_translations(path, world, writes):
    text = path.read_text()
    if "<!-- languages -->" not in text:
        return
    written = translations.written(text, world)
    if writes:
        path.write_text(written)
    elif written != text:
        yield f"{name_of(path)}: the programs in other languages are not those of `plumb convert`: run tests/docs.py --write"


# 6. Languages.

def stale_languages():
    if (ROOT / "docs/languages.md").read_text() != languages.document():
        yield "docs/languages.md is not what tests/e2e/languages.py writes: edit tests/e2e/languages, then run that with --write"


def main():
    parser = argparse.ArgumentParser(description="Check the documentation.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--only", help="a part of the names of the pages to check")
    parser.add_argument("--network", action="store_true", help="also run sessions that install packages")
    parser.add_argument("--write", action="store_true", help="write the programs in other languages")
    options = parser.parse_args()
    problems = [] if options.only else [*missing_pages(), *stale_languages()]
    with tempfile.TemporaryDirectory(prefix="plumb-docs-bin-") as folder:
        world = World(options.bin.resolve(), Path(folder))
        for path in pages():
            if options.only and options.only not in name_of(path):
                continue
            problems += [*wrong_translations(path, world, options.write), *wrong_links(path), *wrong_words(path),
                         *wrong_examples(path, world), *wrong_sessions(path, world, options.network)]
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
