"""A side: the folders, the environment and the commands of one binary."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST = 200


class Side:
    """Runs one program with one binary. Both sides have the same layout of folders below `root`."""

    def __init__(self, binary, root, program, checkout, tools):
        self.binary, self.root = Path(binary).resolve(), Path(root)
        self.home, store = self.root / "home", self.root / "store"
        for folder in (self.home, store, self.root / "bin"):
            folder.mkdir(parents=True)
        # Texts name the program as it was started.
        (self.root / "bin/pulumi").symlink_to(self.binary)
        inside = program.relative_to(checkout)
        shutil.copytree(checkout / inside.parts[0], self.root / inside.parts[0], symlinks=True,
                        ignore=shutil.ignore_patterns("node_modules", "venv"))
        self.folder = self.root / inside
        for name, target in (("node_modules", tools / "node/node_modules"), ("venv", tools / "python")):
            (self.folder / name).symlink_to(target)
        for package, version in packages(tools):
            self._install(package, version, tools)
        path = [self.root / "bin", self.binary.parent, tools / "python/bin", os.environ["PATH"]]
        self.environment = {
            "HOME": str(self.home), "PULUMI_HOME": str(self.home / ".pulumi"), "PATH": os.pathsep.join(map(str, path)),
            "PULUMI_BACKEND_URL": f"file://{store}", "PULUMI_CONFIG_PASSPHRASE": "side by side",
            "PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }

    def _install(self, package, version, tools):
        place = self.home / f".pulumi/plugins/resource-{package}-v{version}"
        place.mkdir(parents=True)
        launcher = place / f"pulumi-resource-{package}"
        launcher.write_text(f'#!/bin/sh\nexec "{tools}/python/bin/python" "{HERE}/anything.py" {package} "$@"\n')
        launcher.chmod(0o755)

    def run(self, words, **variables):
        """Exit code, standard output, standard error and seconds of a command."""
        begin = time.monotonic()
        try:
            done = subprocess.run([self.root / "bin/pulumi", *words], cwd=self.folder, env={**self.environment, **variables},
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return "timeout", "", "", LONGEST
        return done.returncode, done.stdout, done.stderr, time.monotonic() - begin


def packages(tools):
    """Names and versions of the plugins that the installed SDKs want. `pulumi` is built in everywhere."""
    found = set()
    installed = tools / "node/node_modules"
    # Packages, those below packages, and those with another name for the program.
    for file in (it for pattern in ("@pulumi/*", "@pulumi/*/node_modules/@pulumi/*", "*") for it in installed.glob(f"{pattern}/package.json")):
        described = json.loads(file.read_text())
        plugin = described.get("pulumi")
        if not plugin:
            continue
        name = plugin.get("name") or described["name"].split("/")[-1]
        found.add((name, (plugin.get("version") or described["version"]).removeprefix("v")))
    for file in (tools / "python").glob("lib/python3*/site-packages/pulumi_*/pulumi-plugin.json"):
        described = json.loads(file.read_text())
        if described.get("resource"):
            found.add((described["name"], described["version"]))
    return sorted(it for it in found if it[0] != "pulumi")
