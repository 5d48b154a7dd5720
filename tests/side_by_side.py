#!/usr/bin/env python3
"""What Plumb, Pulumi and Terraform show for the same work: the page `docs/inside/side-by-side.md`.

    tests/side_by_side.py --bin target/debug/plumb --python PYTHON
    tests/side_by_side.py --bin target/release/plumb --python PYTHON --pulumi PULUMI --terraform TERRAFORM --write

Each program runs in a terminal of 100 columns and 40 lines, and once more with its output in a file, as in a pipeline. Resources
of Plumb and Pulumi come from the lab provider (`tests/lab`), those of Terraform are its built-in `terraform_data`. Without
`--write`, only Plumb runs, and its text must be that of the page. The Python needs the packages `pulumi`, `grpcio` and `pyte`.
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

import terminal  # noqa: E402

PAGE = ROOT / "docs/inside/side-by-side.md"
COLUMNS, LINES = 100, 40


def things(count, **of):
    """Resources by name; `of` gives the value of some, as `b=2`."""
    names = [f"thing-{nth:03}" for nth in range(count)] if count > 3 else ["network", "database", "server"][:count]
    return {name: of.get(name, "1") for name in names}


MANY = 300
EVERY_TENTH = {f"thing-{nth:03}": "2" for nth in range(0, MANY, 10)}
STORIES = [
    ("The first update", "Three resources are created.", [(things(3), 0)], True),
    ("A replacement", "A change of the network needs another one; the server only changes.",
     [(things(3), 0), (things(3, network="2", server="2"), 0)], True),
    ("A failure", "The database cannot be created.", [(things(3, database="fail"), 1)], True),
    (f"{MANY} resources", "", [(things(MANY), 0)], False),
    (f"A tenth of {MANY} changes", "", [(things(MANY), 0), (things(MANY, **EVERY_TENTH), 0)], False),
]


class Engine:
    """Plumb or Pulumi: the same project."""

    def __init__(self, name, binary, python):
        self.name, self.binary, self.python = name, binary, python

    def prepare(self, folder):
        self.folder, home = folder / "project", folder / "home"
        for made in (self.folder, home, folder / "cloud", folder / "states"):
            made.mkdir()
        self.environment = {
            "PATH": f"{self.binary.parent}:{os.environ.get('PATH', '')}", "HOME": str(home),
            "PULUMI_HOME": str(home), "PULUMI_BACKEND_URL": f"file://{folder / 'states'}",
            "PULUMI_CONFIG_PASSPHRASE": "side by side", "PULUMI_SKIP_UPDATE_CHECK": "true", "TERM": "xterm-256color",
            "LANG": "C.UTF-8", "LAB_PYTHON": str(self.python), "LAB_CLOUD": str(folder / "cloud"),
        }
        plugin = home / "plugins" / "resource-lab-v1.0.0" / "pulumi-resource-lab"
        plugin.parent.mkdir(parents=True)
        plugin.write_text(f'#!/bin/sh\nexec "{terminal.LAB}/pulumi-resource-lab" "$@"\n')
        plugin.chmod(0o755)
        self.write({})
        subprocess.run([self.binary, "stack", "init", "dev"], cwd=self.folder, env=self.environment, check=True,
                       capture_output=True)

    def write(self, resources):
        def thing(name, value):
            properties = {"value": value, "replaceOn": ["value"]} if name == "network" else {"value": value}
            if value == "fail":
                properties["failOn"] = {"create": "the quota for databases is used up"}
            return {"type": "lab:index:Thing", "properties": properties}

        program = {"name": "shop", "runtime": "yaml",
                   "resources": {name: thing(name, value) for name, value in resources.items()}}
        (self.folder / "Pulumi.yaml").write_text(json.dumps(program))

    def words(self):
        return [str(self.binary), "up", "--yes"]


class Terraform:
    def __init__(self, binary):
        self.name, self.binary = "Terraform", binary

    def prepare(self, folder):
        self.folder = folder / "project"
        self.folder.mkdir()
        self.environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "TERM": "xterm-256color",
                            "CHECKPOINT_DISABLE": "true"}
        self.write({})
        subprocess.run([self.binary, "init"], cwd=self.folder, env=self.environment, check=True, capture_output=True)

    def write(self, resources):
        def block(name, value):
            more = f'  triggers_replace = "{value}"\n' if name == "network" else ""
            if value == "fail":
                more = '  provisioner "local-exec" {\n    command = "echo the quota for databases is used up; exit 1"\n  }\n'
            return f'resource "terraform_data" "{name}" {{\n  input = "{value}"\n{more}}}\n'

        (self.folder / "main.tf").write_text("".join(block(*it) for it in resources.items()))

    def words(self):
        return [str(self.binary), "apply", "-auto-approve"]


def on_terminal(program, code):
    shown = terminal.Terminal(program.words(), program.folder, program.environment, COLUMNS, LINES)
    try:
        shown.ends(code)
        lines = shown.everything()
    finally:
        shown.close()
    return "\n".join(lines).strip("\n").split("\n")


def in_file(program, code):
    done = subprocess.run(program.words(), cwd=program.folder, env=program.environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    terminal.check(done.returncode == code, f"{program.name} ended with {done.returncode}: {done.stdout}")
    return done.stdout.strip("\n").split("\n")


def outputs(program, updates, runs):
    """Lines of the last update for each way to run it."""
    shown = []
    for run in runs:
        with tempfile.TemporaryDirectory(prefix="plumb-beside-") as root:
            program.prepare(Path(root).resolve())
            for resources, code in updates:
                program.write(resources)
                lines = run(program, code)
            shown.append(lines)
    return shown


def normal(lines):
    """Without what differs from run to run: times, and how long an id made by chance is."""
    text = re.sub(r"\d+(\.\d+)?m?s\b", "1s", "\n".join(lines))
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "9f3c…", text).split("\n")


def page(programs):
    counts, sections = [], []
    for title, what, updates, is_whole in STORIES:
        shown = {program.name: outputs(program, updates, (on_terminal, in_file)) for program in programs}
        counts.append((title, [f"{len(shown[it.name][0])} / {len(shown[it.name][1])}" for it in programs]))
        if is_whole:
            sections.append(f"## {title}\n\n{what}\n")
            sections += [block(program.name, shown[program.name][0]) for program in programs]
        else:
            sections.append(f"## {title}\n\nOn the terminal, {count_words(shown)}.\n")
            sections.append(block("Plumb", shown["Plumb"][0]))
    heads = " | ".join(program.name for program in programs)
    rows = "\n".join(f"| {title} | {' | '.join(cells)} |" for title, cells in counts)
    table = f"| Lines on the terminal / in a file | {heads} |\n|---|{'---|' * len(programs)}\n{rows}\n"
    return table, "\n".join(sections)


def count_words(shown):
    others = [f"{len(lines)} of {name}" for name, (lines, _) in shown.items() if name != "Plumb"]
    return f"{' and '.join(others)} are {len(shown['Plumb'][0])} lines of Plumb"


def block(name, lines):
    return f"{name}:\n\n<!-- sketch -->\n```text\n" + "\n".join(normal(lines)) + "\n```\n"


def content(lines):
    """What the lines say, without their order: resources are made side by side."""
    def plain(line):
        line = re.sub(r"thing-\d+", "thing-000", line.replace("├", "└"))
        return re.sub(" +", " ", re.sub(r"1s to 1s", "1s", line)).strip()

    return sorted(plain(line) for line in lines)


def check(program, written):
    """Whether the page has what Plumb shows."""
    blocks = re.findall(r"^Plumb:\n\n<!-- sketch -->\n```text\n(.*?)\n```$", written, re.S | re.M)
    failed = len(blocks) != len(STORIES)
    for (title, _, updates, _), block in zip(STORIES, blocks):
        lines = normal(outputs(program, updates, (on_terminal,))[0])
        if content(lines) != content(block.split("\n")):
            failed = True
            print(f"FAILED {title}: the page does not show\n" + "\n".join(lines))
        else:
            print(f"passed {title}", flush=True)
    return int(failed)


def main():
    parser = argparse.ArgumentParser(description="What Plumb, Pulumi and Terraform show for the same work.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with pulumi and grpcio")
    parser.add_argument("--pulumi", type=Path, help="the official program")
    parser.add_argument("--terraform", type=Path, help="the program of Terraform")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    programs = [Engine("Plumb", options.bin.resolve(), options.python.absolute())]
    written = PAGE.read_text()
    if not options.write:
        return check(programs[0], written)
    programs += [Engine("Pulumi", options.pulumi.resolve(), options.python.absolute()), Terraform(options.terraform.resolve())]
    table, sections = page(programs)
    head = written.split("<!-- written by tests/side_by_side.py -->")[0]
    PAGE.write_text(f"{head}<!-- written by tests/side_by_side.py -->\n\n{table}\n{sections}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
