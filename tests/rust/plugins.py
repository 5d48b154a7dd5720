#!/usr/bin/env python3
"""Runs plugins in Rust: the provider and the policy pack of the examples, and what the templates make.

    tests/rust/plugins.py --bin target/debug/plumb [--target DIR] [--only in_yaml]

The command line builds each plugin beside the program that uses it. A program in Rust uses the package that is generated from the
provider's schema. Only the standard library is used.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from sdks import Failed, ROOT, World


PROGRAM = '''use plumb::prelude::*;
use pulumi_files::{CountWordsArgs, File, FileArgs, LinkArgs, LinkResult, Readers, Site, SiteArgs};

#[plumb::main]
async fn main(ctx: Ctx) -> plumb::Result<()> {
    let text = ctx.values().require::<String>("text")?;
    let file = File::new(&ctx, "secret", FileArgs::new().content(Secret::new(text)).readers(Readers::OWNER));
    let heading = interpolate!("{}!", file.content());
    let site = Site::with(&ctx, "site", SiteArgs::new().heading(heading).pages(["one"]), opts().depends_on([&file]));
    let counted = pulumi_files::count_words(&ctx, CountWordsArgs::new().text(file.content()));
    ctx.export("size", file.size());
    ctx.export("index", site.index());
    ctx.export("siteSize", site.size());
    let link = site.link(LinkArgs::new().page("one").text(file.content()));
    ctx.export("link", link.get(LinkResult::MARKDOWN));
    ctx.export("words", counted.get(pulumi_files::CountWordsResult::WORDS));
    Ok(())
}
'''
NOTE = '''resources:
  note:
    type: notes-DEPARTMENT:Note
    properties:
      text: Hello
      drawing: {kind: circle, radius: 3}
outputs:
  department: ${note.department}
  drawn: ${note.drawing}
'''


def expect(condition, what):
    if not condition:
        raise Failed(what)


class Project:
    """A folder with a program."""

    def __init__(self, world, folder):
        self.world, self.folder = world, folder
        self("stack", "init", "dev")

    def __call__(self, *words, code=0):
        return self.world.command(self.world.plumb, "--non-interactive", *words, cwd=self.folder, code=code)

    def outputs(self):
        return json.loads(self("stack", "output", "--json", "--show-secrets"))

    def resources(self):
        exported = json.loads(self("stack", "export"))["deployment"].get("resources", [])
        return {it["urn"].rsplit("::", 1)[1]: it for it in exported}

    def written(self, name):
        return self.folder / "written" / name


def in_yaml(world):
    provider = example(world, "rust-provider")
    project = Project(world, provider / "program")
    shown = project("up", "--yes")
    expect("Finished" not in shown, shown)
    outputs = project.outputs()
    path = outputs["path"]
    expect(outputs == {"path": path, "size": 15, "index": "index.txt", "siteSize": 34, "words": 3}, outputs)
    expect(path.startswith("greeting-") and project.written(path).read_text() == "Hello from Rust", path)
    expect(project.written(path).stat().st_mode & 0o777 == 0o600, "others may read it")
    expect(project.written("two.txt").read_text() == "Words of 15: two\n", "the page is another one")
    project("up", "--yes", "--expect-no-changes")
    resources = project.resources()
    site = resources["site"]
    expect(site["outputs"] == {"index": "index.txt", "size": 34} and site["dependencies"] == [resources["greeting"]["urn"]], site)
    expect(resources["site-one"]["parent"] == site["urn"], resources["site-one"])
    expect(resources["site-one"]["propertyDependencies"]["content"] == [resources["greeting"]["urn"]], resources["site-one"])
    changes(project, path)
    mistakes(project)
    project("destroy", "--yes")
    expect(not project.resources() and not list((project.folder / "written").iterdir()), "files are left")


def checked(world):
    """The provider keeps the rules of engines, over the whole life of its resources."""
    provider = example(world, "rust-provider")
    project = Project(world, provider / "program")
    shown = project("provider", "check", str(provider), "--create")
    expect(" 0 broken, 0 advice" in shown and "files:index:File: 13 kept" in shown and "files:index:Site: 4 kept" in shown, shown)


def changes(project, path):
    """Updates, a replacement, drift, and an import."""
    program = project.folder / "Pulumi.yaml"
    text = program.read_text()
    program.write_text(text.replace("Hello from Rust", "Hello"))
    shown = project("preview", "--diff")
    expect("siteSize: 34 => 32" in shown, shown)
    project("up", "--yes")
    outputs = project.outputs()
    expect((outputs["path"], outputs["size"], outputs["siteSize"]) == (path, 5, 32), outputs)
    program.write_text(text.replace("content: Hello from Rust", "content: Hello\n      path: chosen"))
    shown = project("preview", "--diff")
    expect("replace" in shown and "greeting" in shown, shown)
    project("up", "--yes")
    expect(project.written("chosen").is_file() and not project.written(path).exists(), "the file was not replaced")
    project.written("one.txt").write_text("drift")
    project.written("two.txt").unlink()
    project("refresh", "--yes")
    resources = project.resources()
    expect(resources["site-one"]["outputs"]["content"] == "drift" and "site-two" not in resources, resources)
    project("up", "--yes")
    expect(project.written("one.txt").read_text().startswith("Words") and project.written("two.txt").is_file(), "drift is left")
    (project.folder / "other.txt").write_text("there before")
    shown = project("import", "files:index:File", "other", "other.txt", "--yes", "--protect=false")
    expect(project.resources()["other"]["outputs"]["size"] == 12 and "there before" in shown, shown)
    project("state", "delete", project.resources()["other"]["urn"], "--yes")


def mistakes(project):
    """What is wrong is said, with the name of the property, and nothing is done."""
    program = project.folder / "Pulumi.yaml"
    text = program.read_text()
    program.write_text(text.replace("path: chosen", "path: ../up"))
    shown = project("up", "--yes", code=1)
    expect("a path must stay below the root of the provider" in shown and "path" in shown, shown)
    shutil.copy(project.written("one.txt"), project.written("taken"))
    program.write_text(text.replace("path: chosen", "path: taken"))
    shown = project("up", "--yes", code=1)
    expect("there is a file at `taken` already" in shown, shown)
    project.written("taken").unlink()
    program.write_text(text)


def patch(world):
    """What a user without published crates does: one setting for all programs below."""
    crates = "".join(f'plumb-sdk{suffix} = {{ path = "{ROOT / "sdk/rust" / folder}" }}\n' for suffix, folder in
                     [("", "plumb"), ("-provider", "plumb-provider"), ("-policy", "plumb-policy")])
    (world.root / ".cargo/config.toml").write_text(f"[patch.crates-io]\n{crates}")


def policies(world):
    pack = example(world, "rust-policy")
    project = Project(world, pack / "program")
    shown = project("up", "--yes", "--policy-pack", "..")
    expect(project.outputs() == {"special": True} and "[remediate]  special-characters" in shown, shown)
    project("config", "set", "length", "8")
    shown = project("up", "--yes", "--policy-pack", "..", code=1)
    expect("`length` is 8, and must be 12 at least" in shown and "severity: high" in shown, shown)
    config = world.root / "config.json"
    config.write_text(json.dumps({"long-passwords": {"enforcementLevel": "advisory", "minimum": 10}}))
    shown = project("up", "--yes", "--policy-pack", "..", "--policy-pack-config", str(config))
    expect("`length` is 8, and must be 10 at least" in shown and "[advisory]" in shown, shown)
    config.write_text(json.dumps({"long-passwords": {"minimum": 0}}))
    shown = project("preview", "--policy-pack", "..", "--policy-pack-config", str(config), code=1)
    expect("minimum" in shown and "must be" in shown.lower(), shown)
    shown = project("policy", "analyze", "--policy-pack", "..", code=1)
    expect("`length` is 8" in shown, shown)
    project("destroy", "--yes")


def policy_template(world):
    patch(world)
    world.command(world.plumb, "policy", "new", "rust", "--dir", "pack", "--non-interactive", cwd=world.root)
    world.command("cargo", "test", "--quiet", cwd=world.root / "pack")
    folder = world.root / "project"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text(f"name: use\nruntime: yaml\nresources: {{{'x' * 51}: {{type: random:RandomPet}}}}\n")
    project = Project(world, folder)
    shown = project("preview", "--policy-pack", "../pack")
    expect("is too long." in shown and "[advisory]" in shown, shown)


def component_template(world):
    patch(world)
    world.command(world.plumb, "package", "new", "rust", "--name", "welcome", "--dir", "welcome", "--yes", "--non-interactive", cwd=world.root)
    folder = world.root / "project"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text(
        "name: use\nruntime: yaml\npackages: {welcome: ../welcome}\n"
        "resources: {hello: {type: welcome:Greeting, properties: {who: world}}}\noutputs: {text: '${hello.text}'}\n")
    project = Project(world, folder)
    project("up", "--yes")
    expect(project.outputs() == {"text": "Hello, world"}, project.outputs())
    project("destroy", "--yes")


def in_rust(world):
    provider = example(world, "rust-provider")
    folder = world.root / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: use\nruntime: rust\n")
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "use-files"\nversion = "0.1.0"\nedition = "2024"\n\n[dependencies]\n'
        'plumb = { package = "plumb-sdk", version = "0.1" }\n\n[workspace]\n\n[profile.dev]\ndebug = "line-tables-only"\n')
    (folder / "src/main.rs").write_text("fn main() {}\n")
    world.command(world.plumb, "package", "add", provider, "--non-interactive", cwd=folder)
    (folder / "src/main.rs").write_text(PROGRAM)
    project = Project(world, folder)
    project("config", "set", "--secret", "text", "hidden words")
    project("config", "set", "files:root", "written")
    shown = project("up", "--yes")
    expect("hidden words" not in shown, shown)
    outputs = project.outputs()
    link = "[hidden words](one.txt), listed in index.txt"
    expect(outputs == {"size": 12, "index": "index.txt", "siteSize": 19, "words": 2, "link": link}, outputs)
    expect(project.written("one.txt").read_text() == "hidden words!: one\n", project.written("one.txt").read_text())
    kept = "".join(path.read_text() for path in (world.root / "state").rglob("*.json"))
    expect("hidden words" not in kept, "the secret is in the state")
    project("up", "--yes", "--expect-no-changes")
    project("destroy", "--yes")


def parameters(world):
    provider = world.root / "notes"
    shutil.copytree(ROOT / "tests/rust/notes", provider)
    patch(world)
    for department in ["sales", "support"]:
        folder = world.root / department
        folder.mkdir()
        (folder / "Pulumi.yaml").write_text(f"name: use-{department}\nruntime: yaml\n")
        world.command(world.plumb, "package", "add", provider, department, "--non-interactive", cwd=folder)
        with (folder / "Pulumi.yaml").open("a") as file:
            file.write(NOTE.replace("DEPARTMENT", department))
        project = Project(world, folder)
        project("up", "--yes")
        expect(project.outputs() == {"department": department, "drawn": {"kind": "circle", "radius": 3}}, project.outputs())
        project("up", "--yes", "--expect-no-changes")
        program = (folder / "Pulumi.yaml").read_text()
        (folder / "Pulumi.yaml").write_text(program.replace("kind: circle", "kind: oval"))
        shown = project("preview", code=1)
        expect("expected one of circle, Square" in shown, shown)
        (folder / "Pulumi.yaml").write_text(program)
        # The parameter is in the state: the program is not needed.
        project("refresh", "--yes")
        project("destroy", "--yes")
    mapping = world.command(world.plumb, "package", "get-mapping", "terraform", provider, cwd=world.root)
    expect("notes:office/memo:Memo" in mapping, mapping)
    world.command("cargo", "build", "--quiet", cwd=provider)
    built = Path(world.environment["CARGO_TARGET_DIR"]) / "debug/pulumi-resource-notes"
    world.command(world.plumb, "plugin", "install", "resource", "notes", "2.0.0", "--file", built, cwd=world.root)
    configuration = world.root / "configuration"
    configuration.mkdir()
    (configuration / "main.tf").write_text('resource "notes_memo" "first" {\n  text = "words"\n}\n')
    world.command(world.plumb, "convert", "--from", "terraform", "--language", "pcl", "--out", "../converted", cwd=configuration)
    converted = (world.root / "converted/main.pp").read_text()
    expect("notes:office/memo:Memo" in converted, converted)


def example(world, name):
    """A copy of an example, with the crates of this checkout; its own tests pass."""
    folder = world.root / name
    shutil.copytree(ROOT / "examples" / name, folder, ignore=shutil.ignore_patterns("Cargo.lock"))
    manifest = folder / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace("../../sdk", str(ROOT / "sdk")))
    world.command("cargo", "test", "--quiet", cwd=folder)
    return folder


CASES = [in_yaml, in_rust, checked, parameters, component_template, policies, policy_template]


def main():
    parser = argparse.ArgumentParser(description="Run plugins in Rust.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--target", type=Path, default=ROOT / "target/rust-sdk", help="where Cargo builds")
    parser.add_argument("--only", help="name of one case")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in (None, case.__name__)]
    if not cases:
        parser.error("there is no such case")
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="plumb-rust-plugins-") as root:
            try:
                case(World(options.bin.resolve(), options.target.resolve(), Path(root).resolve()))
                print(f"passed {case.__name__}", flush=True)
            except Failed as error:
                failed += 1
                print(f"FAILED {case.__name__}\n    " + str(error).replace("\n", "\n    "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
