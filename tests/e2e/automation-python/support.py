"""What the suites share: projects with backends of their own, and programs."""

import json
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import pulumi
from pulumi import automation

TESTS = []


def test(body):
    """A test, to be run after those before it."""
    TESTS.append(body)
    return body


def run():
    """Runs the tests of the suite; ends the process."""
    only, failed = os.environ.get("ONLY", ""), False
    for body in TESTS:
        name = body.__name__.replace("_", " ")
        if only not in name:
            continue
        started = time.monotonic()
        try:
            body()
            print(f"passed {name} ({time.monotonic() - started:.1f}s)", flush=True)
        except Exception:
            failed = True
            print(f"FAILED {name}\n    " + traceback.format_exc().replace("\n", "\n    "), flush=True)
    # Threads of programs that were given up would keep the process alive.
    sys.stdout.flush()
    os._exit(1 if failed else 0)


def nothing():
    """A program without resources."""


class World:
    """A folder for one test: a backend, a home, and a project."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="automation-"))
        for name in ("backend", "home", "project"):
            (self.root / name).mkdir()
        self.backend = f"file://{self.root / 'backend'}"
        self.project = self.root / "project"

    def options(self, **more):
        """What a workspace is made with."""
        settings = automation.ProjectSettings(
            name="auto", runtime="python", backend=automation.ProjectBackend(self.backend))
        return automation.LocalWorkspaceOptions(
            **{"pulumi_home": str(self.root / "home"), "project_settings": settings, **more})

    def inline(self, program=nothing, name="dev", **more):
        """A stack whose program is a function."""
        return automation.create_or_select_stack(
            stack_name=name, project_name="auto", program=program, opts=self.options(**more))

    def file(self, name, content):
        """Writes a file of the project: text, or something to be JSON."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def written(self, program, settings="name: auto\nruntime: python\n"):
        """A project on disk with a Python program."""
        self.file("Pulumi.yaml", settings)
        self.file("__main__.py", f"import pulumi\n{program}\n")

    def local_options(self, **more):
        variables = {"PULUMI_BACKEND_URL": self.backend, **more.pop("env_vars", {})}
        return automation.LocalWorkspaceOptions(pulumi_home=str(self.root / "home"), env_vars=variables, **more)

    def local(self, name="dev", **more):
        """A stack whose program is in the project's folder."""
        return automation.create_or_select_stack(
            stack_name=name, work_dir=str(self.project), opts=self.local_options(**more))


def stash(name, value, **options):
    """A resource that the engine keeps itself."""
    return pulumi.Stash(name, input=value, opts=pulumi.ResourceOptions(**options))


def urn(name, stack="dev"):
    return f"urn:pulumi:{stack}::auto::pulumi:index:Stash::{name}"


def names(stack):
    """Names of what is in the state."""
    return [one["urn"].split("::")[-1] for one in stack.export_stack().deployment["resources"]]


def plain(values):
    """Outputs or configuration as pairs of value and secrecy."""
    return {key: (one.value, one.secret) for key, one in values.items()}


class Background:
    """Something done in a thread, with its result or its error."""

    def __init__(self, work):
        self.result = self.error = None
        self.thread = threading.Thread(target=self._work, args=(work,), daemon=True)
        self.thread.start()

    def _work(self, work):
        try:
            self.result = work()
        except BaseException as error:
            self.error = error

    def join(self, seconds=60):
        self.thread.join(seconds)
        if self.thread.is_alive():
            raise AssertionError("it takes too long")
        return self


def until(is_time, seconds=60):
    """Waits until `is_time` says so; answers what it said."""
    end = time.monotonic() + seconds
    while not (said := is_time()):
        if time.monotonic() > end:
            raise AssertionError("it takes too long")
        time.sleep(0.02)
    return said


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual!r}\nis not\n{expected!r}")


def expect_in(text, within):
    if text not in within:
        raise AssertionError(f"{text!r} is not in\n{within}")


def expect_error(kind, work, text=""):
    """What is done has to fail in this way; answers the error. The class has to be this one, and none derived from it."""
    try:
        work()
    except Exception as error:
        if type(error) is not kind:
            raise AssertionError(f"{type(error).__name__} is not {kind.__name__}: {error}") from error
        expect_in(text, str(error))
        return error
    raise AssertionError("it did not fail")


def children():
    """Processes that this one has started and that are still there, the dead included."""
    found = []
    for thread in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        try:
            found += thread.read_text().split()
        except FileNotFoundError:
            pass  # A thread that has just ended.
    return found
