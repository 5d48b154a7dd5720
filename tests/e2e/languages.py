#!/usr/bin/env python3
"""What every language can do: the same small programs in each, with the published SDKs, through the built binary.

    tests/e2e/languages.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python \\
        [--sdk .cache/node/pulumi-3.248.0] [--go .cache/go] [--repository .cache/java/sdk-1.36.1] [--write]

The programs are below `tests/e2e/languages`, and so are the expectations (`features.py`). The table in
`docs/languages.md` comes from them: `--write` writes it when everything passes; without it the table has to agree. A
language whose SDK is not given is left out. `--only LANGUAGE` runs one; `--without NAME,NAME` leaves features out, for older SDKs, and then nothing is compared.
"""

import argparse
import concurrent.futures
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FOLDER = TESTS / "e2e" / "languages"
DOCUMENT = TESTS.parent / "docs" / "languages.md"
sys.path[:0] = [str(FOLDER), str(TESTS / "e2e" / "bad_input")]

import bad_inputs  # noqa: E402
from features import ALONE, BROKEN, TOGETHER, Wrong, fails  # noqa: E402

STACK = "dev"
TITLES = {"python": "Python", "nodejs": "Node.js", "go": "Go", "java": "Java", "yaml": "YAML"}
GO_SDK = "sdk-3.260.0"
ASSET, IN_FOLDER = "an asset\n", "one\n"
SECTIONS = ("config", "resources", "variables", "outputs")
YAML_CONFIG = """config:
  number: {type: integer}
  truth: {type: boolean}
  tree: {type: object}
  token: {type: string, secret: true}
"""


def main():
    parser = argparse.ArgumentParser(description="Run the features in every language.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the SDK and grpcio")
    parser.add_argument("--lab", type=Path, help="the Python of the lab provider, if it is another one")
    parser.add_argument("--sdk", type=Path, help="a folder made by tests/setup-node.sh")
    parser.add_argument("--go", type=Path, help="the folder of tests/setup-go.sh")
    parser.add_argument("--repository", type=Path, help="the folder of tests/setup-java.sh")
    parser.add_argument("--write", action="store_true", help="write docs/languages.md")
    parser.add_argument("--only", choices=TITLES, help="one language")
    parser.add_argument("--without", default="", help="names of features, with commas between them")
    options = parser.parse_args()
    given = {"python": True, "nodejs": options.sdk, "go": options.go, "java": options.repository, "yaml": True}
    languages = [one for one in TITLES if given[one] and options.only in (None, one)]
    for one in TITLES:
        if not given[one]:
            print(f"left out: {TITLES[one]}, its SDK is not given")
    options.proxy = serve_assets()
    # The one that takes longest begins first.
    order = sorted(languages, key=lambda one: one != "java")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = dict(zip(order, pool.map(lambda one: run_language(one, options), order)))
    failed = any(problems.values())
    for language in languages:
        for feature, problem in problems[language].items():
            print(f"FAILED {TITLES[language]}, {feature}\n    " + problem.replace("\n", "\n    "))
    if not failed and not options.without and not options.only:
        failed = not compare(options.write)
    return 1 if failed else 0


def compare(writes):
    """Whether the document has the table; with `writes` it gets it."""
    text = document()
    if writes:
        DOCUMENT.write_text(text)
    elif not DOCUMENT.exists() or DOCUMENT.read_text() != text:
        print(f"FAILED {DOCUMENT.name} does not say what passes; run this again with --write")
        return False
    return True


class Assets(http.server.BaseHTTPRequestHandler):
    """A proxy that knows two documents of http://assets.test."""

    def do_GET(self):
        content = {"http://assets.test/asset.txt": ASSET.encode(), "http://assets.test/folder.zip": zipped()}.get(self.path)
        self.send_response(404 if content is None else 200)
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


def serve_assets():
    """Serves the assets until the process ends; answers the proxy's address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Assets)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def zipped():
    """The folder of the projects as an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("one.txt", IN_FOLDER)
    return packed.getvalue()


def run_language(language, options):
    """Runs everything in one language; answers what went wrong, by feature."""
    started, problems = time.monotonic(), {}
    mine = [one for one in TOGETHER + ALONE if language not in one.lacks and one.name not in options.without.split(",")]
    together = [one for one in mine if one in TOGETHER]
    with tempfile.TemporaryDirectory(prefix=f"plumb-{language}-") as root:
        world = World(Path(root).resolve(), language, options)
        try:
            run_together(world, together, problems)
        except Wrong as problem:
            print(f"{TITLES[language]}: together it does not work, so each alone:\n{problem}", flush=True)
            run_each(together, language, options, problems)
        for feature in mine:
            if feature in ALONE:
                attempt(feature, lambda one: run_alone(world, one), problems)
    took = time.monotonic() - started
    print(f"{TITLES[language]}: {len(mine) - len(problems)} of {len(mine)} passed ({took:.1f}s)", flush=True)
    return problems


