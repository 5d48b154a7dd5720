#!/usr/bin/env python3
"""Stores that are full, busy or gone in the middle of an update: no object of a provider is forgotten, and none is made twice.

    tests/e2e/stores_lost.py --bin target/debug/plumb --stores "$(tests/setup-stores.sh)" --postgres "$(tests/setup-postgres.sh)"

Stories of servers are told for each one that is installed. Mounting small disks takes root on Linux.
"""

import argparse
import contextlib
import functools
import itertools
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import store_servers
from lines import BusyFront, Line
from stories import Failed, LeftOut, expect, expect_in, expect_out, tell

LIMIT = 240
COUNT = 120
"""Resources of the program that fills a disk."""


def full_disk(world):
    """A disk of 600 KB becomes full. With more room, the next run goes on from what was done."""
    with disk(world, "size=600k") as folder:
        world.program({f"r{number:03}": command(world, f"r{number:03}", 4000) for number in range(COUNT)})
        world.ok("stack", "init", "dev")
        code, said = world.run("up", "--yes", "--skip-preview", "--parallel", "16")
        if code == 0:
            raise Failed("the disk did not become full")
        made = world.made()
        mount("-o", "remount,size=20m", folder)
        said += world.ok("up", "--yes", "--skip-preview")
        expect("the resources", world.names(), [f"r{number:03}" for number in range(COUNT)])
        if not 0 < len(made) < COUNT:
            raise Failed(f"{len(made)} commands were carried out before the disk was full")
        expect("each command is carried out once", world.made(), [f"r{number:03}" for number in range(COUNT)])
        expect("recovery files", world.recovery_files(), [])


def read_only_disk(world):
    """A disk takes no writes any more. Nothing is begun then, and the next run with a disk that does goes on."""
    with disk(world, "size=20m") as folder:
        names = world.chain(4)
        world.ok("up", "--yes", "--skip-preview", "--target", "**r0", "--target", "**r1")
        mount("-o", "remount,ro", folder)
        code, said = world.run("up", "--yes", "--skip-preview")
        if code == 0:
            raise Failed(f"the run ended well without writing:\n{said}")
        expect_in("Read-only file system", said)
        expect("the commands", world.made(), names[:2])
        expect("what can be read", world.names(), names[:2])
        mount("-o", "remount,rw", folder)
        world.ok("up", "--yes", "--skip-preview")
        world.goes_on(names)


def full_server(world, server):
    """The disk of the server becomes full in the middle of an update. With room again, the next run goes on."""
    names = world.chain(10, seconds=1, size=200_000, server=server)
    run = world.spawn("up", "--yes", "--skip-preview")
    world.wait_for(lambda: len(world.made()) >= 3)
    filling = fill(server.folder)
    said = run.communicate(timeout=LIMIT)[0]
    if run.returncode == 0:
        raise Failed(f"the disk did not become full:\n{said}")
    made = world.made()
    if len(made) == len(names):
        raise Failed(f"everything was made with a full disk:\n{said}")
    filling.unlink()
    if server.process.poll() is not None:
        server.start_again()
    world.ok("up", "--yes", "--skip-preview")
    world.goes_on(names)


def lost_server(world, server):
    """The server of the store is killed, or cannot be reached, while commands run. Their outcomes are kept in a file."""
    line = Line(server.port)
    try:
        world.reach(server, line.port)
        names = [f"r{number}" for number in range(6)]
        resources = {name: command(world, name, 10, seconds=8 if number else 0) for number, name in enumerate(names)}
        for name in names[1:]:
            resources[name]["options"] = {"dependsOn": ["${r0}"]}
        world.program(resources)
        world.ok("stack", "init", "dev")
        run = world.spawn("up", "--yes", "--skip-preview")
        world.wait_for(lambda: "r0" in world.made() and len(world.started()) == 6)
        if server.outlives_kills:
            server.kill()
        else:
            line.cut()
        said = run.communicate(timeout=LIMIT)[0]
        if run.returncode == 0:
            raise Failed(f"the run ended well without its store:\n{said}")
        expect("the commands", world.made(), names)
        [file] = world.recovery_files()
        expect_in(str(file), said)
        for name in names[1:]:
            expect_in(f"::{name}", said)
        if server.outlives_kills:
            server.start_again()
        else:
            line.heal()
        said = world.ok("cancel", "--yes")
        expect_in("an update was interrupted", said)
        world.goes_on(names)
    finally:
        line.close()


