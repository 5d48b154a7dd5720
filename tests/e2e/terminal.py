#!/usr/bin/env python3
"""Runs the command line in a pseudo terminal and looks at what a person sees.

    tests/e2e/terminal.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259-pyte/bin/python

A terminal emulator (the package `pyte`) turns what is written into the lines on the screen and those that have scrolled out of
it. Resources come from the lab provider (`tests/lab`), so the Python needs the packages `pulumi` and `grpcio` as well. `--only`
names the test to run.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
from pathlib import Path

import pyte

import plugins
import stories

LAB = Path(__file__).resolve().parents[1] / "lab"
LIMIT = 90


LISTING = """#!{python}
import json, sys
sys.path.insert(0, "{lab}")
import lab_schema
of = lab_schema.schema
def schema(version):
    package = json.loads(of(version))
    package["resources"]["lab:index:Thing"]["listInputs"] = {{"properties": {{}}}}
    return json.dumps(package)
lab_schema.schema = schema
import lab_provider
lab_provider.main()
"""


def main():
    parser = argparse.ArgumentParser(description="Look at what a person sees.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with pulumi and grpcio")
    parser.add_argument("--only", help="the name of one test")
    parser.add_argument("--jobs", type=int, default=3, help="tests at a time; most of them wait most of the time")
    options = parser.parse_args()
    binary, python = options.bin.resolve(), options.python.absolute()
    return stories.tell(TESTS, lambda root: Project(root, binary, python), options.only, options.jobs)


def frames(project):
    """the tree fits terminals of 80, 100 and 200 columns"""
    names = ("one", "a-rather-long-name-for-a-resource", "日本語", "🚀-rocket", "cafe\u0301")
    project.write({name: thing(value="x") for name in names})
    for columns in (80, 100, 200):
        terminal = project.terminal(["preview"], columns=columns)
        terminal.ends(0)
        lines = terminal.everything()
        check(all(columns_of(line) <= columns for line in lines), f"a line is wider than {columns}")
        header = next(line for line in lines if "Type" in line and "Plan" in line)
        for name in names:
            name = unicodedata.normalize("NFC", name)
            row = next((line for line in lines if f" {name} " in f"{line} "), None)
            check(row is not None, f"{name} has no row at {columns} columns")
            check(column(row, "create") == column(header, "Plan"), f"the plan of {name} is not below its header at {columns}")
        check(any("+ 6 to create" in line for line in lines), "the counts are missing")


def resizes(project):
    """the tree follows the size of the terminal, and what was printed before it is still there"""
    project.write({f"slow-{n}": thing(value="v", sleepMs={"create": 12000}) for n in range(4)})
    terminal = project.terminal(["up", "--yes", "--skip-preview"], columns=120, lines=30)
    terminal.until("slow-2")
    for columns, lines in ((60, 20), (160, 40), (70, 12)):
        terminal.resize(columns, lines)
        terminal.until("creating (", fresh=True)
        terminal.until("slow-2")
        rows = [line for line in terminal.screen_lines() if "slow-2" in line]
        check(len(rows) == 1, f"slow-2 is on the screen {len(rows)} times at {columns}x{lines}")
    terminal.ends(0)
    seen = terminal.everything()
    check(any(line.startswith("Updating (dev)") for line in seen), "the banner is gone")
    check(sum("slow-2" in line and "created (" in line for line in seen) == 1, "the last frame is not there once")
    check(any("+ 5 created" in line for line in seen), "the counts are missing")


def scrolls(project):
    """a tree that is longer than the screen says so, can be looked at with keys, and is short or whole at the end"""
    resources = {f"thing-{n:02}": thing(value="v") for n in range(30)}
    resources["slow"] = thing(value="v", sleepMs={"create": 15000})
    project.write(resources)
    terminal = project.terminal(["up", "--yes", "--skip-preview", "--all-rows"], columns=100, lines=15)
    terminal.until("more (arrow keys: look around)")
    # The rows that are done have given way.
    terminal.until(" slow ")
    terminal.send("g")
    terminal.until("rows 1 to 12 of 32")
    terminal.send("j")
    terminal.until("rows 2 to 13 of 32")
    terminal.send("G")
    terminal.until("rows 21 to 32 of 32")
    terminal.send("q")
    terminal.until("more (arrow keys: look around)")
    terminal.ends(0)
    seen = terminal.everything()
    for n in range(30):
        count = sum(f" thing-{n:02} " in line and "created (" in line for line in seen)
        check(count >= 1, f"thing-{n:02} is not in the last frame")
    # Without the flag, rows that are alike are one, and the preview says what the progress is part of.
    terminal = project.terminal(["destroy", "--yes"], columns=100, lines=15)
    terminal.ends(0)
    seen = terminal.everything()
    check(sum(" and 30 more  delete" in line for line in seen) == 2, "rows that are alike are not one")
    check(len([line for line in seen if line.strip()]) < 25, "the output is long")


def progresses(project):
    """the last line of a running update says how far it is"""
    resources = {f"thing-{n:02}": thing(value="v", sleepMs={"create": 100 if n < 20 else 4000}) for n in range(25)}
    project.write(resources)
    terminal = project.terminal(["up", "--yes"], columns=100, lines=15)
    terminal.until(" of 26, 5 under way, ")
    last = terminal.screen_lines()
    check(any(re.search(r"\[=+ +\] 20 of 26, 5 under way, \d+/(s|min), \d+s$", line) for line in last), "the line is another one")
    terminal.ends(0)
    check("under way" not in terminal.text(), "the line is still there at the end")


def confirms(project):
    """a question can be answered with details, no and yes, and says what is replaced and why"""
    project.write({"a": thing(value="1", replaceOn=["value"], detailedDiff=True)})
    project.run("up", "--yes", "--skip-preview")
    project.write({"a": thing(value="2", replaceOn=["value"], detailedDiff=True)})
    terminal = project.terminal(["up"])
    terminal.until("Do you want to perform this update?")
    why = [line for line in terminal.everything() if "changes, which its provider cannot do in place" in line]
    check(len(why) == 1 and "lab:index:Thing a" in why[0] and "`value`" in why[0], f"nobody says why a is replaced: {why}")
    terminal.send("details\r")
    terminal.until('value (forces replacement): "1" => "2"')
    terminal.until("/: filter, q: back")
    terminal.send("c")
    terminal.until("+- replace  (1 resource)")
    terminal.send("/nothing")
    terminal.until("nothing matches")
    terminal.send("\r")
    terminal.until("q: back")
    terminal.send("q")
    terminal.until("Do you want to perform this update?", fresh=True)
    terminal.send("no\r")
    terminal.ends(1)
    check("confirmation declined" in terminal.text(), "nobody says that nothing happens")
    terminal = project.terminal(["up"])
    terminal.until("Do you want to perform this update?")
    terminal.send("yes\r")
    terminal.ends(0)
    check("1 replaced" in terminal.text(), "nothing was replaced")
    terminal = project.terminal(["preview", "--browse"])
    terminal.until("no changes")
    check(not terminal.is_sane(), "keys are read line by line")
    terminal.send("q")
    terminal.ends(0)
    check(terminal.is_sane(), "the terminal is not as it was")
    terminal = project.terminal(["preview", "--browse"])
    terminal.until("no changes")
    terminal.send("\x03")
    terminal.ends(1)
    check(terminal.is_sane(), "the terminal is not as it was")


def chooses(project):
    """what exists and is in no stack is offered for an import, and only what is chosen is imported"""
    project.lists_things()
    project.write({"a": thing(value="1"), "b": thing(value="1"), "c": thing(value="1")})
    project.run("up", "--yes", "--skip-preview")
    urns = [it["urn"] for it in project.deployment()["resources"] if it["urn"].endswith(("::a", "::b"))]
    for urn in urns:
        project.run("state", "delete", "--yes", urn)
    terminal = project.terminal(["import", "--discover", "lab:index:Thing", "--generate-code=false", "--skip-preview"])
    terminal.until("Which of these shall be imported?")
    check("space to choose" in terminal.text(), "nobody says how to choose")
    terminal.send(" \r")
    terminal.ends(0)
    check(len(project.names()) == 2 and "c" in project.names(), f"there are {project.names()}")


def stops_the_question(project):
    """Ctrl-C at the question changes nothing"""
    project.write({"a": thing(value="1")})
    terminal = project.terminal(["up"])
    terminal.until("Do you want to perform this update?")
    terminal.send("\x03")
    terminal.ends(1)
    check(project.names() == [], "something was made")
    terminal = project.terminal(["up", "--yes", "--skip-preview"])
    terminal.ends(0)


def interrupts(project):
    """Ctrl-C once lets what runs finish, twice and thrice end sooner, and each says what it does"""
    for count, limit in ((1, 60), (2, 60), (3, 60)):
        name = f"slow-{count}"
        project.write({name: thing(value="v", sleepMs={"create": 4000})})
        terminal = project.terminal(["up", "--yes", "--skip-preview"])
        terminal.until(name)
        for nth in range(count):
            terminal.send("\x03")
            if nth < 2:
                terminal.until("^C received", times=nth + 1)
            else:
                time.sleep(0.3)
        code = terminal.ends(None)
        check(code != 0, f"the exit code is {code} after {count} interrupts")
        check("^C\r\n" not in terminal.raw, "the terminal shows the key itself")
        check(terminal.is_sane(), f"the terminal is not as it was after {count} interrupts")
        project.sound()


def passphrases(project):
    """a passphrase is asked for and not shown, a wrong one is refused"""
    project.write({"a": thing(value="${s}")}, config={"s": {"type": "string", "secret": True}})
    del project.environment["PULUMI_CONFIG_PASSPHRASE"]
    project.run("stack", "init", "other")
    terminal = project.terminal(["config", "set", "--secret", "s", "hush-hush"])
    terminal.until("Enter your passphrase to protect config/secrets")
    terminal.send("correct horse\r")
    terminal.until("Re-enter your passphrase to confirm")
    terminal.send("correct horse\r")
    terminal.ends(0)
    check("correct horse" not in terminal.raw, "the passphrase is on the screen")
    terminal = project.terminal(["config", "get", "s"])
    terminal.until("Enter your passphrase to unlock config/secrets")
    terminal.send("wrong\r")
    terminal.until("incorrect passphrase")
    terminal.send("\x03")
    terminal.ends(None)
    terminal = project.terminal(["config", "get", "s"])
    terminal.until("Enter your passphrase to unlock config/secrets")
    terminal.send("correct horse\r")
    terminal.ends(0)
    check("hush-hush" in terminal.text(), "the secret is not shown")


def waits(project):
    """a long wait is named, with resource and call, on a terminal and in a log"""
    project.write({"slow": thing(value="v", sleepMs={"create": 14000})})
    terminal = project.terminal(["up", "--yes", "--skip-preview"])
    terminal.until("waiting for the call Create to its provider")
    terminal.ends(0)
    project.write({"slower": thing(value="v", sleepMs={"create": 12500})})
    said = project.run("up", "--yes", "--skip-preview", GITHUB_ACTIONS="true")
    lines = [line for line in said.splitlines() if "waiting for lab:index:Thing slower: creating for 1" in line]
    check(len(lines) == 1 and "(call Create to its provider)" in lines[0], f"the wait is told {len(lines)} times:\n{said}")
    check("...." not in said, f"there are dots:\n{said}")
    check("::group::Updating (dev)" in said and "::endgroup::" in said, f"there is no group:\n{said}")


def looks(project):
    """a provider that does not answer Check or Diff is named, with resource and call, on a terminal and in a log"""
    project.write({"checked": thing(value="v", sleepMs={"check": 13000})})
    terminal = project.terminal(["up", "--yes", "--skip-preview"])
    terminal.until("waiting for lab:index:Thing checked: checking for 1")
    terminal.until("(call Check to its provider)")
    terminal.ends(0)
    project.write({"checked": thing(value="w", sleepMs={"diff": 13000})})
    said = project.run("preview")
    lines = [line for line in said.splitlines() if "waiting for lab:index:Thing checked: comparing for 1" in line]
    check(len(lines) == 1 and "(call Diff to its provider of the preview)" in lines[0], f"the wait is told {len(lines)} times:\n{said}")
    check("waiting for the program" not in said, f"the program is blamed:\n{said}")


def hints(project):
    """people are told where an error is and what to do about it, scripts are not"""
    project.write({"a": thing(value="v")})
    terminal = project.terminal(["stack", "select", "nowhere"])
    terminal.ends(6)
    check("error: no stack named 'nowhere' found" in terminal.text(), "the error is shown")
    check("hint[no-stack]: run `plumb stack ls`" in terminal.text(), "the hint is shown")
    (project.folder / "Pulumi.yaml").write_text("name: seen\nruntime: yaml\nresources: [\n")
    terminal = project.terminal(["preview"])
    terminal.ends(1)
    lines = [line.rstrip() for line in terminal.everything()]
    drawn = next((at for at, line in enumerate(lines) if line.startswith("  3 | resources: [")), None)
    check(drawn is not None and lines[drawn + 1] == "    |            ^", f"the place is not drawn: {lines}")
    check("hint[bad-project]: fix the file" in terminal.text(), "the hint is shown")
    said = subprocess.run([str(project.binary), "preview"], cwd=project.folder, env=project.environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT)
    check("hint" not in said.stderr and " | " not in said.stderr, "a script gets more than the error")


def links(project):
    """URNs lead to the state on terminals that know links, and are plain text on others"""
    project.write({"a": thing(value="1")})
    urn = "[urn=urn:pulumi:dev::seen::lab:index:Thing::a]"
    terminal = project.terminal(["preview", "--diff"], columns=120)
    terminal.ends(0)
    check(urn in terminal.text() and "\x1b]8;" not in terminal.raw, "there is a link on a terminal that may not know links")
    project.environment["VTE_VERSION"] = "6800"
    terminal = project.terminal(["preview", "--diff"], columns=120)
    terminal.ends(0)
    check(urn in terminal.text(), "the URN is not shown")
    found = re.search("\x1b\\]8;;(file://[^\x1b]+)\x1b\\\\urn:pulumi:dev::seen::lab:index:Thing::a\x1b\\]8;;\x1b\\\\", terminal.raw)
    check(found is not None, "the URN is no link")
    check(Path(found.group(1).removeprefix("file://")).is_file(), f"{found.group(1)} leads nowhere")
    for columns in (60, 80):
        terminal = project.terminal(["preview", "--urns"], columns=columns)
        terminal.ends(0)
        check(all(columns_of(line) <= columns for line in terminal.everything()), "a line is too wide")

    def linked(raw, text):
        return re.search(f"\x1b\\]8;;file://[^\x1b]+\x1b\\\\{re.escape(text)}\x1b\\]8;;\x1b\\\\", raw)

    # The tree, and the lists below it: errors, and the resources of a stack.
    project.write({"a": thing(value="1"), "broken": thing(value="1", failOn={"create": {"message": "no"}})})
    terminal = project.terminal(["up", "--yes", "--skip-preview"], columns=120)
    terminal.ends(1)
    check(linked(terminal.raw, "a") is not None, "the name in the tree is no link")
    after = terminal.raw.split("Diagnostics:")[1]
    check(linked(after, "broken") is not None, "the name above the error is no link")
    header = next(line for line in terminal.everything() if "Type" in line and "Status" in line)
    row = next(line for line in terminal.everything() if "lab:index:Thing" in line and " a " in line and "created" in line)
    check(column(row, "created") == column(header, "Status"), "a link moves the columns")
    terminal = project.terminal(["stack", "--show-urns"], columns=120)
    terminal.ends(0)
    check(linked(terminal.raw, "urn:pulumi:dev::seen::lab:index:Thing::a") is not None, "the URN in the stack is no link")
    for words in (["stack", "--show-urns"], ["preview", "--urns"]):
        check("\x1b]8;" not in project.run(*words), f"there are links in a pipe, of {words}")


def reads(project):
    """what a screen reader reads is lines, one after the other, and questions that are answered with a word"""
    project.environment["ACCESSIBLE"] = "1"
    project.write({"a": thing(value="1"), "slow": thing(value="v", sleepMs={"create": 2500})})
    terminal = project.terminal(["up"])
    terminal.until("Do you want to perform this update?")
    terminal.until("2) yes")
    terminal.send("maybe\r")
    terminal.until("2) yes", times=2)
    terminal.send("yes\r")
    terminal.ends(0)
    moves = re.findall("\x1b\\[[0-9;?]*[A-HJKfhl]|\r(?!\n)", terminal.raw)
    check(not moves, f"the cursor is moved: {moves}")
    check("lab:index:Thing slow created (" in terminal.text(), "the steps are not told")
    check("...." not in terminal.raw, "there are dots to be read")


def glyphs(project):
    """without emoji, only the characters that every terminal has are drawn"""
    project.write({"parent": thing(value="1", sleepMs={"create": 1500}), "child": {**thing(value="2"), "options": {"parent": "${parent}"}}})
    terminal = project.terminal(["up", "--yes", "--skip-preview"])
    terminal.ends(0)
    beyond = {letter for letter in terminal.raw if ord(letter) > 127}
    check(beyond and beyond <= set("├└│─…"), f"there are {beyond}")
    project.write({"other": thing(value="1", sleepMs={"create": 1500})})
    terminal = project.terminal(["up", "--yes", "--skip-preview", "--emoji"])
    terminal.ends(0)
    check(set("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") & set(terminal.raw), "there is no decoration with emoji")


def plain(project):
    """terminals with few characters get those of ASCII, and pipes what they always get"""
    for variables in ({"TERM": "linux"}, {"LANG": "C"}, {"LC_ALL": "de_DE.ISO-8859-1"}):
        before = dict(project.environment)
        project.environment.update(variables)
        parent = thing(value="1", sleepMs={"create": 1500})
        project.write({"parent": parent, "child": {**thing(value="2"), "options": {"parent": "${parent}"}}})
        for words in (["up", "--yes", "--skip-preview", "--emoji"], ["stack"], ["preview", "--diff"]):
            terminal = project.terminal(words)
            terminal.ends(0)
            beyond = {letter for letter in terminal.raw if ord(letter) > 127}
            check(not beyond, f"{words} with {variables}: there are {beyond}")
        terminal = project.terminal(["stack"])
        terminal.ends(0)
        project.write({"parent": thing(value="3")})
        asking = project.terminal(["up"])
        asking.until("arrow keys to move")
        asking.send("no\r")
        asking.ends(1)
        check(asking.raw.isascii(), f"the question has {set(asking.raw) - set(map(chr, range(128)))}")
        check("|- lab:index:Thing" in terminal.text() or "`- lab:index:Thing" in terminal.text(), "there is no tree")
        check("─ lab:index:Thing" in project.run("stack"), "a pipe gets something else")
        project.environment.clear()
        project.environment.update(before)
        project.run("destroy", "--yes", "--skip-preview")


def advises(project):
    """what to do about the errors of an operation stands below them, once for each kind, and not in pipes"""
    project.write({name: {**thing(value="1"), "options": {"protect": True}} for name in ("a", "b")})
    project.run("up", "--yes", "--skip-preview")
    terminal = project.terminal(["destroy", "--yes"])
    terminal.ends(1)
    told = terminal.text().replace("\n", " ")
    check(told.count("hint[") == 1 and "hint[protected]: remove the `protect` option" in told, f"there is no hint: {told}")
    said = subprocess.run([str(project.binary), "destroy", "--yes"], cwd=project.folder, env=project.environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    check(said.returncode == 1 and "hint[" not in said.stdout + said.stderr, "a script gets a hint")
    terminal = project.terminal(["up", "--nope"])
    terminal.ends(1)
    check("hint[unknown-command]: run the command with `--help`" in terminal.text(), "there is no hint for a wrong flag")


def downloads(project):
    """a download is shown below the tree while it goes on, and gone with the end of it"""
    server = plugins.Server(plugins.archive())
    server.gate.clear()
    try:
        project.environment["PATH"] = os.environ.get("PATH", "")
        program = {**thing(value="v"), "options": {"version": "1.0.0", "pluginDownloadURL": server.url}}
        project.write({"a": program})
        terminal = project.terminal(["up", "--yes", "--skip-preview"])
        terminal.until("Downloads:")
        terminal.until("Downloading plugin lab-1.0.0")
        server.gate.set()
        terminal.ends(0)
    finally:
        server.gate.set()
        server.stop()
    check("Downloads:" not in "\n".join(terminal.screen_lines()), "the download is still shown")
    check("+ 2 created" in terminal.text(), "nothing was created")


def thing(**properties):
    return {"type": "lab:index:Thing", "properties": properties}


def column(line, word):
    """The column of a word."""
    return columns_of(line[: line.index(word)])


def columns_of(text):
    """How many columns a text takes; wide characters take two, marks that stand over others none."""
    widths = (0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
    return sum(widths)


class Project:
    """A project in its own folder, home and pretend cloud."""

    def __init__(self, root, binary, python):
        self.binary, self.root, self.terminals = binary, root, []
        self.folder = root / "project"
        for folder in (self.folder, root / "cloud", root / "home"):
            folder.mkdir()
        self.environment = {
            "PATH": f"{LAB}:{os.environ.get('PATH', '')}",
            "HOME": str(root / "home"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PULUMI_CONFIG_PASSPHRASE": "terminal",
            "LAB_PYTHON": str(python),
            "LAB_CLOUD": str(root / "cloud"),
        }
        self.write({})
        self.run("stack", "init", "dev")

    def write(self, resources, config=None):
        program = {"name": "seen", "runtime": "yaml", "resources": resources}
        if config:
            program["config"] = config
        (self.folder / "Pulumi.yaml").write_text(json.dumps(program))

    def lists_things(self):
        """The provider's schema says that things can be listed, which the provider does anyway."""
        folder = self.root / "lists"
        folder.mkdir()
        plugin = folder / "pulumi-resource-lab"
        plugin.write_text(LISTING.format(python=self.environment["LAB_PYTHON"], lab=LAB))
        plugin.chmod(0o755)
        self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"

    def terminal(self, words, columns=100, lines=30):
        self.terminals = [Terminal([str(self.binary), *words], self.folder, self.environment, columns, lines)]
        return self.terminals[0]

    def run(self, *words, **variables):
        """What a command says without a terminal."""
        done = subprocess.run([str(self.binary), *words], cwd=self.folder, env={**self.environment, **variables},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT)
        check(done.returncode == 0, f"{words} ended with {done.returncode}: {done.stdout}")
        return done.stdout

    def deployment(self):
        return json.loads(self.run("stack", "export"))["deployment"]

    def names(self):
        return [it["urn"].split("::")[-1] for it in self.deployment().get("resources", []) if it["type"] == "lab:index:Thing"]

    def sound(self):
        """The state can be read, and the next update goes through."""
        self.deployment()
        self.run("up", "--yes", "--skip-preview")

    def account(self):
        """What is on the screens."""
        return "".join(f"\n| {line}" for terminal in self.terminals for line in terminal.everything())

    def close(self):
        for terminal in self.terminals:
            terminal.close()