def attempt(feature, work, problems):
    try:
        work(feature)
    except (Wrong, KeyError) as problem:
        problems[feature.name] = f"{type(problem).__name__}: {problem}"


def run_together(world, features, problems):
    """Both rounds of these features in one program."""
    if not features:
        return
    for number in ("1", "2"):
        ran = world.run([one.name for one in features], number)
        if ran.code != 0:
            raise Wrong(f"round {number} ended with {ran.code}:\n{ran.said[-6000:]}")
    ran.look()
    for feature in features:
        attempt(feature, lambda one: one.check(ran), problems)


def run_each(features, language, options, problems):
    """Each feature in a world of its own."""
    for feature in features:
        with tempfile.TemporaryDirectory(prefix=f"plumb-{language}-") as root:
            world = World(Path(root).resolve(), language, options)
            attempt(feature, lambda one: run_together(world, [one], problems), problems)


def run_alone(world, feature):
    """A program that has to fail."""
    if feature.name == "missing":
        return world.without_program(feature.check)
    if feature.name == "syntax":
        file, text, said = BROKEN[world.language]
        (world.project / file).write_text(text)
        return fails(*said)(world.run([feature.name], "1"))
    return feature.check(world.run([feature.name], "1", "--debug"))


class World:
    """A project in one language, with its stack, and another stack to refer to."""

    def __init__(self, root, language, options):
        self.root, self.language, self.binary = root, language, options.bin.absolute()
        self.project = root / "project"
        for name in ("backend", "home", "temp", "cloud", "source"):
            (root / name).mkdir()
        self.environment = self.variables(options)
        self.write_project(options)
        self.write_cloud()
        (root / "source" / "Pulumi.yaml").write_text(
            "name: source\nruntime: yaml\noutputs: {word: w, hidden: {fn::secret: h}}\n")
        self.plumb("stack", "init", STACK, folder=root / "source")
        self.plumb("up", "--yes", "--skip-preview", folder=root / "source")
        self.plumb("stack", "init", STACK)
        self.plumb("config", "set-all", "--plaintext", "number=3", "--plaintext", "truth=true", "--secret", "token=hush")
        self.plumb("config", "set", "--path", "tree.list[0]", "x")

    def variables(self, options):
        python = options.python.absolute()
        path = [str(python.parent), str(TESTS / "lab"), os.environ["PATH"]]
        if options.sdk:
            path.insert(0, str(options.sdk.absolute() / "bin"))
        found = {
            "PATH": os.pathsep.join(path), "HOME": str(self.root / "home"), "TMPDIR": str(self.root / "temp"),
            "PULUMI_HOME": str(self.root / "home"), "PULUMI_BACKEND_URL": f"file://{self.root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "languages", "PYTHONDONTWRITEBYTECODE": "1",
            "LAB_PYTHON": str((options.lab or python).absolute()), "LAB_CLOUD": str(self.root / "cloud"),
            "LAB_LOG": str(self.root / "lab.jsonl"), "HOOK_LOG": str(self.root / "hooks.txt")}
        if proxy := getattr(options, "proxy", None):  # who takes this world for something else may have none
            found |= {"http_proxy": proxy, "no_proxy": "127.0.0.1,localhost"}
        if options.go:
            go = options.go.resolve()
            found |= {"GOMODCACHE": str(go / "mod"), "GOCACHE": str(go / "build"), "GOPROXY": "off",
                      "GOFLAGS": "-buildvcs=false"}
        if options.repository:
            found["MAVEN_OPTS"] = f"-Duser.home={self.root / 'home'} -XX:TieredStopAtLevel=1"
        return found

    def write_project(self, options):
        """The program with what it needs of its SDK."""
        shutil.copytree(FOLDER / self.language, self.project)
        (self.project / "asset.txt").write_text(ASSET)
        (self.project / "text.txt").write_text("text")
        (self.project / "folder").mkdir()
        (self.project / "folder" / "one.txt").write_text(IN_FOLDER)
        self.settings()
        if self.language == "python":
            shutil.copy(TESTS / "oracle" / "support" / "python" / "lab.py", self.project)
        elif self.language == "nodejs":
            shutil.copy(TESTS / "oracle" / "support" / "node" / "lab.js", self.project)
            (self.project / "package.json").write_text('{"name": "matrix", "main": "index.js"}')
            (self.project / "node_modules").symlink_to(options.sdk.absolute() / "node_modules")
        elif self.language == "go":
            for file in ("go.mod", "go.sum"):
                shutil.copy(options.go.resolve() / GO_SDK / file, self.project)
        elif self.language == "java":
            repository = self.root / "home" / ".m2"
            repository.mkdir()
            (repository / "settings.xml").write_text(
                f"<settings><localRepository>{options.repository.resolve()}</localRepository><offline>true</offline></settings>")

    def settings(self, more=""):
        (self.project / "Pulumi.yaml").write_text(f"name: matrix\nruntime: {self.language}\n{more}")

    def write_cloud(self):
        """Objects that are there before anything runs."""
        for name, value in (("existing-1", "found"), ("importable-1", "imported")):
            (self.root / "cloud" / f"Thing__{name}.json").write_text(json.dumps({
                "type": "lab:index:Thing", "id": name, "serial": 1, "region": "home", "data": {"value": value}, "control": {}}))

    def plumb(self, *words, folder=None, code=0, **variables):
        done = self.start(*words, folder=folder, **variables)
        if code is not None and done.returncode != code:
            raise Wrong(f"`plumb {' '.join(words)}` ended with {done.returncode}:\n{done.stdout[-4000:]}")
        return done.stdout

    def start(self, *words, folder=None, **variables):
        return subprocess.run(
            [str(self.binary), *words, "--non-interactive", "--color", "never"], cwd=folder or self.project,
            env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)

    def run(self, features, number, *words):
        """An update with these features."""
        if self.language == "yaml" and features != ["syntax"]:
            self.settings(YAML_CONFIG + yaml_program(features, number))
        started = time.monotonic()
        done = self.start("up", "--yes", "--skip-preview", *words, FEATURES=",".join(features), ROUND=number)
        return Ran(self, done, time.monotonic() - started)

    def without_program(self, check):
        """An update in a project without a program."""
        folder = self.root / "empty"
        folder.mkdir()
        if self.language == "nodejs":
            (folder / "node_modules").symlink_to(self.project / "node_modules")
        main = "main: nowhere\n" if self.language == "yaml" else ""
        (folder / "Pulumi.yaml").write_text(f"name: matrix\nruntime: {self.language}\n{main}")
        done = self.start("up", "--stack", STACK, "--yes", "--skip-preview", folder=folder)
        check(Ran(self, done, 0))


