"""A stack of lab resources in a folder of its own, and what can be seen of it from outside."""

import fcntl
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from lab_program import TYPE

LAB = Path(__file__).resolve().parent.parent / "lab"
STACK = "dev"


def logged(line):
    """The entry in a line of the provider's log. A provider that is killed while it writes leaves the beginning of one, which the
    entry of the next provider may follow in the same line."""
    try:
        return json.loads(line)
    except ValueError:
        start = max(line.rfind('{"call"'), line.rfind('{"done"'))
        return logged(line[start:]) if start > 0 else None


class CommandFailed(Exception):
    """A command that had to succeed did not."""

    def __init__(self, words, code, output):
        super().__init__(f"`{' '.join(words)}` ended with {code}:\n{output[-4000:]}")


class State:
    """An exported state."""

    def __init__(self, exported):
        deployment = exported.get("deployment") or {}
        self.resources = deployment.get("resources") or []
        self.pending = deployment.get("pending_operations") or []

    def things(self):
        """The resources of the lab."""
        return [one for one in self.resources if one["type"] == TYPE]

    def names(self):
        return {name_of(one["urn"]) for one in self.things()}

    def pending_creates(self):
        """URNs of the resources whose creation was begun and has no recorded end, once for each time."""
        return [one["resource"]["urn"] for one in self.pending if one["type"] == "creating"]

    def pending_deletes(self):
        """Ids of the resources whose deletion was begun and has no recorded end."""
        return {one["resource"].get("id") for one in self.pending if one["type"] == "deleting"}


class LabStack:
    """Folders, environment and commands of one stack."""

    def __init__(self, root, binary, python):
        self.root, self.binary = root, binary
        self.project, self.cloud, self.log = root / "project", root / "cloud", root / "log.jsonl"
        self.output = root / "output.txt"
        for name in ("project", "cloud", "backend", "home"):
            (root / name).mkdir()
        self.environment = {
            "PATH": os.pathsep.join([str(LAB), os.environ.get("PATH", "")]),
            "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "crash",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LAB_PYTHON": str(python),
            "LAB_CLOUD": str(self.cloud),
            "LAB_LOG": str(self.log),
        }

    def write(self, program):
        self.program = program
        (self.project / "Pulumi.yaml").write_text(program.text())

    def start(self, *words):
        """Starts a command; its output goes to a file, so that it never waits for a reader."""
        with open(self.output, "wb") as output:
            return subprocess.Popen(
                [str(self.binary), *words, "--non-interactive", "--color", "never"],
                cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, *words, timeout=300):
        """Runs a command that has to succeed, and returns what it prints."""
        process = self.start(*words)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = f"a timeout of {timeout} s"
        text = self.output.read_text(errors="replace")
        if code != 0:
            raise CommandFailed(words, code, text)
        return text

    def export(self):
        target = self.root / "state.json"
        self.run("stack", "export", "--stack", STACK, "--file", str(target))
        return State(json.loads(target.read_text()))

    def objects(self):
        """Objects of the pretend cloud, by id."""
        things = [json.loads(path.read_text()) for path in sorted(self.cloud.glob("*.json"))]
        return {thing["id"]: thing for thing in things}

    def calls(self):
        """The log of the provider: all calls that change something, in order, and those of them without an answer."""
        begun, unanswered = [], set()
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        for entry in filter(None, map(logged, lines)):
            if "done" in entry:
                unanswered.discard(entry["done"])
            elif entry["method"] in ("Create", "Update", "Delete") and not entry.get("preview"):
                begun.append((entry["method"], name_of(entry["urn"])))
                unanswered.add(entry["call"])
        return begun, unanswered

    def creates(self):
        """Names of the resources of all creates that were asked for."""
        return [name for method, name in self.calls()[0] if method == "Create"]

    def has_journal(self):
        """Whether an update has left a journal that is not folded into the checkpoint yet."""
        journals = list((self.root / "backend" / ".pulumi" / "journals").rglob("*.journal"))
        return any(not journal.with_suffix(".folded").exists() for journal in journals)

    # -- provider processes that outlive the engine

    def survivors(self):
        """Processes of this stack that still run: all of them have its cloud in their environment."""
        mark = b"LAB_CLOUD=" + os.fsencode(self.cloud) + b"\0"
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def end_survivors(self, finish):
        """Ends them: at once, or after they have finished what they were asked to do."""
        deadline = time.monotonic() + 30
        while finish and self.survivors() and self.calls()[1] and time.monotonic() < deadline:
            time.sleep(0.02)
        # The cloud's counters are not written in one go; a real cloud does not break when its client is killed.
        with open(self.cloud / ".counters", "a+", encoding="utf-8") as counters:
            fcntl.flock(counters, fcntl.LOCK_EX)
            for process in self.survivors():
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        while self.survivors():
            if time.monotonic() > deadline + 10:
                raise TimeoutError(f"processes {self.survivors()} do not end")
            time.sleep(0.01)


def name_of(urn):
    return urn.rsplit("::", 1)[1]


def made_for(object_id):
    """The name of the resource that an object was made for: its n-th object is called `name-n`."""
    return object_id.rsplit("-", 1)[0]