class Terminal:
    """A command in a pseudo terminal."""

    def __init__(self, words, folder, environment, columns, lines):
        self.master, slave = pty.openpty()
        self.screen = pyte.HistoryScreen(columns, lines, history=5000, ratio=0.5)
        self.stream = pyte.Stream(self.screen)
        self.raw = ""
        self.slave = slave
        self.set_size(columns, lines)
        self.modes = termios.tcgetattr(slave)
        # The command leads a session of its own, whose terminal this is.
        self.process = subprocess.Popen(["setsid", "--ctty", *words], cwd=folder, env=environment, stdin=slave, stdout=slave,
                                        stderr=slave)
        self.decoder = __import__("codecs").getincrementaldecoder("utf-8")("replace")

    def set_size(self, columns, lines):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        self.read()
        self.set_size(columns, lines)
        screen = self.screen
        # As terminals do, and the emulator does not: lines that do not fit scroll out of the screen.
        out = max(0, screen.cursor.y + 1 - lines)
        screen.history.top.extend(screen.buffer[y].copy() for y in range(out))
        kept = {y: screen.buffer[y + out] for y in range(min(lines, screen.lines - out))}
        screen.buffer.clear()
        screen.buffer.update(kept)
        screen.lines, screen.columns = lines, columns
        screen.cursor.y -= out
        screen.cursor.x = min(screen.cursor.x, columns - 1)
        screen.set_margins()
        self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds=0.05):
        """Takes in what was written; answers whether anything was."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        text = self.decoder.decode(os.read(self.master, 65536))
        self.raw += text
        # The emulator does not know the marks for whole frames, nor how to answer questions.
        self.stream.feed(re.sub("\x1b\\[\\?2026[hl]", "", text))
        if "\x1b[6n" in text:
            os.write(self.master, b"\x1b[1;1R")
        return True

    def send(self, keys):
        os.write(self.master, keys.encode())

    def screen_lines(self):
        return [line.rstrip() for line in self.screen.display]

    def everything(self):
        """What has scrolled out of the screen, and what is on it."""
        history = ["".join(row[x].data for x in range(self.screen.columns)).rstrip() for row in self.screen.history.top]
        return history + self.screen_lines()

    def text(self):
        return "\n".join(self.everything())

    def until(self, words, fresh=False, times=1):
        """Waits until words are on the screen, or `fresh`, until they are written anew."""
        deadline, start = time.monotonic() + LIMIT, len(self.raw)
        while time.monotonic() < deadline:
            shown = self.raw[start:] if fresh else "\n".join(self.screen_lines())
            if shown.count(words) >= times or (times > 1 and self.text().count(words) >= times):
                return
            if not self.read() and self.process.poll() is not None and not self.read():
                break
        check(False, f"“{words}” does not appear")

    def ends(self, code):
        """Waits for the end; answers the exit code, which must be `code` unless that is None."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            self.read()
        while self.read():
            pass
        check(self.process.poll() is not None, "the command does not end")
        check(code is None or self.process.returncode == code, f"the exit code is {self.process.returncode}, not {code}")
        return self.process.returncode

    def is_sane(self):
        """Whether the terminal shows what is typed, line by line, and a cursor."""
        now = termios.tcgetattr(self.slave)
        return now[3] == self.modes[3] and self.raw.rfind("\x1b[?25h") >= self.raw.rfind("\x1b[?25l")

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def check(holds, message):
    if not holds:
        raise AssertionError(message)


TESTS = [
    frames,
    resizes,
    scrolls,
    progresses,
    confirms,
    chooses,
    stops_the_question,
    interrupts,
    passphrases,
    waits,
    looks,
    hints,
    links,
    advises,
    plain,
    reads,
    glyphs,
    downloads,
]

if __name__ == "__main__":
    sys.exit(main())
