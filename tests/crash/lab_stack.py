"""A stack of lab resources in a folder of its own, and what can be seen of it from outside."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent / "lab"
PROJECT, STACK = "crash", "dev"
TYPE = "lab:index:Thing"


class CommandFailed(Exception):
    """A command that had to succeed did not."""

    def __init__(self, words, code, output):
        super().__init__(f"`{' '.join(words)}` ended with {code}:\n{output[-4000:]}")


class Program:
    """Resources by name: how long each takes to create, and on which others it depends."""

    def __init__(self, random, count):
        names = [f"r{number:03d}" for number in range(count)]
        self.sleeps = {name: random.randint(2, 150) for name in names}
        self.dependencies = {}
        for number, name in enumerate(names):
            earlier = names[max(0, number - 25):number]
            self.dependencies[name] = sorted(random.sample(earlier, min(len(earlier), random.choice([0, 0, 1, 2]))))
        self.secret = {name for name in names if random.random() < 0.1}

    @property
    def names(self):
        return list(self.sleeps)

    def text(self):
        """The project file. JSON is YAML."""
        resources = {}
        for name, sleep in self.sleeps.items():
            properties = {
                "value": name,
                "items": ["${%s.serial}" % other for other in self.dependencies[name]],
                "sleepMs": {"create": sleep},
            }
            if name in self.secret:
                properties["password"] = {"fn::secret": f"secret of {name}"}
            resources[name] = {"type": TYPE, "properties": properties}
        return json.dumps({"name": PROJECT, "runtime": "yaml", "resources": resources}, indent=1)


class State:
    """An exported state."""

    def __init__(self, exported):
        deployment = exported.get("deployment") or {}
        self.resources = deployment.get("resources") or []
        self.pending = deployment.get("pending_operations") or []

    def things(self):
        """Resources of the lab, by name; a name that is there twice is a fault of its own."""
        return [one for one in self.resources if one["type"] == TYPE]

    def pending_creates(self):
        """Names of the resources whose creation was begun, once for each time."""
        return [name_of(one["resource"]["urn"]) for one in self.pending if one["type"] == "creating"]


class LabStack:
    """Folders, environment and commands of one stack."""

    def __init__(self, root, binary, python, program):
        self.root, self.binary, self.program = root, binary, program
        self.project, self.cloud, self.log = root / "project", root / "cloud", root / "log.jsonl"
        for name in ("project", "cloud", "backend", "home"):
            (root / name).mkdir()
        (self.project / "Pulumi.yaml").write_text(program.text())
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

    def start(self, *words):
        """Starts a command; its output goes to a file, so that it never waits for a reader."""
        self.output = self.root / "output.txt"
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
        """Objects of the pretend cloud: id to name."""
        found = {}
        for path in self.cloud.glob("*.json"):
            thing = json.loads(path.read_text())
            found[thing["id"]] = thing["id"].rsplit("-", 1)[0]
        return found

    def calls(self):
        """The log of the provider: name of the resource of every Create, and the calls that have no answer yet."""
        creates, open_calls = [], set()
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            entry = json.loads(line)
            if "done" in entry:
                open_calls.discard(entry["done"])
            elif entry["method"] == "Create" and not entry.get("preview"):
                creates.append(name_of(entry["urn"]))
                open_calls.add(entry["call"])
        return creates, open_calls

    # -- provider processes that outlive the engine

    def survivors(self):
        """Processes of this stack that still run: all of them have its cloud in their environment."""
        mark = b"LAB_CLOUD=" + os.fsencode(self.cloud) + b"\0"
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def end_survivors(self, finish):
        """Ends them: at once, or after they have finished what they were asked to do."""
        deadline = time.monotonic() + 30
        while finish and self.survivors() and self.calls()[1] and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in self.survivors():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        while self.survivors():
            if time.monotonic() > deadline + 10:
                sys.exit(f"processes {self.survivors()} do not end")
            time.sleep(0.01)


def name_of(urn):
    return urn.rsplit("::", 1)[1]
