"""The engines: how each gets a project, what its commands are, and how its state is read."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import projects
from .projects import PROJECT, STACK

CREATE, SAME, PREVIEW, REFRESH, DESTROY, PROGRAM, VERSION = (
    "create",
    "nothing-to-do",
    "preview",
    "refresh",
    "destroy",
    "program",
    "version",
)
OPERATIONS = [CREATE, SAME, PREVIEW, REFRESH, DESTROY]

# Run in a process of its own: a child's peak memory starts at that of its parent, so this process stays small.
COUNT_SCRIPT = """
import json, sys
path, resource_type, is_terraform = sys.argv[1], sys.argv[2], sys.argv[3] == "terraform"
state = json.load(open(path))
if is_terraform:
    found = state.get("resources") or []
    print(sum(len(r["instances"]) for r in found if r["type"] == resource_type))
else:
    found = ((state.get("checkpoint") or {}).get("latest") or {}).get("resources") or []
    print(sum(r["type"] == resource_type for r in found))
"""


class SetupError(Exception):
    """A project could not be prepared."""


class Case:
    """A fresh folder with a project, a home and a place for state."""

    def __init__(self, workload, count, directory, sdk):
        self.workload = workload
        self.count = count
        self.directory = Path(directory)
        self.sdk = sdk
        self.project = self.directory / "project"
        self.project.mkdir(parents=True)

    def log(self, phase):
        return self.directory / f"{phase}.log"


def clean_environment():
    """This process's environment without what steers engines."""
    own = ("PULUMI_", "PLUMB_", "TF_", "TERRAFORM_", "PYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


def prepare(command, environment, directory):
    """Runs a command that is not measured."""
    done = subprocess.run(
        command, env=environment, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        shown = " ".join(str(part) for part in command[1:])
        raise SetupError(f"`{shown}` failed: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


class PulumiLike:
    """Plumb or `pulumi`."""

    phases = OPERATIONS

    def __init__(self, name, binary, slow_provider=None):
        self.name = name
        self.binary = str(binary)
        self.slow_provider = slow_provider

    def runs(self, workload):
        return self.slow_provider is not None or not workload.is_slow

    def setup(self, case):
        state, home = case.directory / "state", case.directory / "home"
        state.mkdir()
        home.mkdir()
        projects.write_pulumi(case.workload, case.count, case.project, case.sdk, self.slow_provider)
        prepare(self.command("stack", "init", STACK), self.environment(case), case.project)
        if self.name == "pulumi" and case.workload.needs_random:
            install = self.command("plugin", "install", "resource", "random")
            prepare(install, self.environment(case), case.project)

    def environment(self, case):
        return clean_environment() | {
            "PULUMI_BACKEND_URL": f"file://{case.directory / 'state'}",
            "PULUMI_HOME": str(case.directory / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

    def command(self, *arguments):
        return [self.binary, *arguments, "--non-interactive", "--color", "never"]

    def operation(self, phase, case):
        verb = {CREATE: "up", SAME: "up", PREVIEW: "preview", REFRESH: "refresh", DESTROY: "destroy"}[phase]
        options = [] if phase == PREVIEW else ["--yes", "--skip-preview"]
        if case.workload.parallel:
            options += ["--parallel", str(case.workload.parallel)]
        return self.command(verb, *options, "--stack", STACK)

    def version(self):
        return [self.binary, "version"]

    def found(self, case, _phase):
        path = case.directory / "state" / ".pulumi" / "stacks" / PROJECT / f"{STACK}.json"
        return count_in_state(path, case.workload.resource_type, "pulumi")


class Terraform:
    """Terraform; it has no programs, so only workloads without one run on it."""

    phases = OPERATIONS
    name = "terraform"

    def __init__(self, binary):
        self.binary = str(binary)

    def runs(self, workload):
        return not workload.is_program and not workload.is_slow

    def setup(self, case):
        (case.directory / "terraform.rc").touch()
        projects.write_terraform(case.workload, case.count, case.project)
        prepare([self.binary, "init", "-input=false", "-no-color"], self.environment(case), case.project)

    def environment(self, case):
        return clean_environment() | {
            "TF_CLI_CONFIG_FILE": str(case.directory / "terraform.rc"),
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
        }

    def operation(self, phase, case):
        arguments = {
            CREATE: ["apply", "-auto-approve"],
            SAME: ["apply", "-auto-approve"],
            PREVIEW: ["plan"],
            REFRESH: ["apply", "-refresh-only", "-auto-approve"],
            DESTROY: ["destroy", "-auto-approve"],
        }[phase]
        return [self.binary, *arguments, "-input=false", "-no-color"]

    def version(self):
        return [self.binary, "version"]

    def found(self, case, _phase):
        return count_in_state(case.project / "terraform.tfstate", case.workload.terraform_type, "terraform")


class Baseline:
    """The program alone: run against a monitor that answers at once and does nothing."""

    phases = [PROGRAM]
    name = "baseline"

    def __init__(self, binary, executor, first):
        self.binary = str(binary)
        self.executor = str(executor)
        self.first = str(first)

    def runs(self, workload):
        return workload.is_program

    def setup(self, case):
        projects.write_program(case.workload, case.count, case.project, case.sdk)
        # Not from the sources: the interpreter keeps files beside it.
        shutil.copy(self.first, case.directory / "first.js")

    def environment(self, case):
        return clean_environment()

    def operation(self, _phase, case):
        if case.workload.is_go:
            options = ["compiled", str(case.project / projects.GO_BINARY)]
        elif case.workload.is_python:
            options = ["python", "--virtualenv", str(case.sdk), "--executor", self.executor]
        else:
            options = ["nodejs", "--sdk", str(case.sdk), "--first", str(case.directory / "first.js")]
        return [self.binary, *options, str(case.project)]

    def version(self):
        return None

    def found(self, case, phase):
        # The program registers the stack too.
        return int(case.log(phase).read_text().split()[0]) - 1


def count_in_state(path, resource_type, kind):
    """How many resources of a type the state has."""
    if not path.exists():
        return 0
    script = [sys.executable, "-c", COUNT_SCRIPT, str(path), resource_type, kind]
    return json.loads(subprocess.run(script, check=True, capture_output=True, text=True).stdout)
