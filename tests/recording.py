#!/usr/bin/env python3
"""Records a session in a terminal as an animated picture, for the README and the book.

    tests/recording.py --bin target/release/plumb [--session first-update] [--out docs/images/first-update.svg]
    tests/recording.py --bin target/release/plumb --session two-machines --stores "$(tests/setup-stores.sh)"

A shell runs in a pseudo terminal, with its own home and a program of built-in resources. Keys are typed with pauses, and the terminal
emulator (the package `pyte`; `tests/setup-python.sh 3.259 pyte` makes a Python with it) turns what comes back into frames. So the
picture shows what the program printed. Only waits are changed: none lasts longer than two seconds. The two machines of the second session
are namespaces for processes and host names, which take root, and their store is an S3 server.

The picture is a strip of frames that moves up behind a window, by CSS alone. Lines that occur more than once are stored once. Readers
who prefer reduced motion see the last frame.
"""

import argparse
import fcntl
import html
import os
import pty
import select
import signal
import struct
import tempfile
import termios
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import store_servers  # noqa: E402

COLUMNS, LINES = 92, 25
WIDTH, HEIGHT, LEFT, TOP = 8.05, 17, 14, 14
LONGEST, SHORTEST, AT_THE_END = 2.0, 0.12, 5.0


@dataclass
class Session:
    """What is recorded."""

    title: str
    program: str
    keys: list
    """Keys to type, or a function to call, each with the text to wait for."""
    needs_store: bool = False


def machine_dies(recorder):
    """Kills the update that is under way, and all that it has started."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == b"unshare" and str(recorder.folder).encode() in b" ".join(words):
            os.kill(int(process.name), signal.SIGKILL)


FIRST_UPDATE = Session(
    "A terminal: plumb up creates three resources; a setting changes; plumb up replaces one of them; plumb why explains it",
    """\
name: hello
runtime: yaml
config:
  greeting: {type: string, default: Hello}
resources:
  pet:
    type: random:RandomPet
  page:
    type: command:local:Command
    properties:
      create: sleep 1; echo "<h1>$GREETING, $NAME</h1>" > page.html
      environment: {GREETING: "${greeting}", NAME: "${pet.id}"}
  upload:
    type: command:local:Command
    properties:
      create: sleep 2; cp page.html public.html
      triggers: ["${page.environment}"]
""",
    [
        ("plumb up --stack dev --create\r", "Do you want to perform this update?"),
        ("yes\r", "Duration:"),
        ("plumb config set greeting Welcome\r", "$ "),
        ("clear; plumb up --yes --skip-preview\r", "Duration:"),
        ("plumb why upload\r", "$ "),
    ],
)
TWO_MACHINES = Session(
    "A terminal: Alice's machine dies in the middle of an update of a stack in a bucket; Bob's update waits half a minute and goes on",
    """\
name: app
runtime: yaml
resources:
  first:
    type: command:local:Command
    properties: {create: "sleep 1; echo one"}
  second:
    type: command:local:Command
    properties: {create: "sleep 4; echo two"}
    options: {dependsOn: ["${first}"]}
  third:
    type: command:local:Command
    properties: {create: "echo three"}
    options: {dependsOn: ["${second}"]}
