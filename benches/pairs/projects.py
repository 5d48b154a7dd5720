"""A project for each language, ready to be run; which shape the program has is said by the environment."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from peers import engines
from peers.projects import GO_BINARY, GO_SDK, PROJECT, STACK
from peers.setup import EXECUTOR, FIRST, NODE_SDK_VERSION, SDK_VERSION, go_sdk, printed_folder

PROGRAMS = Path(__file__).parent / "programs"
SHAPES = ["components", "resources", "mixed"]
ONE = "one"
ROOT_STACK = "pulumi:pulumi:Stack"


@dataclass
class Project:
    """A folder with a program, and how the program is run with Plumb and without."""

    language: str
    folder: Path
    runtime: dict
    # Arguments of `null-monitor` before the folder of the program.
    alone: list = field(default_factory=list)
    # What loads the SDK and does nothing with it.
    bare: list = field(default_factory=list)

    @property
    def program(self):
        return self.folder / "program"

    def environment(self, shape, count):
        return engines.clean_environment() | {
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "BENCH_SHAPE": shape,
            "BENCH_COUNT": str(count),
            "BENCH_NOTE": str(self.folder / "note"),
        }

    def resources(self):
        """How many resources the state has, without the stack and its providers."""
        path = self.folder / "state" / ".pulumi" / "stacks" / PROJECT / f"{STACK}.json"
        found = json.loads(path.read_text())["checkpoint"]["latest"].get("resources") or []
        types = [resource["type"] for resource in found]
        return sum(name != ROOT_STACK and not name.startswith("pulumi:providers:") for name in types)


def make(language, folder, plumb):
    """The project of a language in a new folder, with a stack."""
    project = MAKERS[language](folder)
    for name in ("home", "state"):
        (folder / name).mkdir()
    # JSON is YAML.
    settings = f"name: {PROJECT}\nruntime: {json.dumps(project.runtime)}\n"
    (project.program / "Pulumi.yaml").write_text(settings)
    init = [str(plumb), "stack", "init", STACK, "--non-interactive"]
    engines.prepare(init, project.environment(ONE, 1), project.program)
    return project


def python(folder):
    shutil.copytree(PROGRAMS / "python", folder / "program")
    environment = printed_folder("setup-python.sh", SDK_VERSION)
    return Project(
        "python",
        folder,
        {"name": "python", "options": {"virtualenv": str(environment)}},
        ["python", "--virtualenv", str(environment), "--executor", str(EXECUTOR)],
        [str(environment / "bin" / "python"), "-c", "import pulumi"],
    )


def nodejs(folder):
    shutil.copytree(PROGRAMS / "nodejs", folder / "program")
    sdk = printed_folder("setup-node.sh", NODE_SDK_VERSION)
    (folder / "program" / "package.json").write_text('{"name": "bench"}')
    # Not from the sources: the interpreter keeps files beside it.
    first = shutil.copy(FIRST, folder)
    (folder / "program" / "node_modules").symlink_to(sdk / "node_modules")
    return Project(
        "nodejs",
        folder,
        {"name": "nodejs"},
        ["nodejs", "--sdk", str(sdk), "--first", str(first)],
        ["node", "-e", 'require("@pulumi/pulumi")'],
    )


def go(folder):
    sdk = go_sdk()
    program = folder / "program"
    shutil.copytree(PROGRAMS / "go", program)
    for file in ("go.mod", "go.sum"):
        shutil.copy(sdk / f"sdk-{GO_SDK}" / file, program)
    environment = os.environ | {
        "GOMODCACHE": str(sdk / "mod"),
        "GOCACHE": str(sdk / "build"),
        "GOPROXY": "off",
        "GOFLAGS": "-buildvcs=false",
    }
    command = ["go", "build", "-trimpath", "-ldflags", "-w -s", "-o", GO_BINARY]
    subprocess.run(command, cwd=program, env=environment, check=True)
    binary = str(program / GO_BINARY)
    return Project("go", folder, {"name": "go", "options": {"binary": GO_BINARY}}, ["compiled", binary], [binary])


MAKERS = {"python": python, "nodejs": nodejs, "go": go}
