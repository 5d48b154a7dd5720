#!/usr/bin/env python3
"""Programs with something wrong, kind by kind and language by language: what is said, how it ends, and what becomes of the state.

    tests/e2e/bad_input.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python \\
        --sdk .cache/node/pulumi-3.248.0 --old .cache/old-sdks [--go .cache/go] [--repository .cache/java/sdk-1.36.1] \\
        [--only LANGUAGE[:KIND]]

The cases are in `bad_input/bad_inputs.py`; the table in `docs/languages.md`, which `languages.py` writes, comes from them. Every
program meets a stack with a resource in it. One that fails must leave it as it is, and end with the exit code of programs
that fail; so must a command that cannot begin.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "e2e" / "bad_input"))

import languages  # noqa: E402
from bad_inputs import CASES, FAILS, GO_MAIN, JAVA_FILE, JAVA_MAIN, LINE, RUST_MAIN, RUST_MANIFEST, TITLES  # noqa: E402
from languages import GO_SDK, STACK, Wrong  # noqa: E402

STATE = "resources: {kept: {type: \"pulumi:index:Stash\", properties: {input: 1}}}\n"


class World(languages.World):
    """A project with one resource in its stack, to be run with a program that is wrong."""

    def __init__(self, root, case, options):
        self.root, self.case, self.binary, self.options = root, case, options.bin.absolute(), options
        self.language = "nodejs" if case.language == "typescript" else case.language
        self.project = root / "project"
        for name in ("backend", "home", "temp", "cloud", "project", "good"):
            (root / name).mkdir()
        self.environment = self.variables(options)
        (root / "good" / "Pulumi.yaml").write_text(f"name: wrong\nruntime: yaml\n{STATE}")
        self.plumb("stack", "init", STACK, folder=root / "good")
        self.plumb("up", "--yes", "--skip-preview", folder=root / "good")
        getattr(self, f"write_{case.language}", lambda: None)()
        for name, text in case.files.items():
            file = self.project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        main = f"main: {case.main}\n" if case.main else ""
        runtime = f"{{name: {self.language}, options: {{{case.options}}}}}" if case.options else self.language
        (self.project / "Pulumi.yaml").write_text(f"name: wrong\nruntime: {runtime}\n{main}")
        if case.prepare:
            getattr(self, case.prepare)()

    def write_python(self):
        (self.project / "__main__.py").write_text("import pulumi\n")

    def write_nodejs(self):
        (self.project / "node_modules").symlink_to(self.options.sdk.absolute() / "node_modules")
        (self.project / "package.json").write_text('{"name": "wrong", "main": "index.js"}')
        (self.project / "index.js").write_text("")

    def write_typescript(self):
        self.write_nodejs()
        (self.project / "index.js").rename(self.project / "index.ts")
        (self.project / "package.json").write_text('{"name": "wrong", "main": "index.ts"}')

    def write_go(self):
        for file in ("go.mod", "go.sum"):
            shutil.copy(self.options.go.resolve() / GO_SDK / file, self.project)
        (self.project / "main.go").write_text(GO_MAIN % "")

    def write_java(self):
        shutil.copy(TESTS / "e2e" / "java" / "program" / "pom.xml", self.project)
        (self.project / JAVA_FILE).parent.mkdir(parents=True)
        (self.project / JAVA_FILE).write_text(JAVA_MAIN % "")
        self.take_packages_from(self.options.repository)

    def take_packages_from(self, repository):
        folder = self.root / "home" / ".m2"
        folder.mkdir(exist_ok=True)
        (folder / "settings.xml").write_text(
            f"<settings><localRepository>{repository.resolve()}</localRepository><offline>true</offline></settings>")

    def write_rust(self):
        (self.project / "src").mkdir()
        (self.project / "src" / "main.rs").write_text(RUST_MAIN % "")
        (self.project / "Cargo.toml").write_text(RUST_MANIFEST)
        self.environment |= {name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME") if name in os.environ}
        self.environment["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))

    def write_dotnet(self):
        """A double of the tool, which does as the tool does as far as the host can see it."""
        tools = self.root / "tools"
        tools.mkdir()
        (tools / "dotnet").write_text(
            '#!/bin/sh\n[ "$1" != build ] || [ ! -e broken ] || { echo "Program.cs(3,9): error CS1002: ; expected"; exit 1; }\n')
        (tools / "dotnet").chmod(0o755)
        self.put_first(tools)

    def empty(self):
        """There is nothing but the project file, and the SDK where that is beside it."""
        for entry in self.project.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name not in ("Pulumi.yaml", "node_modules"):
                entry.unlink()

    def without_tools(self):
        self.environment["PATH"] = str(self.root / "temp")

    def bare_python(self):
        bare = self.root / "bare"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
        self.put_first(bare / "bin")

    def old_python(self):
        self.put_first(self.options.old / "python" / "bin")

    def put_first(self, folder):
        self.environment["PATH"] = os.pathsep.join([str(folder), self.environment["PATH"]])

    def bare_node(self):
        (self.project / "node_modules").unlink()

    def old_node(self):
        self.bare_node()
        (self.project / "node_modules").symlink_to(self.options.old.absolute() / "node" / "node_modules")

    def bare_go(self):
        (self.project / "go.mod").write_text("module program\n\ngo 1.24\n")
        (self.project / "go.sum").unlink()

    def old_go(self):
        for file in ("go.mod", "go.sum", "main.go"):
            shutil.copy(self.options.old / "go" / file, self.project)

    def bare_java(self):
        pom = (self.project / "pom.xml").read_text()
        before, rest = pom.split("  <dependencies>")
        (self.project / "pom.xml").write_text(before + rest.split("</dependencies>")[1])

    def old_java(self):
        pom = self.project / "pom.xml"
        pom.write_text(pom.read_text().replace("<pulumi.version>1.36.1<", "<pulumi.version>0.1.0<"))
        self.take_packages_from(self.options.old / "java")

    def text_of(self, more):
        with (self.project / "Pulumi.yaml").open("ab") as file:
            file.write(more)

    def broken_yaml(self):
        self.text_of(b"resources: {broken: [}\n")

    def strange_type(self):
        self.text_of(b'resources: {one: {type: "nothere:index:Thing"}}\n')

    def binary_yaml(self):
        self.text_of(b"outputs: {text: before \xff\xfe after}\n")

    def look(self):
        """The resources, but for where the program stands that registers the stack, and the operations that are pending."""
        state = json.loads(self.plumb("stack", "export", folder=self.root / "good"))["deployment"]
        for resource in state["resources"]:
            for key in ("sourcePosition", "stackTrace"):
                resource.pop(key, None)
        return state["resources"], state.get("pending_operations")

    def meet(self):
        """Runs the program; answers what it came to, once that has been checked."""
        before, case = self.look(), self.case
        words = ("up", "--yes", "--skip-preview") if case.result == FAILS else ("preview",)
        done = self.start(*words, "--stack", STACK)
        expect = 0 if case.result != FAILS else 1
        if done.returncode != expect:
            raise Wrong(f"it ended with {done.returncode}, not {expect}:\n{done.stdout[-3000:]}")
        for text in case.says:
            if text not in done.stdout:
                raise Wrong(f"{text!r} was not said:\n{done.stdout[-3000:]}")
        # YAML programs say this of every package that cannot be loaded, as they do in the reference.
        unexpected = done.stdout.replace("internal error loading package", "")
        for text in ("panicked", "internal error"):
            if text in unexpected:
                raise Wrong(f"{text!r} was said:\n{done.stdout[-3000:]}")
        if case.kind == "long" and sum(line.count("x") for line in done.stdout.splitlines() if "xxxx" in line) < LINE:
            raise Wrong("a part of the line was not shown")
        if self.look() != before:
            raise Wrong(f"the state has changed:\n{before}\n{self.look()}")


def run(case, options):
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="plumb-wrong-") as root:
        try:
            World(Path(root).resolve(), case, options).meet()
            problem = None
        except (Wrong, OSError) as error:
            problem = str(error)
    return problem, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description="Run programs with something wrong.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the SDK and grpcio")
    parser.add_argument("--sdk", required=True, type=Path, help="a folder made by tests/setup-node.sh")
    parser.add_argument("--old", required=True, type=Path, help="the folder of tests/setup-old-sdks.sh")
    parser.add_argument("--go", type=Path, help="the folder of tests/setup-go.sh")
    parser.add_argument("--repository", type=Path, help="the folder of tests/setup-java.sh")
    parser.add_argument("--only", default="", help="LANGUAGE or LANGUAGE:KIND")
    options = parser.parse_args()
    options.lab, options.old = None, options.old.absolute()
    given = {"go": options.go, "java": options.repository, "rust": shutil.which("cargo")}
    language, _, kind = options.only.partition(":")
    cases = [one for one in CASES if given.get(one.language, True) and language in ("", one.language) and kind in ("", one.kind)]
    for one in given:
        if not given[one]:
            print(f"left out: {TITLES[one]}, it is not there")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, (problem, took) in zip(cases, pool.map(lambda one: run(one, options), cases)):
            if problem:
                failed += 1
                print(f"FAILED {case.language}, {case.kind}\n    " + problem.replace("\n", "\n    "), flush=True)
            else:
                print(f"passed {case.language}, {case.kind} ({took:.1f} s)", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
