#!/usr/bin/env python3
"""Terraform configurations: converted, run, and compared with what Terraform made of them.

    tests/terraform.py --bin target/debug/plumb --tools .cache/programs --rust target/rust-sdk

Every folder of `tests/terraform` is a configuration. It is converted to Python and to TypeScript and deployed, and must come to the
outputs in `outputs.json`, which are those of `terraform output -json` after `terraform apply` (`--record` writes them anew, with
the `terraform` of this machine). The folder `state` has a state beside its configuration: imported into the converted program, it
must leave nothing to create, replace or delete. All are converted to Rust, too, and have to compile.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs_rust import RustPrograms

CONFIGURATIONS = Path(__file__).resolve().parent / "terraform"
LANGUAGES = ("python", "typescript")
STATE = "state"


def main():
    parser = argparse.ArgumentParser(description="Convert Terraform configurations and compare them.")
    parser.add_argument("--bin", type=Path, help="the plumb binary")
    parser.add_argument("--tools", type=Path, help="the folder of tests/setup-programs.sh")
    parser.add_argument("--rust", type=Path, help="a target folder of cargo; without it, nothing is converted to Rust")
    parser.add_argument("--only", help="the name of one configuration")
    parser.add_argument("--record", action="store_true", help="write the outputs of Terraform anew")
    args = parser.parse_args()
    names = sorted(it.name for it in CONFIGURATIONS.iterdir() if it.is_dir() and args.only in (None, it.name))
    if args.record:
        return [record(name) for name in names if name != STATE]
    with tempfile.TemporaryDirectory() as folder:
        world = World(args.bin.resolve(), args.tools.resolve(), Path(folder))
        jobs = [(name, language) for name in names for language in LANGUAGES]
        with ThreadPoolExecutor(2) as pool:
            failures = [it for found in pool.map(lambda job: world.check(*job), jobs) for it in found]
        if args.rust:
            failures += world.check_rust(names, args.rust.resolve())
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(names)} configurations in {len(LANGUAGES)} languages, {len(failures)} failures")
    return sys.exit(1 if failures else 0)


def record(name):
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(CONFIGURATIONS / name, Path(folder) / name)
        for words in (["init", "-backend=false"], ["apply", "-auto-approve"]):
            subprocess.run(["terraform", *words, "-no-color"], cwd=copy, check=True, capture_output=True)
        done = subprocess.run(["terraform", "output", "-json"], cwd=copy, check=True, capture_output=True, text=True)
    outputs = {key: it["value"] for key, it in json.loads(done.stdout).items()}
    text = json.dumps(outputs, indent=2, sort_keys=True, ensure_ascii=False)
    (CONFIGURATIONS / name / "outputs.json").write_text(text + "\n")


class World:
    def __init__(self, binary, tools, root):
        self.binary, self.tools, self.root = binary, tools, root
        self.home = root / "home"
        self.home.mkdir()

    def plumb(self, *words, cwd, state):
        environment = {
            "PATH": f"{self.tools / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "PULUMI_HOME": str(self.home / "pulumi"),
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }
        return subprocess.run([self.binary, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)

    def check_rust(self, names, target):
        """Converts configurations to Rust and compiles them together; returns what failed."""
        for name in names:
            out = self.root / "rust" / name
            words = ["convert", "--from", "terraform", "--language", "rust", "--out", str(out), "--name", name, "--generate-only"]
            done = self.plumb(*words, cwd=CONFIGURATIONS / name, state=self.home)
            if done.returncode != 0:
                return [f"{name}: rust: {done.stderr.strip()}"]
        return [it for it in RustPrograms(self.binary, target, self.root, "configurations").check(names) if ": error" in it]

    def check(self, name, language):
        """Converts and deploys a configuration; returns what differs."""
        out, state = self.root / language / name, self.root / "states" / language / name
        for folder in (out, state):
            folder.mkdir(parents=True)
        convert = ["convert", "--from", "terraform", "--language", language, "--out", str(out), "--name", name]
        steps = [(convert + ["--generate-only"], CONFIGURATIONS / name), (["stack", "init", "dev"], out)]
        if name == STATE:
            recorded = json.loads((CONFIGURATIONS / STATE / "terraform.tfstate").read_text())
            expected = {key: it["value"] for key, it in recorded["outputs"].items()}
            state_file = str(CONFIGURATIONS / STATE / "terraform.tfstate")
            adopt = ["--yes", "--generate-code=false"]
            # The file leaves out what is secret, the state has all; what was adopted already stays.
            steps += [(["import", "--file", "import.json", *adopt], out), (["import", "--from", "terraform", *adopt, state_file], out)]
        else:
            expected = json.loads((CONFIGURATIONS / name / "outputs.json").read_text())
        for words, cwd in steps:
            failure = self.failure(words, cwd, state)
            if failure:
                return [f"{name}, {language}: {failure}"]
            if words[0] == "convert" and language == "typescript":
                (out / "node_modules").symlink_to(self.tools / "node_modules")
        if name == STATE:
            changes = self.changes(out, state)
            if set(changes) - {"same", "update"} or not changes.get("same"):
                return [f"{name}, {language}: the preview finds {changes}"]
        failure = self.failure(["up", "--yes", "--skip-preview"], out, state)
        if failure:
            return [f"{name}, {language}: {failure}"]
        found = json.loads(self.plumb("stack", "output", "--json", cwd=out, state=state).stdout)
        pairs = [(key, value, found.get(camel(key))) for key, value in expected.items()]
        return [
            f"{name}, {language}: {key} is {json.dumps(value)}, not {json.dumps(wanted)}"
            for key, wanted, value in pairs
            if plain(wanted) != plain(value)
        ]

    def failure(self, words, cwd, state):
        done = self.plumb(*words, cwd=cwd, state=state)
        return f"{words[0]}: {done.stdout[-2000:]}{done.stderr[-3000:]}" if done.returncode else None

    def changes(self, out, state):
        """The numbers of steps of a preview, by kind; updates must be those of components, which change nothing outside."""
        document = json.loads(self.plumb("preview", "--json", cwd=out, state=state).stdout)
        updated = [it["urn"] for it in document["steps"] if it["op"] == "update" and "::components:index:" not in it["urn"]]
        return {**document["changeSummary"], **({"updated": updated} if updated else {})}


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(it[:1].upper() + it[1:] for it in rest)


def plain(value):
    """A value in which equal numbers, and equal JSON within texts, are the same."""
    if isinstance(value, float) and value == int(value):
        return int(value)
    if isinstance(value, list):
        return [plain(it) for it in value]
    if isinstance(value, dict):
        return {key: plain(it) for key, it in value.items()}
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return plain(json.loads(value))
        except ValueError:
            pass
    return value


if __name__ == "__main__":
    main()
