#!/usr/bin/env python3
"""Completes command lines in bash, zsh and fish as they are installed.

    tests/e2e/completion.py --bin target/debug/plumb [--only bash,zsh,fish]

Each shell runs in a pseudo terminal with the script of `gen-completion`. A line is typed up to the tabulator, and then the shell
itself says which words it is made of: so what is completed is seen as a program would get it, quotes and all.
"""

import argparse
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl
from pathlib import Path

LIMIT = 60
NESTED = "urn:pulumi:dev::shop::shop:index:Site$lab:index:Thing::page"
PLAIN = "urn:pulumi:dev::shop::lab:index:Thing::plain"

# What is typed, and the words after the program's name when the tabulator was pressed.
LINES = [
    ("stack sel", ["stack", "select"]),
    ("--non-interactive stack unsel", ["--non-interactive", "stack", "unselect"]),
    ("up --target-dep", ["up", "--target-dependents"]),
    ("up --color al", ["up", "--color", "always"]),
    ("up --color=al", ["up", "--color=always"]),
    ("stack select pr", ["stack", "select", "prod"]),
    ("up --stack pr", ["up", "--stack", "prod"]),
    ("up --stack=pr", ["up", "--stack=prod"]),
    ("config get aws:re", ["config", "get", "aws:region"]),
    ("config --stack prod get only", ["config", "--stack", "prod", "get", "only-in-prod"]),
    ("state delete urn:pulumi:dev::shop::lab:index:Thing::pl", ["state", "delete", PLAIN]),
    ("state delete urn:pulumi:dev::shop::shop:index:Site\\$lab", ["state", "delete", NESTED]),
    ("state delete 'urn:pulumi:dev::shop::shop:index:Site$lab", ["state", "delete", NESTED]),
    ("up --target urn:pulumi:dev::shop::lab", ["up", "--target", PLAIN]),
    ("up --plan pla", ["up", "--plan", "plan.json"]),
    ("stack export --file ./fol", ["stack", "export", "--file", "./folder/"]),
    ("gen-completion ba", ["gen-completion", "bash"]),
    ("do random:RandomPe", ["do", "random:RandomPet"]),
    ("do random:RandomPet cre", ["do", "random:RandomPet", "create"]),
    ("do random:RandomPet create pet --sepa", ["do", "random:RandomPet", "create", "pet", "--separator"]),
    ("do show-res", ["do", "show-resources"]),
]

# What is typed, and words that are offered for it.
OFFERS = [
    ("sta", ["stack", "state"]),
    ("stack select ", ["dev", "prod"]),
    ("config get ", ["aws:region", "greeting"]),
]


def main():
    parser = argparse.ArgumentParser(description="Complete command lines in real shells.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--only", default="bash,zsh,fish", help="names of shells, with commas between them")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="plumb-completion-") as root:
        project = Project(Path(root).resolve(), options.bin.resolve())
        for name in options.only.split(","):
            problems = SHELLS[name](project).problems()
            for problem in problems:
                print(f"FAILED {name}: {problem}")
            failed |= bool(problems)
            if not problems:
                print(f"passed {name}: {len(LINES)} lines are completed, and {len(OFFERS)} choices offered")
    return 1 if failed else 0


