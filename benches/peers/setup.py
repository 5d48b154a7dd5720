"""What has to be there before anything is measured: binaries and Python environments."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .projects import GO_SDK

ROOT = Path(__file__).resolve().parents[2]
SDK_VERSION = "3.272"
RANDOM_VERSION = "4.21.4"
EXECUTOR = ROOT / "crates" / "plumb-language" / "src" / "python" / "executor.py"


NODE_SDK_VERSION = "3.248.0"
FIRST = ROOT / "crates" / "plumb-language" / "src" / "node" / "first.js"


class MissingError(Exception):
    """Something that was asked for is not there."""


def binary(path, package, name):
    """The binary at `path`, or the release build of `package`."""
    if path is not None:
        return existing(path)
    say(f"building {package}")
    # Cargo knows best whether there is anything to do.
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", package], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return existing(ROOT / target / "release" / name)


def existing(path):
    path = Path(path).resolve()
    if not os.access(path, os.X_OK):
        raise MissingError(f"{path} is not an executable file")
    return path


def find_peer(name, path, plumb):
    """A peer given by flag or found on PATH; None when it is absent, or when the name leads to Plumb itself."""
    if path is not None:
        return existing(path)
    found = shutil.which(name)
    if found is None:
        return None
    found = Path(found).resolve()
    return None if found == plumb else found


def sdk(workload):
    """What programs of this workload need: a virtual environment, a folder with `node_modules`, or the caches of Go."""
    if not workload.is_program:
        return None
    if workload.is_go:
        return go_sdk()
    if not workload.is_python:
        return printed_folder("setup-node.sh", NODE_SDK_VERSION)
    return random_virtualenv() if workload.needs_random else sdk_virtualenv()


def sdk_virtualenv():
    return printed_folder("setup-python.sh", SDK_VERSION)


def go_sdk():
    if shutil.which("go") is None:
        raise MissingError("there is no `go` on the PATH; leave the workloads in Go out with `--workloads`")
    return printed_folder("setup-go.sh", GO_SDK)


def printed_folder(script, version):
    """What a script that installs an SDK prints."""
    done = subprocess.run([ROOT / "tests" / script, version], check=True, stdout=subprocess.PIPE, text=True)
    return Path(done.stdout.strip())


def random_virtualenv():
    """An environment of its own for the random SDK. The marker is written last, so a half-made one is made anew."""
    directory = ROOT / ".cache" / "venvs" / f"bench-random-{RANDOM_VERSION}-pulumi-{SDK_VERSION}"
    marker = directory / ".complete"
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{directory}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            say("installing the random SDK")
            shutil.rmtree(directory, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", directory], check=True)
            packages = [f"pulumi=={SDK_VERSION}.*", f"pulumi-random=={RANDOM_VERSION}"]
            subprocess.run([directory / "bin" / "python", "-m", "pip", "install", "--quiet", *packages], check=True)
            marker.touch()
    return directory


def say(text):
    print(text, file=sys.stderr, flush=True)
