#!/usr/bin/env python3
"""Runs programs in Rust with the real engine and its built-in providers.

    tests/rust/e2e.py --bin target/debug/plumb [--target DIR] [--only values]

All programs are one crate (tests/rust/programs), which is built once. Only the standard library is used.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class World:
    """A home, a backend, and the built programs."""

    def __init__(self, plumb, program, target, root):
        self.plumb, self.program, self.root = plumb, program, root
        for folder in ["home", "state", "project"]:
            (root / folder).mkdir()
        self.environment = {
            **{name: os.environ[name] for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME"] if name in os.environ},
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "CARGO_TARGET_DIR": str(target),
        }
        text = f"name: programs\nruntime:\n  name: rust\n  options:\n    binary: {program}\n"
        (root / "project/Pulumi.yaml").write_text(text)

    def run(self, *words, cwd=None, code=0):
        done = subprocess.run([str(self.plumb), *words, "--non-interactive"], env=self.environment, cwd=cwd or self.root / "project",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180)
        if code is not None and (done.returncode == 0) != (code == 0):
            raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def stack(self, case, **config):
        return Stack(self, case, config)


class Stack:
    """A stack that runs one case."""

    def __init__(self, world, case, config):
        self.world, self.name = world, case
        world.run("stack", "init", case)
        self.set(case=case, **config)

    def set(self, **config):
        for key, value in config.items():
            secret = ["--secret"] if key == "token" else ["--plaintext"]
            self.world.run("config", "set", "--stack", self.name, *secret, key, str(value))

    def up(self, *words, code=0):
        return self.world.run("up", "--yes", "--skip-preview", "--stack", self.name, *words, code=code)

    def preview(self, *words, code=0):
        return self.world.run("preview", "--diff", "--stack", self.name, *words, code=code)

    def destroy(self, code=0, *words):
        return self.world.run("destroy", "--yes", "--skip-preview", "--stack", self.name, *words, code=code)

    def outputs(self, secrets=True):
        shown = ["--show-secrets"] if secrets else []
        return json.loads(self.world.run("stack", "output", "--json", "--stack", self.name, *shown))

    def resources(self):
        text = self.world.run("stack", "export", "--stack", self.name)
        return json.loads(text)["deployment"].get("resources", [])

    def resource(self, name):
        return next(it for it in self.resources() if it["urn"].endswith(f"::{name}"))


class Failed(Exception):
    """Something that had to be so is not."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def case_values(world):
    stack = world.stack("values")
    shown = stack.preview()
    expect("first" in shown and "echo" in shown, shown)
    stack.up()
    outputs = stack.outputs()
    text = outputs["text"]
    expect(len(text) == 6 and outputs["echo"] == text.upper() and outputs["same"] is True, outputs)
    expect(outputs["nested"]["list"][:2] == [1, text] and outputs["slow"] == 6, outputs)
    echo = stack.resource("echo")
    first = stack.resource("first")["urn"]
    expect(echo["dependencies"] == [first], echo["dependencies"])
    expect(echo["propertyDependencies"]["create"] == [first], echo["propertyDependencies"])
    stack.up("--expect-no-changes")
    stack.set(length=9)
    shown = stack.preview()
    expect("replace" in shown, shown)
    stack.up()
    expect(len(stack.outputs()["text"]) == 9, stack.outputs())
    stack.destroy()
    expect(not stack.resources(), "resources are left")


def case_secrets(world):
    stack = world.stack("secrets", token="t0ken")
    shown = stack.up()
    expect("t0ken" not in shown, shown)
    outputs = stack.outputs()
    expect(outputs["derived"] == "<t0ken>" and outputs["stdout"] == "t0ken-done" and outputs["open"] == 5, outputs)
    expect(outputs["deep"] == {"list": ["a", "t0ken"]}, outputs)
    hidden = stack.outputs(secrets=False)
    expect("t0ken" not in json.dumps(hidden), hidden)
    state = "".join(path.read_text() for path in (world.root / "state").rglob("secrets.json"))
    expect(state and "t0ken" not in state, "the secret is in the state")


def case_component(world):
    stack = world.stack("component")
    stack.up()
    text = stack.outputs()["text"]
    expect(re.fullmatch(r"p:\w{4}-\w{4}", text), text)
    pair = stack.resource("pair")
    expect(pair["type"] == "acme:index:Pair" and pair["outputs"] == {"text": text}, pair)
    expect(pair["inputs"] == {"prefix": "p:", "size": 4}, pair)
    left = stack.resource("pair-left")
    expect(left["parent"] == pair["urn"], left)
    after = stack.resource("after")["dependencies"]
    expect(sorted(after) == sorted(stack.resource(f"pair-{it}")["urn"] for it in ["left", "right"]), after)
    stack.up("--expect-no-changes")


def case_functions(world):
    stack = world.stack("functions")
    stack.preview()
    stack.up()
    outputs = stack.outputs()
    expect(outputs["plain"] == "plain" and outputs["shout"] == outputs["text"] + "!", outputs)


def case_transforms(world):
    stack = world.stack("transforms")
    stack.up()
    outputs = stack.outputs()
    expect(outputs["length"] == 12 and "_" in outputs["pet"], outputs)


def case_hooks(world):
    file = world.root / "hooks"
    stack = world.stack("hooks", file=file)
    stack.preview()
    expect(not file.exists(), "a hook ran in a preview")
    stack.up()
    expect(file.read_text() == "before pet true\nafter pet true\n", file.read_text())
    shown = world.run("destroy", "--yes", "--skip-preview", "--run-program", "--stack", "hooks", code=1)
    expect("pet must not be deleted" in shown, shown)