class Project:
    """Two stacks, with configuration and state, in a home of their own; `plumb` is on the path."""

    def __init__(self, root, binary):
        self.root, self.folder = root, root / "project"
        for folder in ("project/folder", "home", "store", "bin"):
            (root / folder).mkdir(parents=True)
        (root / "bin" / "plumb").symlink_to(binary)
        self.environment = {
            "PATH": f"{root / 'bin'}:{os.environ.get('PATH', '')}",
            "HOME": str(root / "home"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PULUMI_BACKEND_URL": f"file://{root / 'store'}",
            "PULUMI_CONFIG_PASSPHRASE": "completion",
        }
        (self.folder / "Pulumi.yaml").write_text("name: shop\nruntime: yaml\n")
        (self.folder / "plan.json").write_text("{}")
        for stack in ("prod", "dev"):
            self.run("stack", "init", stack)
        self.run("config", "set", "aws:region", "here")
        self.run("config", "set", "greeting", "hello")
        self.run("config", "set", "--stack", "prod", "only-in-prod", "yes")
        (self.folder / "state.json").write_text(json.dumps(state()))
        self.run("stack", "import", "--file", "state.json")

    def run(self, *words):
        done = subprocess.run(["plumb", *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT)
        if done.returncode != 0:
            sys.exit(f"plumb {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout


def state():
    root = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"
    provider = "urn:pulumi:dev::shop::pulumi:providers:lab::default"
    site = "urn:pulumi:dev::shop::shop:index:Site::site"

    def thing(urn, parent):
        return {"urn": urn, "custom": True, "id": "1", "type": "lab:index:Thing", "parent": parent,
                "provider": f"{provider}::0-1"}

    resources = [
        {"urn": root, "custom": False, "type": "pulumi:pulumi:Stack"},
        {"urn": provider, "custom": True, "id": "0-1", "type": "pulumi:providers:lab"},
        {"urn": site, "custom": False, "type": "shop:index:Site", "parent": root},
        thing(NESTED, site),
        thing(PLAIN, root),
    ]
    manifest = {"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""}
    return {"version": 3, "deployment": {"manifest": manifest, "resources": resources}}


class Shell:
    """A shell in a pseudo terminal."""

    COMMAND: list
    SETUP: str
    # Puts a command before the line that was typed.
    TO_START = "\x01"
    CLEAR = "\x15"

    def __init__(self, project):
        self.project = project
        script = project.root / f"completion.{self.COMMAND[0]}"
        script.write_text(project.run("gen-completion", self.COMMAND[0]))
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
        self.seen = ""
        self.process = subprocess.Popen(self.COMMAND, cwd=project.folder, env=project.environment, stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True, preexec_fn=own_terminal)
        os.close(slave)
        self.type(f"{self.SETUP.replace('SCRIPT', str(script))}; echo set''up\n")
        self.until("setup")

    def problems(self):
        found = []
        try:
            for typed, expected in LINES:
                words = self.completed(f"plumb {typed}")
                # Zsh takes the slash behind a folder away when a blank follows.
                if [word.rstrip("/") for word in words] != ["plumb", *(word.rstrip("/") for word in expected)]:
                    found.append(f"`{typed}` becomes {words}, not {expected}")
            for typed, expected in OFFERS:
                missing = self.offered(f"plumb {typed}", expected)
                if missing:
                    found.append(f"`{typed}` is not offered {missing}")
        except TimeoutError as error:
            found.append(str(error))
        finally:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            os.close(self.master)
        return found

    def completed(self, line):
        """The words of the line after the tabulator."""
        mark = self.fresh_mark()
        self.type(line + "\t")
        self.type(f"{self.TO_START}words {mark} \n")
        text = self.until(f"<end {mark}>")
        return re.findall(r"<word (.*?)>", text[text.rindex(f"<begin {mark}>"):])

    def offered(self, line, expected):
        """Which of the words the shell does not write when the tabulator was pressed twice."""
        mark = self.fresh_mark()
        self.type(line + "\t\t")
        deadline, missing = time.monotonic() + LIMIT / 4, expected
        while missing and time.monotonic() < deadline:
            self.read(0.2)
            written = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", self.seen)
            missing = [word for word in expected if not re.search(rf"(^|\s){re.escape(word)}($|\s)", written)]
        self.type(f"{self.CLEAR}words {mark}\n")
        self.until(f"<end {mark}>")
        return missing

    def fresh_mark(self):
        self.seen = ""
        self.marks = getattr(self, "marks", 0) + 1
        return f"m{self.marks}"

    def type(self, text):
        os.write(self.master, text.encode())

    def until(self, words):
        deadline = time.monotonic() + LIMIT
        while words not in self.seen:
            if time.monotonic() > deadline:
                raise TimeoutError(f"“{words}” does not appear: {self.seen!r}")
            self.read(0.2)
        return self.seen

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return
        text = os.read(self.master, 65536).decode(errors="replace")
        self.seen += text
        # Shells ask terminals who they are and where the cursor is.
        if "\x1b[6n" in text:
            os.write(self.master, b"\x1b[1;1R")
        if "\x1b[c" in text or "\x1b[0c" in text:
            os.write(self.master, b"\x1b[?62;c")


def own_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


# In two parts, so that what is typed is not taken for what is said.
WORDS = "words() { local m=$1; shift; printf '<%s %s>' begin $m; printf '<word %s>' \"$@\"; printf '<%s %s>\\n' end $m; }"


class Bash(Shell):
    COMMAND = ["bash", "--norc", "--noprofile", "-i"]
    SETUP = f"{WORDS}; PS1='$ '; bind 'set page-completions off'; bind 'set enable-bracketed-paste off'; source SCRIPT"


class Zsh(Shell):
    COMMAND = ["zsh", "-f", "-i"]
    SETUP = f"{WORDS}; PS1='$ '; bindkey -e; unset zle_bracketed_paste; autoload -U compinit; compinit -u -D; source SCRIPT"


class Fish(Shell):
    COMMAND = ["fish", "--no-config", "--interactive"]
    SETUP = (
        "function words; set -l m $argv[1]; printf '<%s %s>' begin $m; printf '<word %s>' $argv[2..-1]; "
        "printf '<%s %s>\\n' end $m; end; function fish_prompt; echo '$ '; end; set -g fish_autosuggestion_enabled 0; source SCRIPT"
    )


SHELLS = {"bash": Bash, "zsh": Zsh, "fish": Fish}

if __name__ == "__main__":
    sys.exit(main())
