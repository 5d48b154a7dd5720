#!/usr/bin/env python3
"""Uses generated SDKs for Go: with a pretend provider, and with the engine and the lab provider.

    tests/codegen/use-go.py --bin PLUMB --go .cache/go --python PYTHON

`--go` is the folder that `tests/setup-go.sh` makes; PYTHON runs the lab provider (`tests/lab`).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SDK = "sdk-3.260.0"
GO = shutil.which("go")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--go", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumb-use-") as root:
        world = World(Path(root).resolve(), args)
        with_mocks(world)
        with_generic_types(world)
        with_engine(world)
    print("the generated SDKs for Go do what they should")


class World:
    """Programs with the SDKs that they use."""

    def __init__(self, root, args):
        self.root, self.binary, self.go = root, args.bin.resolve(), args.go.resolve()
        self.environment = {
            "PATH": os.pathsep.join([str(Path(GO).parent), str(HERE.parent / "lab"), "/usr/bin", "/bin"]),
            "HOME": str(root),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root}",
            "PULUMI_CONFIG_PASSPHRASE": "go",
            "GOMODCACHE": str(self.go / "mod"),
            "GOCACHE": str(self.go / "build"),
            "GOPROXY": "off",
            # The flags are those of the language host: others would compile everything anew.
            "GOFLAGS": "-buildvcs=false -trimpath",
            "LAB_PYTHON": str(args.python.absolute()),
            "LAB_CLOUD": str(root),
        }

    def call(self, *words, cwd, **variables):
        done = subprocess.run(
            [str(word) for word in words], cwd=cwd, env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def program(self, name, sdks):
        """A program with SDKs, made from schemas, each a Go module of its own; `path` is that of the module."""
        folder = self.root / name
        shutil.copytree(HERE / "use-go" / name, folder)
        shutil.copy(self.go / SDK / "go.sum", folder)
        manifest = [(self.go / SDK / "go.mod").read_text()]
        for path, version, schema, *flags in sdks:
            out = folder / "sdks" / schema.stem
            self.call(self.binary, "package", "gen-sdk", "--language", "go", "--out", out, *flags, schema, cwd=folder)
            sdk = out / "go"
            if not flags:
                (sdk / "go.mod").write_text(f"module {path}\n\ngo 1.24\n")
            expect("the module", (sdk / "go.mod").read_text().splitlines()[0], f"module {path}")
            manifest.append(f"require {path} {version}\nreplace {path} => {sdk}\n")
        (folder / "go.mod").write_text("\n".join(manifest))
        return folder


def expect(what, actual, expected):
    if actual != expected:
        sys.exit(f"{what}: {actual!r} instead of {expected!r}")


def with_mocks(world):
    folder = world.program("mocks", [
        ("example.com/pulumi-lab/sdk/go", "v0.0.0", HERE / "use.json"),
        ("example.com/pulumi-shapes/sdk/v2/go", "v0.0.0", HERE / "use-go" / "shapes.json"),
    ])
    world.call(GO, "build", "-mod=mod", "-ldflags", "-w -s", "-o", "program", cwd=folder)
    settings = {"LAB_FAST": "f", "LAB_REGION": "north", "PULUMI_CONFIG": json.dumps({"lab:tags": '{"a":"b"}'})}
    world.call(folder / "program", cwd=folder, **settings)


def with_generic_types(world):
    """One SDK that has generic types beside the usual ones, and one that has nothing else."""
    schemas = []
    for path, generics in [(HERE / "use.json", "side-by-side"), (HERE / "use-go" / "shapes.json", "generics-only")]:
        schema = json.loads(path.read_text())
        schema["language"]["go"]["generics"] = generics
        schemas.append(world.root / path.name)
        schemas[-1].write_text(json.dumps(schema))
    folder = world.program("generic", [
        ("example.com/pulumi-lab/sdk/go", "v0.0.0", schemas[0]),
        ("example.com/pulumi-shapes/sdk/v2/go", "v0.0.0", schemas[1]),
    ])
    shutil.copy(HERE / "use-go" / "mocks" / "pretend.go", folder)
    world.call(GO, "build", "-mod=mod", "-ldflags", "-w -s", "-o", "program", cwd=folder)
    world.call(folder / "program", cwd=folder, LAB_FAST="f", LAB_REGION="north")


def with_engine(world):
    schema = HERE.parent / "data" / "schemas" / "lab.json"
    folder = world.program("engine", [("example.com/pulumi-lab/sdk/go", "v0.0.0", schema, "--local")])
    (folder / "Pulumi.yaml").write_text("name: prog\nruntime: go\n")

    def plumb(*words):
        return world.call(world.binary, *words, "--non-interactive", cwd=folder)

    plumb("stack", "init", "dev")
    plumb("up", "--yes", "--skip-preview")
    outputs = json.loads(plumb("stack", "output", "--json", "--show-secrets"))
    expect("a value", outputs["value"], {"a": [1, "b"]})
    expect("the provider", outputs["region"], "north")
    expect("a component", outputs["children"], ["v", "v"])
    expect("a function", outputs["now"], "now")
    expect("its output", outputs["later"] != "", True)
    expect("a method", "hi" in outputs["described"], True)
    hidden = json.loads(plumb("stack", "output", "--json"))
    expect("a secret", hidden["value"], "[secret]")
    expect("nothing changes", "unchanged" in plumb("up", "--yes", "--skip-preview"), True)
    plumb("destroy", "--yes", "--skip-preview")


if __name__ == "__main__":
    sys.exit(main())
