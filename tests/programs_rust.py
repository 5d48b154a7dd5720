"""The Rust programs of `tests/programs.py`: compiled together, because linking each of them would take minutes.

Each program becomes a module of one crate, whose executable runs the one that the engine asks for. The crates of packages are
those that `convert` writes. One program is also run as the project that `convert` writes.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# It has several files.
AS_PROJECT = "component"
START = "#[plumb::main]\nasync fn main("


class RustPrograms:
    def __init__(self, binary, target, root, name="programs"):
        """`name` is that of the crate. Tests that run at the same time share the target folder, and must not share a name."""
        self.binary, self.target, self.root, self.name = binary, target, root, name
        self.folder = root / "rust-programs"
        self.executable = self.target / "debug" / name

    @property
    def environment(self):
        found = {name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME") if name in os.environ}
        homes = {"CARGO_HOME": str(Path.home() / ".cargo"), "RUSTUP_HOME": str(Path.home() / ".rustup")}
        homes = {name: path for name, path in homes.items() if Path(path).exists()}
        return {**homes, **found, "CARGO_TARGET_DIR": str(self.target)}

    def crates(self):
        """The crates of the packages, by name."""
        found = ((f"pulumi_{it.parent.name}", it.parent) for it in (self.root / "rust").glob("*/sdks/*/Cargo.toml"))
        return dict(sorted(found, reverse=True))

    def patches(self):
        """Where the crate is that no registry has."""
        return f"[patch.crates-io]\nplumb-sdk = {{ path = {json.dumps(str(ROOT / 'sdk/rust/plumb'))} }}\n"

    def check(self, names):
        """Compiles the programs; returns what failed, warnings included."""
        self.folder.mkdir(parents=True)
        sources, crates = self.folder / "src", self.crates()
        cases, modules, libraries = "", "", {}
        for at, name in enumerate(names):
            made = self.root / "rust" / name
            if not made.exists():
                continue
            module = f"p{at:02}"
            (sources / module).mkdir(parents=True)
            for file in (made / "src").rglob("*.rs"):
                text = file.read_text().replace("crate::", f"crate::{module}::").replace(START, "pub async fn main(")
                (sources / module / file.name.replace("main.rs", "mod.rs")).write_text(text)
            for line in (made / "Cargo.toml").read_text().partition("[dependencies]\n")[2].splitlines():
                library = line.partition(" ")[0]
                path = json.dumps(str(crates[library])) if library in crates else ""
                libraries[library] = f"{library} = {{ path = {path}, features = [\"full\"] }}" if path else line
            modules += f"mod {module};\n"
            cases += f'        "{name}" => {module}::main(ctx).await,\n'
        (sources / "main.rs").write_text(
            f"{modules}\n#[plumb::main]\nasync fn main(ctx: plumb::Ctx) -> plumb::Result<()> {{\n"
            f'    match ctx.project().to_owned().as_str() {{\n{cases}        other => panic!("there is no program {{other}}"),\n    }}\n}}\n')
        (self.folder / "Cargo.toml").write_text(
            f'[package]\nname = "{self.name}"\nversion = "0.1.0"\nedition = "2024"\n\n[profile.dev]\ndebug = 0\n\n[dependencies]\n'
            + "\n".join(sorted(libraries.values())) + "\n\n" + self.patches())
        self.lock(self.folder)
        command = ["cargo", "build", "--quiet", "--message-format", "short"]
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=900)
        numbers = {f"p{at:02}": name for at, name in enumerate(names)}
        found = [re.sub(r"p\d\d(?=/)", lambda it: numbers.get(it[0], it[0]), line) for line in done.stderr.splitlines() if line]
        return [f"cargo: {line}" for line in found]

    def lock(self, folder):
        """Has the crate use the libraries that tests of the SDK have compiled."""
        shutil.copy(ROOT / "sdk/rust/Cargo.lock", folder)

    def prepare(self, name, folder):
        """Makes a converted project ready to be run."""
        project = folder / "Pulumi.yaml"
        if name == AS_PROJECT:
            with (folder / "Cargo.toml").open("a") as manifest:
                manifest.write("\n" + self.patches())
            self.lock(folder)
        else:
            runtime = f"runtime:\n  name: rust\n  options:\n    binary: {self.executable}"
            project.write_text(project.read_text().replace("runtime: rust", runtime))

    def manifest(self, folder):
        """Makes a project for code that `import` prints."""
        (folder / "src").mkdir(parents=True)
        converted = self.root / "rust" / "resource"
        (folder / "sdks").symlink_to(converted / "sdks")
        (folder / "Cargo.toml").write_text((converted / "Cargo.toml").read_text() + "\n" + self.patches())
        self.lock(folder)