""",
    [
        ("on alice\r", "alice$ "),
        ("clear; plumb login s3://states\r", "alice$ "),
        ("plumb up --stack dev --create --yes --skip-preview\r", "created (1s)"),
        (machine_dies, "alice$ "),
        ("on bob\r", "bob$ "),
        ("clear; plumb up --yes --skip-preview\r", "bob$ "),
        ("plumb up --yes --skip-preview --lock-timeout 2m\r", "Duration:"),
    ],
    needs_store=True,
)
SESSIONS = {"first-update": FIRST_UPDATE, "two-machines": TWO_MACHINES}
# Each program runs in namespaces of its own, so that one cannot see whether the process of the other is alive.
MACHINES = """
PS1='$ '
on() {{ PS1="$1\\$ "; machine=$1; }}
plumb() {{ unshare --pid --uts --fork --kill-child sh -c 'hostname "$0"; exec {folder}/bin/plumb "$@"' "$machine" "$@"; }}
"""
COLOURS = {"default": "#d0d7de", "black": "#6e7681", "red": "#ff7b72", "green": "#7ee787", "brown": "#e3b341", "yellow": "#e3b341",
           "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#76e3ea", "white": "#f0f6fc"}

SOFTER = {"#00ff00": COLOURS["green"], "#00ffff": COLOURS["cyan"], "#5c5cff": COLOURS["blue"], "#ff00ff": COLOURS["magenta"], "#5f5fff": COLOURS["blue"], "#d7d700": COLOURS["yellow"], "#00d700": COLOURS["green"],
          "#af0000": COLOURS["red"], "#cdcd00": COLOURS["yellow"], "#00cd00": COLOURS["green"], "#cd0000": COLOURS["red"]}
"""Colours of the old palette that are hard to read on a dark background."""


class Recorder:
    """A shell in a terminal, and every state of its screen with the time at which it was reached."""

    def __init__(self, binary, folder, session, store):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin/plumb").symlink_to(binary)
        (folder / "project").mkdir()
        (folder / "project/Pulumi.yaml").write_text(session.program)
        (folder / "machines").write_text(MACHINES.format(folder=folder))
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.frames = []
        environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "TERM": "xterm-256color", "LANG": "C.UTF-8",
                       "PS1": "$ ", "USER": "you", "BASH_SILENCE_DEPRECATION_WARNING": "1",
                       **store}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder / "project")
            start = ["--rcfile", str(folder / "machines")] if session.needs_store else ["--norc"]
            os.execvpe("bash", ["bash", "--noprofile", *start, "--noediting", "-i"], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))

    def read(self, seconds):
        """Feeds what comes within this time to the screen."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                self.stream.feed(os.read(self.terminal, 65536))
                lines = tuple(line_of(self.screen, number) for number in range(LINES))
                if not self.frames or self.frames[-1][1] != lines:
                    self.frames.append((time.monotonic(), lines))

    def until(self, text, limit=60):
        """Waits for a text in the last lines that have any."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            self.read(0.05)
            shown = [line.rstrip() for line in self.screen.display if line.strip()]
            if shown and (shown[-1] == text.rstrip() if text.endswith("$ ") else any(text in line for line in shown[-6:])):
                return
        raise SystemExit(f"`{text}` did not come:\n" + "\n".join(self.screen.display))

    def type(self, keys):
        for key in keys:
            os.write(self.terminal, key.encode())
            self.read(0.3 if key == "\r" else 0.045)


def line_of(screen, number):
    """The runs of a line: text, colour, bold."""
    runs, cells = [], screen.buffer[number]
    for column in range(COLUMNS):
        cell = cells[column]
        colour = cell.fg if cell.fg in COLOURS else cell.fg.removeprefix("bright") if cell.fg.startswith("bright") else f"#{cell.fg}"
        style = (SOFTER.get(colour, COLOURS.get(colour, colour)), cell.bold)
        if runs and runs[-1][1:] == style:
            runs[-1] = (runs[-1][0] + cell.data, *style)
        else:
            runs.append((cell.data, *style))
    while runs and not runs[-1][0].strip():
        runs.pop()
    return tuple(runs)


def strip(frames):
    """The frames with their lengths, without waits that nobody wants to sit through."""
    kept = []
    for number, (at, lines) in enumerate(frames):
        length = frames[number + 1][0] - at if number + 1 < len(frames) else AT_THE_END
        if length < SHORTEST and number + 1 < len(frames) and kept and kept[-1][0] < SHORTEST:
            kept[-1] = (kept[-1][0] + length, lines)
        else:
            kept.append((min(length, LONGEST) if number + 1 < len(frames) else length, lines))
    return kept


def picture(frames, title):
    width, height = round(COLUMNS * WIDTH + 2 * LEFT), LINES * HEIGHT + 2 * TOP
    lines, uses = {}, []
    for number, (_, frame) in enumerate(frames):
        for row, line in enumerate(frame):
            if line:
                name = lines.setdefault(line, f"l{len(lines)}")
                uses.append(f'<use href="#{name}" y="{number * height + TOP + (row + 0.75) * HEIGHT:g}"/>')
    total, at, moves = sum(length for length, _ in frames), 0.0, []
    for number, (length, _) in enumerate(frames):
        moves.append(f"{100 * at / total:.3f}%{{transform:translateY({-number * height}px)}}")
        at += length
    moves.append(f"100%{{transform:translateY({-(len(frames) - 1) * height}px)}}")
    texts = "\n".join(f'<text id="{name}" x="{LEFT}">{spans(line)}</text>' for line, name in lines.items())
    still = f".s{{animation:none;transform:translateY({-(len(frames) - 1) * height}px)}}"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{html.escape(title)}</title>
<style>
text{{font:13.4px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}}
.s{{animation:p {total:.1f}s steps(1,end) infinite}}.b{{font-weight:bold}}
@keyframes p{{{"".join(moves)}}}
@media (prefers-reduced-motion){{{still}}}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<defs>
{texts}
</defs>
<g class="s">
{"".join(uses)}
</g>
</svg>
"""


def spans(line):
    parts, column = [], 0
    for text, colour, bold in line:
        if text.strip():
            kind = ' class="b"' if bold else ""
            # Each run has its own place, so that fonts of other widths keep columns in line.
            parts.append(f'<tspan x="{LEFT + column * WIDTH:g}" fill="{colour}"{kind}>{html.escape(text.rstrip())}</tspan>')
        column += len(text)
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description="Record a session as a picture.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--session", choices=SESSIONS, default="first-update", help="what is recorded (first-update)")
    parser.add_argument("--stores", type=Path, help="the folder that tests/setup-stores.sh printed")
    parser.add_argument("--out", type=Path, help="the picture to write (docs/images/SESSION.svg)")
    options = parser.parse_args()
    session = SESSIONS[options.session]
    out = options.out or ROOT / f"docs/images/{options.session}.svg"
    with tempfile.TemporaryDirectory(prefix="plumb-recording-") as folder:
        server, store = None, {}
        if session.needs_store:
            (Path(folder) / "server").mkdir()
            server = store_servers.Versity(Path(folder) / "server", options.stores.resolve())
            store = {**store_servers.KEYS, "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{server.port}",
                     "PULUMI_CONFIG_PASSPHRASE": "recorded"}
        try:
            frames = strip(recorded(session, options.bin.resolve(), Path(folder), store))
        finally:
            if server:
                server.stop()
    out.write_text(picture(frames, session.title))
    print(f"{out}: {len(frames)} frames, {out.stat().st_size // 1024} KB")


def recorded(session, binary, folder, store):
    recorder = Recorder(binary, folder, session, store)
    try:
        recorder.until("$ ")
        for keys, text in session.keys:
            if callable(keys):
                keys(recorder)
            else:
                recorder.type(keys)
            recorder.until(text)
            recorder.read(1.2)
    finally:
        os.kill(recorder.pid, signal.SIGHUP)
        os.waitpid(recorder.pid, 0)
    return recorder.frames


if __name__ == "__main__":
    main()