def silent_server(world, server):
    """Requests to the server are lost for half a minute. The update names the store that it waits for, and goes on."""
    line = Line(server.port)
    try:
        world.reach(server, line.port)
        names = world.chain(6, seconds=1)
        run = world.spawn("up", "--yes", "--skip-preview")
        world.wait_for(lambda: len(world.made()) >= 2)
        line.is_silent = True
        threading.Timer(25, setattr, (line, "is_silent", False)).start()
        said = run.communicate(timeout=LIMIT)[0]
        if run.returncode:
            raise Failed(f"the run failed:\n{said}")
        expect_in("waiting for the store", said)
        expect_out("waiting for the program", said)
        world.goes_on(names)
    finally:
        line.close()


def busy_server(world, server):
    """The server answers one request in five with 503, half of them after it has carried them out."""
    if server.name == "postgres":
        raise LeftOut("its server speaks no HTTP")
    front = BusyFront(server.port)
    try:
        world.reach(server, front.port)
        names = world.chain(8)
        world.ok("up", "--yes", "--skip-preview")
        world.goes_on(names)
        world.ok("stack", "rename", "prod")
        expect("the resources", world.names(), names)
        world.ok("destroy", "--yes", "--skip-preview")
        world.ok("stack", "rm", "--yes")
        expect("the stacks", json.loads(world.ok("stack", "ls", "--json")), [])
        if front.refused < 10:
            raise Failed(f"only {front.refused} requests were refused")
    finally:
        front.close()


def command(world, name, size, seconds=0):
    """A command that leaves a line in a file, and has an output of this size."""
    script = (f"echo {name} >> {world.root}/started; sleep {seconds}; echo {name} >> {world.root}/made; "
              f"head -c {size} /dev/urandom | base64 -w0 | head -c {size}")
    return {"type": "command:local:Command", "properties": {"create": script, "logging": "none"}}


@contextlib.contextmanager
def disk(world, size):
    """A small disk that is the store."""
    folder = world.root / "disk"
    folder.mkdir()
    with mounted(folder, size):
        world.variables["PULUMI_BACKEND_URL"] = f"file://{folder}"
        yield folder


@contextlib.contextmanager
def mounted(folder, size):
    """A disk in memory at a folder."""
    if os.geteuid() or not sys.platform.startswith("linux"):
        raise LeftOut("mounting a disk takes root on Linux")
    mount("-t", "tmpfs", "-o", size, "tmpfs", folder)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(folder):
    """Writes a file that takes all that is left of a disk."""
    path = folder / "filling"
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 20, 4096):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
    return path


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


