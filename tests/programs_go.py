"""The Go programs of `tests/programs.py`: compiled together, because linking each of them would take minutes.

Each program becomes a package of one module, whose executable runs the one that the engine asks for. The module uses SDKs that
`plumb` makes of the schemas in `tests/data/schemas`. One program is also run as the project that `convert` writes.
"""

import os
import shutil
import subprocess
from pathlib import Path

SDK = "sdk-3.260.0"
SCHEMAS = Path(__file__).resolve().parent / "data" / "schemas"
SDKS = {
    "random": "github.com/pulumi/pulumi-random/sdk/v4",
    "command": "github.com/pulumi/pulumi-command/sdk",
}
# It has several files.
AS_PROJECT = "component"


class GoPrograms:
    def __init__(self, binary, folder, root):
        self.binary, self.folder, self.root = binary, folder, root
        self.module = root / "go-programs"
        self.executable = self.module / "programs"
        self.environment = {
            "PATH": os.pathsep.join([str(Path(shutil.which("go")).parent), "/usr/bin", "/bin"]),
            "GOMODCACHE": str(folder / "mod"),
            "GOCACHE": str(folder / "build"),
            "GOPROXY": "off",
            # The flags are those of the language host: others would compile everything again.
            "GOFLAGS": "-buildvcs=false -trimpath -mod=mod",
        }

    def go(self, *words):
        """Runs the Go command in the module; returns the lines that it printed if it failed."""
        environment = {"HOME": str(self.root), **self.environment}
        done = subprocess.run(["go", *words], cwd=self.module, env=environment, capture_output=True, text=True, timeout=600)
        return [f"go {words[0]}: {line}" for line in (done.stdout + done.stderr).splitlines()] if done.returncode else []

    def requirements(self):
        """What `go.mod` says of the SDKs of packages, which it makes if they are not there."""
        lines = []
        for name, path in SDKS.items():
            out = self.root / "go-sdks" / name
            if not out.exists():
                command = [self.binary, "package", "gen-sdk", "--language", "go", "--out", out, SCHEMAS / f"{name}.json"]
                environment = {**os.environ, "PULUMI_HOME": str(self.root / "home" / "pulumi")}
                subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)
                (out / "go.mod").write_text(f"module {path}\n\ngo 1.24\n")
            major = path.rpartition("/v")[2] if "/v" in path else "0"
            lines.append(f"require {path} v{major}.0.0\nreplace {path} => {out}\n")
        return "\n".join(lines)

    def manifest(self, folder):
        """Writes `go.mod` and `go.sum`."""
        (folder / "go.mod").write_text((self.folder / SDK / "go.mod").read_text() + self.requirements())
        shutil.copy(self.folder / SDK / "go.sum", folder)

    def check(self, names):
        """Checks and compiles the programs; returns what failed."""
        self.module.mkdir(parents=True)
        self.manifest(self.module)
        programs = {name: f"p{at:02}" for at, name in enumerate(names) if (self.root / "go" / name).exists()}
        for name, package in programs.items():
            (self.module / package).mkdir()
            for file in (self.root / "go" / name).glob("*.go"):
                text = file.read_text().replace("package main\n", f"package {package}\n", 1)
                (self.module / package / file.name).write_text(text.replace("func main() {", "func Main() {"))
        imports = "".join(f'\t"program/{package}"\n' for package in programs.values())
        cases = "".join(f'\t\t"{name}": {package}.Main,\n' for name, package in programs.items())
        (self.module / "main.go").write_text(
            f'package main\n\nimport (\n\t"os"\n\n{imports})\n\nfunc main() {{\n\tmap[string]func(){{\n{cases}'
            '\t}[os.Getenv("PULUMI_PROJECT")]()\n}\n')
        return self.layout() + (self.go("vet", "./...") or self.go("build", "-ldflags", "-w -s", "-o", self.executable))

    def layout(self):
        """Files whose layout is not that of `gofmt`."""
        done = subprocess.run(["gofmt", "-l", self.root / "go"], capture_output=True, text=True, timeout=60)
        return [f"gofmt: {line}" for line in (done.stdout + done.stderr).splitlines()]

    def prepare(self, name, folder):
        """Makes a converted project ready to be run."""
        if name == AS_PROJECT:
            manifest = folder / "go.mod"
            manifest.write_text(manifest.read_text() + "\n" + self.requirements())
            shutil.copy(self.folder / SDK / "go.sum", folder)
            return
        project = folder / "Pulumi.yaml"
        runtime = f"runtime:\n  name: go\n  options:\n    binary: {self.executable}"
        project.write_text(project.read_text().replace("runtime: go", runtime))
