#!/usr/bin/env python3
"""Generates packages in Rust and compiles them.

    tests/rust/sdks.py --bin target/debug/plumb [--target DIR] [--schema FILE ...]

The built-in packages `random` and `command` are used by a program that is run: with required inputs, objects and functions.
A program that leaves out a required input must not compile, and the compiler must name the input. Schemas given by name are
compiled with all their modules. Only the standard library is used.
"""

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

PROGRAM = '''use plumb::prelude::*;
use pulumi_command::local;
use pulumi_random::{RandomPet, RandomPetArgs, RandomString, RandomStringArgs};

#[plumb::main]
async fn main(ctx: Ctx) -> plumb::Result<()> {
    let text = RandomString::new(&ctx, "text", RandomStringArgs::new().special(false).length(8));
    let pet = RandomPet::with(&ctx, "pet", RandomPetArgs::new().prefix(text.result()), opts().protect(false));
    let echo = local::Command::new(&ctx, "echo", local::CommandArgs::new()
        .create(interpolate!("echo {} $NAME", pet.id()))
        .environment([("NAME", text.result())]));
    let run = local::run(&ctx, local::RunArgs::new().command(interpolate!("echo {}", text.result())));
    ctx.export("text", text.result());
    ctx.export("echo", echo.stdout());
    ctx.export("run", run.get(local::RunResult::STDOUT));
    Ok(())
}
'''
INCOMPLETE = '''fn main() {}

fn program(ctx: &plumb::Ctx) {
    pulumi_random::RandomString::new(ctx, "text", pulumi_random::RandomStringArgs::new().special(false));
}
'''


class Failed(Exception):
    """Something that had to be so is not."""


class World:
    def __init__(self, plumb, target, root):
        self.plumb, self.root = plumb, root
        for folder in ["home", "state"]:
            (root / folder).mkdir()
        self.environment = {
            **os.environ,
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "CARGO_TARGET_DIR": str(target),
        }
        # What a user without a published SDK does: one setting for all programs below.
        (root / ".cargo").mkdir()
        sdk = ROOT / "sdk/rust/plumb"
        (root / ".cargo/config.toml").write_text(f'[patch.crates-io]\nplumb-sdk = {{ path = "{sdk}" }}\n')

    def command(self, *words, cwd, code=0):
        done = subprocess.run([str(word) for word in words], env=self.environment, cwd=cwd, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if (done.returncode == 0) != (code == 0):
            raise Failed(f"`{' '.join(map(str, words))}` ended with {done.returncode}:\n{done.stdout[-6000:]}")
        return done.stdout

    def generate(self, source, name):
        out = self.root / name
        self.command(self.plumb, "package", "gen-sdk", source, "--language", "rust", "--out", out, cwd=self.root)
        return out / "rust"


def same(left, right):
    """Whether two folders have the same files."""
    compared = filecmp.dircmp(left, right)
    differing = compared.left_only + compared.right_only + compared.diff_files
    return not differing and all(same(left / it, right / it) for it in compared.common_dirs)


def use(world):
    """A project with two packages, as a user makes it."""
    project = world.root / "project"
    (project / "src").mkdir(parents=True)
    (project / "Pulumi.yaml").write_text("name: use\nruntime: rust\n")
    (project / "Cargo.toml").write_text(
        '[package]\nname = "use-packages"\nversion = "0.1.0"\nedition = "2024"\n\n[dependencies]\n'
        'plumb = { package = "plumb-sdk", version = "0.1" }\n\n[workspace]\n\n[profile.dev]\ndebug = "line-tables-only"\n')
    (project / "src/main.rs").write_text("fn main() {}\n")
    world.command(world.plumb, "package", "add", "random", "--non-interactive", cwd=project)
    world.command(world.plumb, "package", "add", "command", "--non-interactive", cwd=project)
    world.command("cargo", "add", "--quiet", "--offline", "--path", "sdks/command", "--features", "local", cwd=project)
    (project / "src/main.rs").write_text(PROGRAM)
    run = [world.plumb, "--non-interactive"]
    world.command(*run, "stack", "init", "dev", cwd=project)
    world.command(*run, "up", "--yes", cwd=project)
    outputs = json.loads(world.command(*run, "stack", "output", "--json", cwd=project))
    text = outputs["text"]
    if len(text) != 8 or outputs["run"] != text or not outputs["echo"].endswith(f" {text}"):
        raise Failed(outputs)
    world.command(*run, "destroy", "--yes", cwd=project)
    (project / "src/main.rs").write_text(INCOMPLETE)
    shown = world.command("cargo", "check", "--quiet", cwd=project, code=1)
    if "required input" not in shown or "length" not in shown:
        raise Failed(shown)


def compiles(world, schema):
    name = schema.name.split(".")[0]
    started = time.monotonic()
    first, second = world.generate(schema, name), world.generate(schema, f"{name}-again")
    if not same(first, second):
        raise Failed(f"{name} is generated differently a second time")
    generated = time.monotonic() - started
    world.command("cargo", "check", "--quiet", "--features", "full", cwd=first)
    lines = sum(len(path.read_text().splitlines()) for path in first.rglob("*.rs"))
    print(f"    {name}: {lines} lines, generated twice in {generated:.1f} s, checked in {time.monotonic() - started - generated:.1f} s")


def main():
    parser = argparse.ArgumentParser(description="Generate packages in Rust and compile them.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--target", type=Path, default=ROOT / "target/rust-sdk", help="where Cargo builds")
    parser.add_argument("--schema", type=Path, action="append", default=[], help="a schema to compile")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="plumb-rust-sdks-") as root:
        world = World(options.bin.resolve(), options.target.resolve(), Path(root).resolve())
        steps = [("use", lambda: use(world))]
        steps += [(schema.name, lambda schema=schema: compiles(world, schema.resolve())) for schema in options.schema]
        for name, step in steps:
            try:
                step()
                print(f"passed {name}", flush=True)
            except Failed as error:
                failed += 1
                print(f"FAILED {name}\n    " + str(error).replace("\n", "\n    "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
