"""A project with a Node.js program, its stack, and what the suites in `node.py` and `node_plugins.py` share."""

import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
STACK = "dev"


class Failed(Exception):
    """Something was not as it should be."""


class World:
    """A folder with a project, a backend, a home and a pretend cloud."""

    def __init__(self, root, options):
        self.root, self.binary, self.sdk, self.python = root, options.bin, options.sdk, options.python
        self.tools = options.tools and options.tools.absolute()
        for name in ("project", "cloud", "backend", "home"):
            (root / name).mkdir()
        self.project = root / "project"
        self.environment = {
            "PATH": os.pathsep.join([str(self.sdk / "bin"), str(TESTS / "lab"), os.environ.get("PATH", "")]),
            "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "node",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LAB_PYTHON": str(self.python),
            "LAB_CLOUD": str(root / "cloud"),
            "LAB_LOG": str(root / "lab.jsonl"),
        }
        self.file("Pulumi.yaml", "name: prog\nruntime: nodejs\n")
        self.file("package.json", {"name": "prog", "main": "index.js"})
        shutil.copy(TESTS / "oracle" / "support" / "node" / "lab.js", self.project)
        self.link_modules(self.project)
        self.plumb("stack", "init", STACK)

    def link_modules(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "node_modules").symlink_to(self.sdk / "node_modules")

    def file(self, name, content):
        """Writes a file of the project: text, or something to be JSON."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def program(self, text, name="index.js"):
        """Writes the program, with the SDK and the lab package at hand."""
        head = 'const pulumi = require("@pulumi/pulumi"); const lab = require("./lab");\n'
        return self.file(name, head + text if name.endswith(".js") else text)

    def start(self, *words, **variables):
        return subprocess.Popen(
            [str(self.binary), *words, "--non-interactive", "--color", "never"], cwd=self.project,
            env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")

    def plumb(self, *words, code=0, **variables):
        """Runs a command that has to end with `code`; answers what it prints."""
        process = self.start(*words, **variables)
        output, _ = process.communicate(timeout=300)
        if process.returncode != code:
            raise Failed(f"`plumb {' '.join(words)}` ended with {process.returncode}, not {code}:\n{output[-4000:]}")
        return output

    def up(self, *words, code=0, **variables):
        return self.plumb("up", "--stack", STACK, "--yes", "--skip-preview", *words, code=code, **variables)

    def preview(self, *words, code=0, **variables):
        return self.plumb("preview", "--stack", STACK, *words, code=code, **variables)

    def outputs(self, *words):
        return json.loads(self.plumb("stack", "output", "--json", "--stack", STACK, *words))

    def config(self, key, value, *words):
        self.plumb("config", "set", "--stack", STACK, key, value, *words)

    def state(self, *words):
        """Resources of the state by name."""
        target = self.root / "state.json"
        self.plumb("stack", "export", "--stack", STACK, "--file", str(target), *words)
        resources = json.loads(target.read_text())["deployment"].get("resources") or []
        return {one["urn"].rsplit("::", 1)[1]: one for one in resources}

    def search_tools(self):
        """Has pnpm, yarn and Bun found."""
        if self.tools is None:
            raise Failed("this story needs --tools")
        self.environment["PATH"] = os.pathsep.join([str(self.tools), self.environment["PATH"]])

    def names(self):
        """Names of what is in the state, without the stack and the default providers."""
        return sorted(name for name, one in self.state().items()
                      if not one["type"].startswith(("pulumi:providers:", "pulumi:pulumi:Stack")))

    def calls(self, method):
        """What the lab provider was asked."""
        log = self.root / "lab.jsonl"
        entries = map(json.loads, log.read_text().splitlines()) if log.exists() else []
        return [entry for entry in entries if "call" in entry and entry["method"] == method]


def expect(what, actual, expected):
    if actual != expected:
        raise Failed(f"{what}:\n    {actual!r}\nexpected:\n    {expected!r}")


def expect_in(output, *texts):
    for text in texts:
        if text not in output:
            raise Failed(f"{text!r} is not in:\n{output[-4000:]}")


def interrupt_when(process, is_time, seconds=60):
    """Sends Ctrl-C once `is_time` says so; answers the output."""
    end = time.monotonic() + seconds
    while not is_time():
        if time.monotonic() > end or process.poll() is not None:
            process.kill()
            raise Failed(f"it did not come to the interrupt:\n{process.communicate()[0][-4000:]}")
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)[0]


def main(description, stories):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--sdk", required=True, type=Path, help="a folder made by tests/setup-node.sh")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the packages pulumi and grpcio")
    parser.add_argument("--tools", type=Path, help="the folder that tests/setup-node-tools.sh prints")
    parser.add_argument("--only", help="names of stories, with commas between them")
    parser.add_argument("--jobs", type=int, default=2, help="stories at a time (2)")
    options = parser.parse_args()
    # Not `resolve`: the Python of a virtual environment is a link that must be started by its own name.
    options.bin, options.sdk, options.python = options.bin.absolute(), options.sdk.absolute(), options.python.absolute()
    unknown = set(options.only.split(",") if options.only else ()) - {story.__name__ for story in stories}
    if unknown:
        parser.error(f"no such stories: {', '.join(sorted(unknown))}")
    chosen = [story for story in stories if not options.only or story.__name__ in options.only.split(",")]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        ended = list(pool.map(lambda story: tell(story, options), chosen))
    sys.exit(0 if all(ended) else 1)


def tell(story, options):
    """Runs a story in a world of its own; answers whether it went well."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="plumb-node-") as root:
        try:
            story(World(Path(root).resolve(), options))
        except Failed as problem:
            print(f"FAILED {story.__name__}\n    " + str(problem).replace("\n", "\n    "), flush=True)
            return False
    print(f"passed {story.__name__} ({time.monotonic() - started:.1f}s)", flush=True)
    return True
