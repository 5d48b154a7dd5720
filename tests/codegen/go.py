#!/usr/bin/env python3
"""SDKs for Go, generated from every schema in `tests/data/schemas`: they are laid out as `gofmt` does, they compile, and those of
published packages declare what the published ones do.

    tests/codegen/go.py --bin PLUMB --go .cache/go [--published random=FOLDER …] [--write]

`--go` is the folder that `tests/setup-go.sh` makes. What published packages declare is known by a digest for each of their
folders (`go-facts.txt`); `--published NAME=FOLDER` lists the differences one by one, FOLDER being `sdk/go` of the package's
repository as it was when its schema was taken. `--write` makes the digests anew from these folders.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent / "data" / "schemas"
PUBLISHED = ["random", "command", "docker", "std", "eks"]
SDK = "sdk-3.260.0"
GO = shutil.which("go")

# Schemas that SDKs with generic types are made from too.
GENERIC = [
    "docker.json", "eks.json", "std.json", "cases/types.json", "cases/simple-methods-schema.json",
    "cases/methods-return-plain-resource.json", "cases/plain-object-defaults.json", "cases/nested-module.json",
    "cases/naming-collisions.json", "cases/output-funcs-edgeorder.json", "cases/parameterized/tfe-0.68.2.json",
]

# What does not compile, and why.
BY_HAND = {"overlay-supported-languages": "types that people add by hand"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--go", required=True, type=Path)
    parser.add_argument("--published", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumb-codegen-") as root:
        return Check(Path(root).resolve(), args).run()


def schema_files():
    """Schemas of real packages, cases, and ones made up for Go: hostile names, and an extension of another package."""
    yield HERE / "use-go" / "hostile.json"
    yield HERE / "use-go" / "extension.json"
    for folder in ("", "cases", "cases/parameterized", "cases/programs"):
        for path in sorted((SCHEMAS / folder).iterdir()):
            if path.suffix in (".json", ".yaml") and path.name != "import-states.json":
                yield path


class Check:
    """One run over all schemas."""

    def __init__(self, root, args):
        self.root, self.args = root, args
        self.go = args.go.resolve()
        self.failures, self.left_out = [], []
        self.exports, self.checked = None, 0
        self.environment = {
            **os.environ,
            "GOMODCACHE": str(self.go / "mod"),
            "GOCACHE": str(self.go / "build"),
            "GOPROXY": "off",
            "GOFLAGS": "-buildvcs=false -mod=mod -trimpath",
        }

    def run(self):
        self.surface = self.root / "surface"
        self.call(GO, "build", "-o", self.surface, HERE / "go-surface" / "main.go", cwd=self.root)
        sdks = {}
        for schema in [*schema_files(), *self.generic_schemas()]:
            folder = self.generate(schema)
            if folder:
                sdks[schema.stem] = folder
        ugly = self.call("gofmt", "-l", *sdks.values()).stdout.split()
        self.failures += [f"gofmt would change {path}" for path in ugly]
        self.compile(sdks)
        self.compare(sdks)
        compiled = len(sdks) - len(self.left_out) - self.checked
        print(f"{compiled} SDKs compile, {self.checked} have right types but for packages that are not here; left out:")
        for text in self.left_out:
            print(f"    {text}")
        for failure in self.failures:
            print(failure, file=sys.stderr)
        return 1 if self.failures else 0

    def call(self, *words, cwd=None, check=True):
        done = subprocess.run([str(word) for word in words], cwd=cwd, env=self.environment, capture_output=True, text=True)
        if check and done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))[:200]} failed:\n{done.stdout}{done.stderr}")
        return done

    def generate(self, schema):
        out = self.root / "sdks" / schema.stem
        words = [self.args.bin.resolve(), "package", "gen-sdk", "--language", "go", "--out", out, schema]
        done = self.call(*words, check=False)
        if done.returncode != 0:
            self.failures.append(f"{schema.stem}: {done.stderr}")
            return None
        return out / "go"

    def generic_schemas(self):
        """Schemas with everything that types can be made of, as packages with generic types beside the usual ones."""
        for name in GENERIC:
            path = SCHEMAS / name
            schema = json.loads(path.read_text())
            block = schema.setdefault("language", {}).setdefault("go", {})
            block["generics"] = "side-by-side"
            changed = self.root / f"{path.stem}-generic.json"
            changed.write_text(json.dumps(schema))
            yield changed

    def compile(self, sdks):
        """Packages of one import path go into different rounds."""
        paths = {name: import_path(folder) for name, folder in sdks.items()}
        bases = [base for base, _ in paths.values()] + ["github.com/pulumi/pulumi/sdk/v3", "github.com/blang/semver"]
        rounds = defaultdict(dict)
        for name, folder in sdks.items():
            others = [path for path in imports(folder) if not any(f"{path}/".startswith(f"{base}/") for base in bases)]
            if name in BY_HAND:
                self.left_out.append(f"{name}: {BY_HAND[name]}")
                continue
            if others:
                self.check_types(name, folder, paths[name][0])
                continue
            module, number = paths[name][1], 0
            while module in rounds[number]:
                number += 1
            rounds[number][module] = folder
        for number, modules in rounds.items():
            # What is compiled may need packages of the first round.
            self.compile_round(self.root / f"round{number}", {**rounds[0], **modules}, modules)

    def check_types(self, name, folder, base):
        """Checks an SDK that needs packages which are not here, as far as that goes."""
        if not self.exports:
            self.checker, self.exports = self.root / "check", self.root / "exports"
            self.call(GO, "build", "-o", self.checker, HERE / "go-check" / "main.go", cwd=self.root)
            sdk = "github.com/pulumi/pulumi/sdk/v3/go/pulumi"
            packages = [sdk, f"{sdk}/config", f"{sdk}/internals", f"{sdk}x"]
            listed = self.call(GO, "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", *packages, cwd=self.go / SDK)
            self.exports.write_text(listed.stdout)
        root = min((path.parent for path in folder.rglob("doc.go")), key=lambda path: len(path.parts))
        done = self.call(self.checker, self.exports, root, base, check=False)
        if done.returncode != 0:
            self.failures.append(f"{name}: {done.stderr}")
        self.checked += 1

    def compile_round(self, work, modules, wanted):
        work.mkdir()
        lines = [(self.go / SDK / "go.mod").read_text()]
        for module, folder in modules.items():
            if not (folder / "go.mod").exists():
                (folder / "go.mod").write_text(f"module {module}\n\ngo 1.24\n")
            major = module.rsplit("/v", 1)[-1] if "/v" in module else "0"
            version = f"v{major if major.isdigit() else 0}.0.0"
            lines.append(f"require {module} {version}\nreplace {module} => {folder}\n")
        (work / "go.mod").write_text("\n".join(lines))
        shutil.copy(self.go / SDK / "go.sum", work)
        patterns = [f"{module}/..." for module in wanted]
        done = self.call(GO, "vet", "-unusedresult=false", *patterns, cwd=work, check=False)
        if done.returncode != 0:
            self.failures.append(done.stdout + done.stderr)

    def facts(self, folder):
        return self.call(self.surface, folder).stdout.splitlines()

    def compare(self, sdks):
        given = dict(word.split("=", 1) for word in self.args.published)
        known = {}
        file = HERE / "go-facts.txt"
        for line in file.read_text().splitlines() if file.exists() else []:
            if not line.startswith("#"):
                name, folder, count, digest = line.split("\t")
                known[name, folder] = (int(count), digest)
        changes = differences()
        for name in PUBLISHED:
            ours = self.facts(sdks[name])
            for old, new in changes[name]:
                changed = [line.replace(old, new) for line in ours]
                if changed == ours:
                    self.failures.append(f"go-differences.txt: nothing of {name} has {old}")
                ours = sorted(set(changed))
            if name in given:
                theirs = self.facts(given[name])
                self.failures += [f"{name}: - {line}" for line in sorted(set(theirs) - set(ours))]
                self.failures += [f"{name}: + {line}" for line in sorted(set(ours) - set(theirs))]
                known = {key: value for key, value in known.items() if key[0] != name}
                known.update({(name, folder): value for folder, value in digests(theirs).items()})
                print(f"{name}: {len(theirs)} facts compared one by one")
            expected = {folder: value for (package, folder), value in known.items() if package == name}
            if not expected:
                self.failures.append(f"{name}: nothing is known of the published package")
            if digests(ours) != expected:
                self.failures.append(f"{name}: declares {digests(ours)}, the published package {expected}")
            print(f"{name}: {len(ours)} facts")
        if self.args.write:
            lines = ["# What published packages declare: package, folder, number of facts, digest of them (go.py, go-surface)."]
            lines += ["\t".join(map(str, (*key, *value))) for key, value in sorted(known.items())]
            file.write_text("\n".join(lines) + "\n")


def import_path(folder):
    """The import path of the root package of an SDK, and the path of a module that holds it."""
    roots = [path.parent for path in folder.rglob("doc.go")]
    root = min(roots, key=lambda path: len(path.parts))
    helper = next(path.parent for path in sorted(folder.rglob("pulumiVersion.go")))
    name = str(helper.relative_to(root))
    for source in sorted(root.rglob("*.go")):
        for line in source.read_text().splitlines():
            text = line.strip().strip('"')
            if line.startswith("\t") and line.endswith(f'/{name}"') and "pulumi/sdk/v3" not in line:
                base = text.split('"')[-1].removesuffix(f"/{name}")
                step = str(root.relative_to(folder))
                return base, base if step == "." else base.removesuffix(f"/{step}")
    raise SystemExit(f"{folder} imports none of its own packages")


def imports(folder):
    """Paths with a dot that sources of an SDK import: those without are of the standard library, or cases of their own."""
    for source in folder.rglob("*.go"):
        for line in source.read_text().splitlines():
            if line.startswith(")"):
                break
            if line.startswith("\t") and line.endswith('"') and "." in line.split('"')[1].split("/")[0]:
                yield line.split('"')[1]


def digests(facts):
    folders = defaultdict(list)
    for fact in facts:
        folders[fact.split(" ", 1)[0]].append(fact)
    return {
        folder: (len(lines), hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16])
        for folder, lines in folders.items()
    }


def differences():
    """Texts in our facts that are meant to differ: [ours, published], by package."""
    changes = defaultdict(list)
    for line in (HERE / "go-differences.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, ours, published, _reason = line.split("\t")
            changes[name].append((ours, published))
    return changes


if __name__ == "__main__":
    sys.exit(main())