def case_failure(world):
    stack = world.stack("failure")
    shown = stack.up(code=1)
    expect("invalid digit found in string" in shown and "src/main.rs:" in shown, shown)
    expect(shown.count("at src/main.rs:") == 1, shown)
    expect("never" not in shown, shown)
    names = {it["urn"].rsplit("::", 1)[1] for it in stack.resources()}
    expect({"first", "independent"} <= names, names)
    expect(stack.outputs() == {"early": "kept"}, stack.outputs())


def case_panic(world):
    shown = world.stack("panic").up(code=1)
    expect("the closure given to `map` panicked: on purpose" in shown and "src/main.rs:" in shown, shown)


def case_refused(world):
    shown = world.stack("refused").up(code=1)
    expect("exit status 7" in shown or "exit code 7" in shown or "7" in shown, shown)
    expect("panicked" not in shown and "the engine is gone" not in shown, shown)


def case_cycle(world):
    started = time.monotonic()
    shown = world.stack("cycle").up(code=1)
    expect("these wait for each other" in shown and "`first`" in shown and "`second`" in shown, shown)
    expect("src/main.rs:" in shown and time.monotonic() - started < 30, shown)


def case_reference(world):
    world.stack("secrets2", token="t0ken").set(case="secrets")
    secrets = "secrets2"
    world.run("up", "--yes", "--skip-preview", "--stack", secrets)
    values = world.stack("reference", other=f"organization/programs/{secrets}")
    shown = values.up(code=1)
    expect(f"the stack `organization/programs/{secrets}` has no output `text`" in shown, shown)
    expect("src/main.rs:" in shown, shown)
    hidden = values.outputs(secrets=False)
    expect(hidden["derived"] == "[secret]" and hidden["none"] is True, hidden)
    expect(values.outputs()["derived"] == "<t0ken>", values.outputs())


def case_options(world):
    stack = world.stack("options")
    stack.up()
    pet = stack.resource("old")["id"]
    own = stack.resource("own")
    expect(stack.resource("provided")["provider"] == f"{own['urn']}::{own['id']}", stack.resource("provided"))
    expect(stack.resource("second")["dependencies"] == [stack.resource("first")["urn"]], stack.resource("second"))
    stack.set(length=9)
    stack.up()
    expect(stack.resource("new")["id"] == pet, "the alias was not found")
    expect(stack.resource("steady")["inputs"]["length"] == 6, stack.resource("steady"))
    expect(stack.resource("first").get("protect") is True, stack.resource("first"))


def case_continue(world):
    stack = world.stack("continue")
    shown = stack.up("--continue-on-error", code=1)
    outputs = stack.outputs()
    expect(outputs.get("good") == 4 and outputs.get("bad") == "replaced", f"{outputs}\n{shown}")


def case_built(world):
    """The host builds the program itself, shows what the compiler says, and needs nothing a second time."""
    project = world.root / "built"
    (project / "src").mkdir(parents=True)
    (project / "Pulumi.yaml").write_text("name: built\nruntime: rust\n")
    sdk = ROOT / "sdk/rust/plumb"
    (project / "Cargo.toml").write_text(
        '[package]\nname = "built"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n\n[profile.dev]\n'
        f'debug = "line-tables-only"\n\n[dependencies]\nplumb = {{ package = "plumb-sdk", path = "{sdk}" }}\n')
    shutil.copy(HERE / "programs/Cargo.lock", project / "Cargo.lock")
    program = 'use plumb::prelude::*;\n\n#[plumb::main]\nasync fn main(ctx: Ctx) -> plumb::Result<()> {\n    %s\n    Ok(())\n}\n'
    (project / "src/main.rs").write_text(program % 'let unused = 1; ctx.export("answer", 42);')
    world.run("stack", "init", "dev", cwd=project)
    shown = world.run("up", "--yes", "--skip-preview", "--stack", "dev", cwd=project)
    expect("unused variable: `unused`" in shown, shown)
    expect(json.loads(world.run("stack", "output", "--json", "--stack", "dev", cwd=project)) == {"answer": 42}, shown)
    (project / "src/main.rs").write_text(program % 'ctx.export("answer", undefined_name);')
    shown = world.run("up", "--yes", "--skip-preview", "--stack", "dev", cwd=project, code=1)
    expect("cannot find value `undefined_name`" in shown and "src/main.rs:5" in shown, shown)


CASES = {name[5:]: function for name, function in list(globals().items()) if name.startswith("case_")}


def main():
    parser = argparse.ArgumentParser(description="Run programs in Rust.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--target", type=Path, default=ROOT / "target/rust-sdk", help="where Cargo builds")
    parser.add_argument("--only", choices=sorted(CASES), action="append", help="one case")
    options = parser.parse_args()
    build = subprocess.run(["cargo", "build", "--quiet"], cwd=HERE / "programs",
                           env={**os.environ, "CARGO_TARGET_DIR": str(options.target)})
    if build.returncode != 0:
        return 1
    program = options.target.resolve() / "debug/rust-programs"
    failed = 0
    with tempfile.TemporaryDirectory(prefix="plumb-rust-") as root:
        world = World(options.bin.resolve(), program, options.target.resolve(), Path(root).resolve())
        for name in options.only or CASES:
            started = time.monotonic()
            try:
                CASES[name](world)
                print(f"passed {name} ({time.monotonic() - started:.1f} s)", flush=True)
            except Exception as error:  # one case must not hide the others
                failed += 1
                text = str(error) if isinstance(error, Failed) else traceback.format_exc()
                print(f"FAILED {name}\n    " + text.replace("\n", "\n    "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