class Ran:
    """What a run has led to."""

    def __init__(self, world, done, seconds):
        self.world, self.language, self.code, self.said, self.seconds = world, world.language, done.returncode, done.stdout, seconds
        self.cloud = world.root / "cloud"

    def look(self):
        """Reads outputs, state and calls."""
        self.masked = json.loads(self.world.plumb("stack", "output", "--json"))
        self.outputs = json.loads(self.world.plumb("stack", "output", "--json", "--show-secrets"))
        state = json.loads(self.world.plumb("stack", "export"))
        self.resources = {one["urn"].rsplit("::", 1)[1]: one for one in state["deployment"]["resources"]}
        self.stored = "".join(one.read_text() for one in (self.world.root / "backend").rglob("*.json"))
        log = self.world.root / "hooks.txt"
        self.calls = log.read_text().splitlines() if log.exists() else []

    def destroy_of(self, name):
        """How a destroy of one resource ends."""
        return self.world.start("destroy", "--yes", "--skip-preview", "--target", self.resources[name]["urn"]).returncode


def yaml_program(features, number):
    """The YAML of these features, their sections joined."""
    sections = {}
    for feature in features:
        file = FOLDER / "yaml" / f"{feature}.{number}.yaml"
        file = file if file.exists() else FOLDER / "yaml" / f"{feature}.yaml"
        section = None
        for line in file.read_text().splitlines(keepends=True):
            if line.rstrip().rstrip(":") in SECTIONS:
                section = line
            else:
                sections.setdefault(section, []).append(line)
    return "".join(section + "".join(lines) for section, lines in sections.items())


def document():
    """The text of docs/languages.md."""
    notes, rows = [], []
    for feature in TOGETHER + ALONE:
        cells = []
        for language in TITLES:
            lack, note = feature.lacks.get(language), feature.notes.get(language)
            text = lack or note
            if text and text not in notes:
                notes.append(text)
            mark = f" [{notes.index(text) + 1}]" if text else ""
            cells.append(("–" if lack else "yes") + mark)
        rows.append(f"| {feature.title} | " + " | ".join(cells) + " |")
    head = (FOLDER / "head.md").read_text()
    table = "| Feature | " + " | ".join(TITLES.values()) + " |\n|---" + "|---" * len(TITLES) + "|\n" + "\n".join(rows)
    listed = "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))
    return f"{head}\n{table}\n\nWhere a cell has a number:\n\n{listed}\n\n{bad_inputs.section()}"


if __name__ == "__main__":
    sys.exit(main())
