"""A side: the folders and the environment of one binary, and what a command does there."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from normal import Normaliser

LAB = Path(__file__).resolve().parents[2] / "lab"


@dataclass
class Outcome:
    """What a step did, normalised."""

    exit: int = 0
    stdout: list = field(default_factory=list)
    stderr: list = field(default_factory=list)
    files: dict = field(default_factory=dict)


class Side:
    """Runs the steps of one script with one binary."""

    def __init__(self, binary, root, python_bin, timeout=120):
        self.root, self.python_bin, self.timeout = Path(root), python_bin, timeout
        for name in ("home", "user", "store", "project", "cloud"):
            (self.root / name).mkdir(parents=True)
        self.binary = self._under_the_name_of_the_reference(Path(binary).resolve())
        self.project = self.root / "project"
        self.normal = Normaliser(self.root)
        self._install_lab()

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def _under_the_name_of_the_reference(self, binary):
        """A link called `pulumi`, because texts name the program as it was started. Hosts of languages lie beside the binary."""
        self.hosts = binary.parent
        if binary.name == "pulumi":
            return binary
        (self.root / "bin").mkdir()
        link = self.root / "bin" / "pulumi"
        link.symlink_to(binary)
        return link

    def _install_lab(self):
        place = self.root / "home" / "plugins" / "resource-lab-v1.0.0"
        place.mkdir(parents=True)
        launcher = place / "pulumi-resource-lab"
        launcher.write_text(f'#!/bin/sh\nexport LAB_VERSION=1.0.0\nexec "{LAB / "pulumi-resource-lab"}" "$@"\n')
        launcher.chmod(0o755)
        thing = {"type": "Thing", "id": "n-1", "serial": 1, "region": "nowhere", "data": {"value": "found"}, "control": {}}
        (self.root / "cloud" / "Thing__n-1.json").write_text(json.dumps(thing))

    def _environment(self):
        env = {
            "HOME": str(self.root / "user"), "PULUMI_HOME": str(self.root / "home"), "NO_COLOR": "1", "USER": os.environ.get("USER", "root"),
            "PULUMI_BACKEND_URL": f"file://{self.root / 'store'}", "PULUMI_CONFIG_PASSPHRASE": "side by side",
            "PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "LAB_CLOUD": str(self.root / "cloud"), "PYTHONDONTWRITEBYTECODE": "1",
        }
        path = [str(self.binary.parent), str(self.hosts)]
        if self.python_bin:
            path.append(str(self.python_bin))
            env["LAB_PYTHON"] = str(Path(self.python_bin) / "python3")
        env["PATH"] = os.pathsep.join([*path, os.environ.get("PATH", "")])
        return env

    def step(self, step):
        """Does a step of a script: a command, or an edit of a file."""
        if isinstance(step, dict):
            self._edit(step)
            return Outcome()
        done = subprocess.run([str(self.binary), *step], cwd=self.project, env=self._environment(), capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=self.timeout, check=False)
        read = lambda data: without_help(self.normal.lines(data.decode("utf-8", "replace")))
        return Outcome(done.returncode, read(done.stdout), read(done.stderr), self._files())

    def _edit(self, step):
        if "delete" in step:
            (self.project / step["delete"]).unlink(missing_ok=True)
            return
        if "cloud" in step:
            self._drift(self.root / "cloud" / step["cloud"], step["data"])
            return
        content = step["content"]
        if SETTINGS.fullmatch(step["write"]):
            content = self._with_salt(step["write"], content)
        if step["write"].endswith(".json") and '"deployment"' in content:
            content = self._with_manager(content)
        (self.project / step["write"]).write_text(content)

    @staticmethod
    def _drift(path, data):
        """Changes an object of the pretend cloud, or takes it away."""
        if data is None:
            path.unlink(missing_ok=True)
        elif path.exists():
            thing = json.loads(path.read_text())
            thing["data"].update(data)
            path.write_text(json.dumps(thing))

    def _with_salt(self, name, content):
        """Settings that are written keep the salt that was there: without one, the reference writes the whole file anew."""
        path = self.project / name
        old = path.read_text().splitlines() if path.exists() else []
        salts = [line for line in old if line.startswith("encryptionsalt:")]
        return content + "".join(f"{line}\n" for line in salts) if content else content

    def _with_manager(self, content):
        """States to import record how the stack encrypts: the reference cannot take them otherwise."""
        try:
            state = json.loads(content)
            checkpoint = json.loads((self.root / "store" / ".pulumi" / "stacks" / "lab" / "dev.json").read_text())
            state["deployment"]["secrets_providers"] = checkpoint["checkpoint"]["latest"]["secrets_providers"]
            return json.dumps(state, indent=2)
        except (OSError, ValueError, KeyError, TypeError):
            return content

    def _files(self):
        """Files of the project, and states, as lines by name."""
        found = {}
        for path in sorted(self.project.rglob("*")):
            if path.is_file() and path.name != "plumb.lock":
                lines = self.normal.lines(path.read_text(errors="replace"))
                is_settings = path.suffix == ".yaml" and path.name != "Pulumi.yaml"
                found[str(path.relative_to(self.project))] = without_salt(lines) if is_settings else lines
        stacks = self.root / "store" / ".pulumi" / "stacks"
        for path in sorted(stacks.rglob("*.json")):
            found[f"<store>/{path.relative_to(stacks)}"] = self.normal.lines(_readable(path))
        return found


def without_help(lines):
    """Output with a mark in place of the help of a command: helps are written in words of their own."""
    if "Usage:" not in lines:
        return lines
    errors = [line for line in lines[:lines.index("Usage:")] if line.startswith("error: ")]
    return [*errors, "<help>"]


SETTINGS = re.compile(r"Pulumi\..+\.yaml")


def without_salt(lines):
    """Settings of a stack without its salt, which the reference writes into every file, and Plumb with the first secret."""
    lines = [re.sub(r"^\{encryptionsalt: '[^']*'\}$", "{}", line) for line in lines]
    return [line for line in lines if not line.startswith("encryptionsalt:")]


def _readable(path):
    """A state of the store as lines."""
    try:
        return json.dumps(without_places(json.loads(path.read_text())), indent=1)
    except ValueError:
        return path.read_text(errors="replace")


def without_places(document):
    states = document.get("deployment") or (document.get("checkpoint") or {}).get("latest") or {}
    for state in states.get("resources") or []:
        state.pop("sourcePosition", None)
        state.pop("stackTrace", None)
    # The reference leaves the former name in when it renames a stack. Nobody reads it.
    (document.get("checkpoint") or {}).pop("stack", None)
    return document