class World:
    """A project with its own home."""

    def __init__(self, root, binary):
        self.root, self.binary = root, binary.resolve()
        self.project = root / "project"
        for name in ("project", "home", "server"):
            (root / name).mkdir()
        self.variables = {"PATH": os.environ.get("PATH", ""), "HOME": str(root / "home"), "PULUMI_CONFIG_PASSPHRASE": "lost"}
        self.children = []

    def program(self, resources):
        (self.project / "Pulumi.yaml").write_text(json.dumps({"name": "proj", "runtime": "yaml", "resources": resources}))

    def reach(self, server, port):
        """Uses a store of its own in a server, through something that listens on another port."""
        through = {name: value.replace(str(server.port), str(port)) for name, value in server.environment.items()}
        self.variables |= through
        self.variables["PULUMI_BACKEND_URL"] = server.address("lost").replace(str(server.port), str(port))

    def chain(self, count, seconds=0, size=10, server=None):
        """A program of commands, each after the one before, in a new stack; answers their names."""
        if server:
            self.reach(server, server.port)
        names = [f"r{number}" for number in range(count)]
        resources = {name: command(self, name, size, seconds) for name in names}
        for before, name in itertools.pairwise(names):
            resources[name]["options"] = {"dependsOn": [f"${{{before}}}"]}
        self.program(resources)
        self.ok("stack", "init", "dev")
        return names

    def goes_on(self, names):
        """All resources exist, each command was carried out once, and the next run finds nothing to do."""
        expect("the resources", self.names(), names)
        self.ok("up", "--yes", "--skip-preview", "--expect-no-changes")
        expect("each command is carried out once", self.made(), names)
        expect("recovery files", self.recovery_files(), [])

    def lines(self, name):
        path = self.root / name
        return sorted(path.read_text().split()) if path.exists() else []

    def made(self):
        return self.lines("made")

    def started(self):
        return self.lines("started")

    def recovery_files(self):
        return sorted((self.root / "home/.pulumi/plumb/recovery").glob("*"))

    def spawn(self, *words):
        child = subprocess.Popen([str(self.binary), *words], cwd=self.project, env=self.variables, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.children.append(child)
        return child

    def run(self, *words):
        child = self.spawn(*words)
        said = child.communicate(timeout=LIMIT)[0]
        return child.returncode, said

    def ok(self, *words):
        code, said = self.run(*words)
        if code:
            raise Failed(f"{words} ended with {code}:\n{said}")
        return said

    def wait_for(self, condition):
        for _ in range(60 * 10):
            if condition():
                return
            threading.Event().wait(0.1)
        raise Failed("what was waited for did not happen")

    def names(self):
        """The resources of the state, without the stack and providers."""
        resources = json.loads(self.ok("stack", "export"))["deployment"].get("resources", [])
        return sorted(it["urn"].split("::")[-1] for it in resources if not it["type"].startswith("pulumi:p"))

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()


def told(story, binary, start=None):
    """A story in a world of its own, and with a server of its own, if there is a way to start one."""
    def run(root):
        world = World(root, binary)
        folder = root / "server"
        with mounted(folder, "size=200m") if story is full_server else contextlib.nullcontext():
            server = start and start(folder)
            try:
                story(world, *filter(None, [server]))
            finally:
                world.close()
                if server:
                    server.stop()
    return run


def main():
    parser = argparse.ArgumentParser(description="Lose stores in the middle of updates.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--stores", type=Path, help="the folder that tests/setup-stores.sh printed")
    parser.add_argument("--postgres", type=Path, help="the folder that tests/setup-postgres.sh printed")
    parser.add_argument("--only", help="tell this story alone")
    options = parser.parse_args()
    kinds, left_out = store_servers.all_of(*(it and it.resolve() for it in (options.stores, options.postgres)))
    for server in left_out:
        print(f"left out stories of {server}", flush=True)
    stories = {story.__name__: told(story, options.bin) for story in (full_disk, read_only_disk)}
    on_disk = (store_servers.Versity, store_servers.Postgres)
    for story in (lost_server, busy_server, silent_server, full_server):
        for kind, programs in kinds:
            # Others are emulators in memory, and have clients that are already covered.
            if story in (silent_server, full_server) and kind not in on_disk:
                continue
            start = functools.partial(lambda kind, programs, folder: kind(folder, programs), kind, programs)
            stories[f"{story.__name__}[{kind.name}]"] = told(story, options.bin, start)
    for name, story in stories.items():
        story.__name__ = name
    return tell(list(stories.values()), lambda root: root, only=options.only, jobs=4)


if __name__ == "__main__":
    sys.exit(main())
