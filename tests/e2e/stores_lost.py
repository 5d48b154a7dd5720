#!/usr/bin/env python3
"""Stores that are full or gone in the middle of an update: no object of a provider is forgotten, and none is made twice.

    tests/e2e/stores_lost.py --bin target/debug/plumb --stores "$(tests/setup-stores.sh)"

Mounting small disks takes root on Linux; without `--stores` the story of a lost server is left out.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import store_servers
from stories import Failed, LeftOut, expect, expect_in, tell

LIMIT = 240
COUNT = 120
"""Resources of the program that fills a disk."""


def full_disk(world):
    """A disk of 600 KB becomes full. With more room, the next run goes on from what was done."""
    if os.geteuid() or not sys.platform.startswith("linux"):
        raise LeftOut("mounting a disk takes root on Linux")
    disk = world.root / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", "size=600k", "tmpfs", disk)
    try:
        world.variables["PULUMI_BACKEND_URL"] = f"file://{disk}"
        world.program({f"r{number:03}": command(world, f"r{number:03}", 4000) for number in range(COUNT)})
        world.ok("stack", "init", "dev")
        code, said = world.run("up", "--yes", "--skip-preview", "--parallel", "16")
        if code == 0:
            raise Failed("the disk did not become full")
        made = world.made()
        mount("-o", "remount,size=20m", disk)
        said += world.ok("up", "--yes", "--skip-preview")
        expect("the resources", world.names(), [f"r{number:03}" for number in range(COUNT)])
        if not 0 < len(made) < COUNT:
            raise Failed(f"{len(made)} commands were carried out before the disk was full")
        expect("each command is carried out once", world.made(), [f"r{number:03}" for number in range(COUNT)])
        expect("recovery files", world.recovery_files(), [])
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def lost_server(world):
    """The connection to the store is lost while commands run. Their outcomes are kept in a file, and the next run reads it."""
    if not world.stores:
        raise LeftOut("the servers were not given")
    server = store_servers.Moto(world.root / "moto", world.stores)
    line = Line(server.port)
    try:
        world.variables |= server.environment
        world.variables["PULUMI_BACKEND_URL"] = server.address("lost").replace(str(server.port), str(line.port))
        names = [f"r{number}" for number in range(6)]
        resources = {name: command(world, name, 10, seconds=8 if number else 0) for number, name in enumerate(names)}
        for name in names[1:]:
            resources[name]["options"] = {"dependsOn": ["${r0}"]}
        world.program(resources)
        world.ok("stack", "init", "dev")
        run = world.spawn("up", "--yes", "--skip-preview")
        world.wait_for(lambda: "r0" in world.made() and len(world.started()) == 6)
        line.cut()
        said = run.communicate(timeout=LIMIT)[0]
        if run.returncode == 0:
            raise Failed(f"the run ended well without its store:\n{said}")
        expect("the commands", world.made(), names)
        [file] = world.recovery_files()
        expect_in(str(file), said)
        for name in names[1:]:
            expect_in(f"::{name}", said)
        line.heal()
        said = world.ok("cancel", "--yes")
        expect_in("an update was interrupted", said)
        expect("the resources", world.names(), names)
        world.ok("up", "--yes", "--skip-preview", "--expect-no-changes")
        expect("each command is carried out once", world.made(), names)
        expect("recovery files", world.recovery_files(), [])
    finally:
        line.close()
        server.stop()


STORIES = [full_disk, lost_server]


def command(world, name, size, seconds=0):
    """A command that leaves a line in a file, and has an output of this size."""
    script = (f"echo {name} >> {world.root}/started; sleep {seconds}; echo {name} >> {world.root}/made; "
              f"head -c {size} /dev/urandom | base64 -w0 | head -c {size}")
    return {"type": "command:local:Command", "properties": {"create": script}}


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


class Line:
    """A line to a server that can be cut."""

    def __init__(self, port):
        self.server, self.is_cut, self.open = port, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            if self.is_cut:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.server))
            self.open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=pass_on, args=(source, target), daemon=True).start()

    def cut(self):
        self.is_cut = True
        for end in self.open:
            hang_up(end)
        self.open = []

    def heal(self):
        self.is_cut = False

    def close(self):
        self.listener.close()
        self.cut()


def pass_on(source, target):
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        hang_up(source)
        hang_up(target)


def hang_up(end):
    """Ends a connection, also for those who wait for something from it."""
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


class World:
    """A project with its own home."""

    def __init__(self, root, binary, stores):
        self.root, self.binary, self.stores = root, binary.resolve(), stores and stores.resolve()
        self.project = root / "project"
        for name in ("project", "home", "moto"):
            (root / name).mkdir()
        self.variables = {"PATH": os.environ.get("PATH", ""), "HOME": str(root / "home"), "PULUMI_CONFIG_PASSPHRASE": "lost"}
        self.children = []

    def program(self, resources):
        (self.project / "Pulumi.yaml").write_text(json.dumps({"name": "proj", "runtime": "yaml", "resources": resources}))

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
        for _ in range(LIMIT * 10):
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


def main():
    parser = argparse.ArgumentParser(description="Lose stores in the middle of updates.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--stores", type=Path, help="the folder that tests/setup-stores.sh printed")
    parser.add_argument("--only", help="tell this story alone")
    options = parser.parse_args()

    def told(story):
        def run(root):
            world = World(root, options.bin, options.stores)
            try:
                story(world)
            finally:
                world.close()
        run.__name__ = story.__name__
        return run

    return tell([told(story) for story in STORIES], lambda root: root, only=options.only)


if __name__ == "__main__":
    sys.exit(main())
