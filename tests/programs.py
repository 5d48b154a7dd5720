#!/usr/bin/env python3
"""Programs made of PCL: converted, checked by the tools of their languages, run, and compared.

    tests/programs.py --bin target/debug/plumb --tools .cache/programs --go .cache/go --java .cache/java/sdk-1.36.1 \
        --rust target/rust-sdk

Every program in `tests/programs` is converted to Python, TypeScript, Go, Java and Rust. pyright, tsc, `go vet`, javac and cargo
check them.
Then the programs are run in these languages, and in YAML where that has a form for them: all have to come to the same
resources, with the same inputs, and to the same outputs where chance has no part in them. `--share N` runs every Nth program
only, beginning with the one that `--seed` chooses; `--only` runs one. The code that `import` prints must change nothing.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs_go import GoPrograms
from programs_java import JavaPrograms
from programs_rust import RustPrograms

PROGRAMS = Path(__file__).resolve().parent / "programs"
FIRST = "python"
# They read what does not exist where nothing else was deployed.
NOT_RUN = {"stack-reference", "read", "options"}
# YAML converts no values to the types of properties, and settings without a value have none.
NOT_RUN_IN_YAML = {"conversions", "null-values"}
# What they give back is made of pieces of what chance has made.
CHANCE = {"apply-nested"}
# Files of programs with the code that `import` prints.
MAIN = {"python": "__main__.py", "typescript": "index.ts", "go": "main.go", "java": "src/main/java/app/App.java",
        "rust": "src/main.rs"}
IMPORTED = {"RandomString": "abcdef", "RandomPassword": "hidden", "RandomInteger": "3,1,5", "RandomUuid": "aabbccdd-1111-4222-8333-aabbccddeeff"}
FORMLESS = "YAML programs have no form"
# Programs that a language has no form for yet, and says so.
LACKING = {("hooks", "java"): "programs in Java have no form"}


def main():
    parser = argparse.ArgumentParser(description="Convert, check and run programs.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--tools", required=True, type=Path, help="the folder of tests/setup-programs.sh")
    parser.add_argument("--go", type=Path, help="the folder of tests/setup-go.sh; without it, there are no Go programs")
    parser.add_argument("--java", type=Path, help="the folder of tests/setup-java.sh; without it, there are no Java programs")
    parser.add_argument("--rust", type=Path, help="a target folder of cargo; without it, there are no Rust programs")
    parser.add_argument("--only", help="the name of one program")
    parser.add_argument("--share", type=int, default=1, help="run one program out of so many")
    parser.add_argument("--seed", type=int, default=0, help="which share of the programs")
    parser.add_argument("--keep", type=Path, help="leave the converted programs in this folder")
    args = parser.parse_args()
    names = sorted(it.name for it in PROGRAMS.iterdir() if it.is_dir() and args.only in (None, it.name))
    with tempfile.TemporaryDirectory() as folder:
        root = args.keep.resolve() if args.keep else Path(folder)
        java = args.java and args.java.resolve()
        rust = args.rust and args.rust.resolve()
        world = World(args.bin.resolve(), args.tools.resolve(), args.go and args.go.resolve(), java, rust, root)
        with ThreadPoolExecutor(2) as pool:
            times = [time.monotonic()]
            failures = [it for found in pool.map(world.convert, names) for it in found]
            times.append(time.monotonic())
            failures += [it for found in pool.map(lambda check: check(names), world.checks()) for it in found]
            times.append(time.monotonic())
            run = [name for at, name in enumerate(names) if name not in NOT_RUN and (at + args.seed) % args.share == 0]
            failures += [it for found in pool.map(world.compare, run) for it in found]
            imports = [] if args.only else [it for it in world.languages if it in MAIN]
            failures += [it for found in pool.map(world.imports, imports) for it in found]
            times.append(time.monotonic())
    for failure in failures:
        print(failure, file=sys.stderr)
    seconds = [f"{after - before:.0f} s" for before, after in zip(times, times[1:])]
    print(f"{len(names)} programs converted ({seconds[0]}) and checked ({seconds[1]}), {len(run)} of them run ({seconds[2]}), "
          f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


class World:
    def __init__(self, binary, tools, go, java, rust, root):
        self.binary, self.tools, self.root = binary, tools, root
        self.go = go and GoPrograms(binary, go, root)
        self.java = java and JavaPrograms(binary, java, root)
        self.rust = rust and RustPrograms(binary, rust, root)
        self.languages = (FIRST, "typescript", "yaml", *(it for it in ("go", "java", "rust") if getattr(self, it)))
        self.home = root / "home"
        self.home.mkdir(parents=True, exist_ok=True)

    def environment(self, state):
        return {
            **(self.go.environment if self.go else {}),
            **(self.java.environment if self.java else {}),
            **(self.rust.environment if self.rust else {}),
            "PATH": f"{self.tools / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "PULUMI_HOME": str(self.home / "pulumi"),
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

    def plumb(self, *words, cwd, state):
        command = [str(self.binary), *words]
        return subprocess.run(command, cwd=cwd, env=self.environment(state), capture_output=True, text=True, timeout=300)

    def convert(self, name):
        """Converts one program to all languages; returns what failed."""
        failures = []
        for language in self.languages:
            out = self.root / language / name
            words = ["convert", "--from", "pcl", "--language", language, "--out", str(out), "--name", name]
            done = self.plumb(*words, "--generate-only", "--strict", cwd=PROGRAMS / name, state=self.home)
            if done.returncode == 0:
                continue
            lacking = LACKING.get((name, language), FORMLESS if language == "yaml" else None)
            if lacking and lacking in done.stderr:
                shutil.rmtree(out, ignore_errors=True)
            else:
                failures.append(f"{name}: {language}: {done.stderr.strip()}")
        return failures

    def checks(self):
        """Checks of the programs in one language, the slow ones first."""
        typed = [it.check for it in (self.rust, self.go, self.java) if it]
        return [self.pyright, *typed, self.tsc]

    def pyright(self, _names):
        venv = self.tools / "venv"
        folder = self.root / "python"
        roots = [{"root": str(it)} for it in folder.iterdir() if it.is_dir()]
        # The modules of a program are its own.
        (folder / "pyrightconfig.json").write_text(json.dumps({"executionEnvironments": roots}))
        command = [venv / "bin" / "pyright", "--pythonpath", venv / "bin" / "python", "--outputjson", "-p", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        found = json.loads(done.stdout)["generalDiagnostics"]
        return [
            f"pyright: {Path(it['file']).relative_to(self.root)}:{it['range']['start']['line'] + 1}: {it['message']}"
            for it in found
            if it["severity"] == "error"
        ]

    def tsc(self, names):
        folder = self.root / "typescript"
        link = folder / "node_modules"
        if not link.exists():
            link.symlink_to(self.tools / "node_modules")
        settings = json.loads((folder / names[0] / "tsconfig.json").read_text())
        settings["compilerOptions"]["noEmit"] = True
        settings["compilerOptions"]["types"] = ["node"]
        settings["files"] = [f"{name}/index.ts" for name in names if (folder / name / "index.ts").exists()]
        (folder / "tsconfig.json").write_text(json.dumps(settings))
        done = subprocess.run([link / ".bin" / "tsc", "-p", folder], capture_output=True, text=True, timeout=600)
        lines = [line for line in done.stdout.splitlines() if ": error " in line]
        if done.returncode != 0 and not lines:
            lines = [done.stdout + done.stderr]
        return [f"tsc: {line}" for line in lines]

    def compare(self, name):
        """Runs one program in all languages; returns what differs."""
        results = {}
        for language in self.languages:
            folder = self.root / language / name
            if folder.exists() and not (language == "yaml" and name in NOT_RUN_IN_YAML):
                try:
                    results[language] = self.run(name, language, folder)
                except Failed as failure:
                    return [f"{name}: {language}: {failure}"]
        first = results[FIRST]
        return [
            f"{name}: {language} differs from {FIRST}:\n{difference(first, result)}"
            for language, result in results.items()
            if result != first
        ]

    def run(self, name, language, folder):
        state = self.root / "state" / language / name
        state.mkdir(parents=True, exist_ok=True)
        self.share_packages(folder)
        if language == "go":
            self.go.prepare(name, folder)
        if language == "java":
            self.java.prepare(name, folder)
        if language == "rust":
            self.rust.prepare(name, folder)
        self.must("stack", "init", "dev", cwd=folder, state=state)
        self.configure(name, folder, state)
        self.must("up", "--yes", "--skip-preview", cwd=folder, state=state)
        exported = json.loads(self.must("stack", "export", "--show-secrets", cwd=folder, state=state))
        outputs = json.loads(self.must("stack", "output", "--json", "--show-secrets", cwd=folder, state=state))
        return summary(exported["deployment"]["resources"], {} if name in CHANCE else outputs)

    def share_packages(self, folder):
        """Gives a project in Python or TypeScript the packages that all share."""
        project = folder / "Pulumi.yaml"
        project.write_text(project.read_text().replace("virtualenv: venv", f"virtualenv: {self.tools / 'venv'}"))
        if (folder / "package.json").exists() and not (folder / "node_modules").exists():
            (folder / "node_modules").symlink_to(self.tools / "node_modules")

    def configure(self, name, folder, state):
        """Sets the settings of a program."""
        config = PROGRAMS / name / "config.json"
        for key, value in json.loads(config.read_text()).items() if config.exists() else ():
            text = value if isinstance(value, str) else json.dumps(value)
            self.must("config", "set", key, text, cwd=folder, state=state)

    def imports(self, language):
        """Imports resources and puts the code that is printed into the program; returns why that would change them."""
        folder, state = self.root / "imports" / language, self.root / "state" / "imports" / language
        for it in (folder, state):
            it.mkdir(parents=True)
        runtime = {"python": f"{{name: python, options: {{virtualenv: {self.tools / 'venv'}}}}}", "typescript": "nodejs"}
        (folder / "Pulumi.yaml").write_text(f"name: imports\nruntime: {runtime.get(language, language)}\n")
        if language == "typescript":
            (folder / "package.json").write_text('{"main": "index.ts"}')
            (folder / "node_modules").symlink_to(self.tools / "node_modules")
        if language == "go":
            self.go.manifest(folder)
        if language == "rust":
            self.rust.manifest(folder)
        if language == "java":
            (folder / MAIN["java"]).parent.mkdir(parents=True)
            shutil.copy(self.root / "java" / "resource" / "pom.xml", folder)
            self.java.use_folders(folder / "pom.xml")
        (folder / "import.json").write_text(json.dumps({"resources": [
            {"type": f"random:index/{kind[0].lower()}{kind[1:]}:{kind}", "name": kind.lower(), "id": id}
            for kind, id in IMPORTED.items()]}))
        try:
            self.must("stack", "init", "dev", cwd=folder, state=state)
            words = ["--yes", "--skip-preview", "--file", "import.json", "--out", MAIN[language]]
            self.must("import", *words, cwd=folder, state=state)
            self.must("preview", "--expect-no-changes", "--diff", cwd=folder, state=state)
        except Failed as failure:
            return [f"imports: {language}: {failure}"]
        return []

    def must(self, *words, cwd, state):
        done = self.plumb(*words, cwd=cwd, state=state)
        if done.returncode != 0:
            raise Failed(f"{' '.join(words)}:\n{done.stdout}{done.stderr}")
        return done.stdout


class Failed(Exception):
    pass


def summary(resources, outputs):
    """What has to be the same: everything but texts that chance has made."""
    chance = set()
    for resource in resources:
        if resource["type"].startswith("random:"):
            chance |= {it for it in texts([resource.get("id"), resource.get("outputs", {})]) if it not in texts(resource.get("inputs", {}))}
    kept = []
    for resource in resources:
        if resource["type"].startswith("pulumi:providers:") and "::default" in resource["urn"]:
            continue
        if resource["type"] == "pulumi:pulumi:Stack":
            continue
        # SDKs name their versions to providers.
        left_out = {"__defaults", "__internal", "version"}
        inputs = {key: value for key, value in resource.get("inputs", {}).items() if key not in left_out}
        kept.append([resource["urn"], masked(inputs, chance), sorted(resource.get("dependencies", []))])
    return {"resources": sorted(kept, key=str), "outputs": masked(outputs, chance)}


def texts(value):
    if isinstance(value, dict):
        return {text for inner in value.values() for text in texts(inner)}
    if isinstance(value, list):
        return {text for inner in value for text in texts(inner)}
    return {value} if isinstance(value, str) and value else set()


def masked(value, chance):
    if isinstance(value, dict):
        return {key: masked(inner, chance) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [masked(inner, chance) for inner in value]
    if isinstance(value, str) and value.startswith(("{", "[")):
        try:
            # Blanks in JSON mean nothing.
            return masked(json.loads(value), chance)
        except ValueError:
            pass
    if isinstance(value, str):
        for text in sorted(chance, key=len, reverse=True):
            value = value.replace(text, "<chance>")
        return value
    return value


def difference(first, second):
    import difflib

    texts = [json.dumps(it, indent=1, default=str).splitlines() for it in (first, second)]
    return "\n".join(difflib.unified_diff(*texts, lineterm="", n=1))


if __name__ == "__main__":
    main()
