#!/usr/bin/env python3
"""State in object stores and in PostgreSQL: real servers on this machine, and what users and crashes do to stacks there.

    tests/e2e/stores.py --bin target/debug/plumb --stores "$(tests/setup-stores.sh)" --postgres "$(tests/setup-postgres.sh)"

Each story is told for each server that is installed. `--only STORY` tells one, `--server NAME` for one server.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import store_servers
from lines import CarelessFront
from stories import Failed, LeftOut, expect, expect_in, expect_out, tell

LIMIT = 180
SECRET = "canary-7f3a"
CONTAINER = ("unshare", "--pid", "--fork", "--kill-child")
SLOW = 12
"""Seconds that the slow program takes, in steps of half a second."""


def life(world):
    """What users do with a stack from its beginning to its end."""
    said = world.ok("login", world.url)
    expect_in(f"({world.masked})", said)
    expect("the address", json.loads(world.ok("whoami", "--json"))["url"], world.masked)
    expect_in(f"Backend URL: {world.masked}", world.ok("whoami", "-v"))
    world.ok("stack", "init", "dev")
    world.program({f"r{number}": stash(f"value {number}") for number in range(3)})
    expect_in("to create", world.ok("preview"))
    world.ok("up", "--yes", "--skip-preview")
    expect("the resources", world.names(), ["r0", "r1", "r2"])
    world.ok("up", "--yes", "--skip-preview", "--expect-no-changes")
    listed = json.loads(world.ok("stack", "ls", "--json"))
    expect("the stacks", [(it["name"], it["resourceCount"]) for it in listed], [("dev", len(world.resources()))])
    history = json.loads(world.ok("stack", "history", "--json"))
    expect("the history", [it["result"] for it in history], ["succeeded", "succeeded"])
    world.ok("stack", "tag", "set", "owner", "team")
    expect_in("team", world.ok("stack", "tag", "ls"))
    world.ok("config", "set", "--secret", "password", SECRET)
    exported = world.ok("stack", "export")
    (world.root / "state.json").write_text(exported)
    world.ok("stack", "import", "--file", str(world.root / "state.json"))
    resources = json.loads(exported)["deployment"]["resources"]
    expect("the state that was imported", world.resources(), resources)
    world.ok("stack", "rename", "prod")
    expect("the resources", world.names(), ["r0", "r1", "r2"])
    said = world.fails("stack", "rm", "--yes")
    expect_in("still has resources", said)
    world.ok("destroy", "--yes", "--skip-preview")
    world.ok("stack", "rm", "--yes")
    expect("the stacks", json.loads(world.ok("stack", "ls", "--json")), [])
    world.ok("logout")
    for file in (world.root / "home").rglob("*"):
        if file.is_file() and SECRET.encode() in file.read_bytes():
            raise Failed(f"the secret is in {file}")


def project_names_the_store(world):
    """`backend.url` of the project, and nothing else, says where the stack is."""
    world.variables.pop("PULUMI_BACKEND_URL", None)
    world.program({"r": stash("x")}, backend={"url": world.url})
    world.ok("stack", "init", "dev")
    world.ok("up", "--yes", "--skip-preview")
    expect("the resources", world.names(), ["r"])


def variable_names_the_store(world):
    """`PULUMI_BACKEND_URL` says where the stack is, and packed state is read."""
    world.variables["PULUMI_BACKEND_URL"] = world.url
    world.program({"r": stash("x")})
    world.ok("stack", "init", "dev")
    for variables in ({"PULUMI_DIY_BACKEND_GZIP": "1"}, {"PULUMI_DIY_BACKEND_ZSTD": "1"}, {}):
        world.ok("up", "--yes", "--skip-preview", **variables)
        expect("the resources", world.names(), ["r"])


def killed_on_this_machine(world):
    """A run is killed in the middle. The next one takes over at once, and does what is left."""
    begin_slow(world)
    killed = world.spawn("up", "--yes", "--skip-preview")
    world.wait_for_resources(3)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = world.names()
    said = world.ok("up", "--yes", "--skip-preview")
    expect_in("an update was interrupted", said)
    expect("the resources", world.names(), sorted(f"r{number:02}" for number in range(SLOW * 2)))
    if not set(before) <= set(world.names()):
        raise Failed(f"lost some of {before}")
    expect("the commands", commands_made(world), [f"r{number:02}" for number in range(SLOW * 2)])


def killed_elsewhere(world):
    """A run in another container is killed. Its lock is respected first, and taken over within a minute."""
    expect_containers()
    begin_slow(world)
    killed = world.spawn("up", "--yes", "--skip-preview", before=CONTAINER)
    world.wait_for_resources(2)
    # The child is the first process of its namespace, and ends with the parent.
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    world.take_over("stopped renewing its lease")
    expect("the number of resources", len(world.names()), SLOW * 2)
    expect("the commands", commands_made(world), [f"r{number:02}" for number in range(SLOW * 2)])


def two_writers(world):
    """Of two runs at once one is refused. One that was stopped and cancelled cannot write on."""
    begin_slow(world)
    first = world.spawn("up", "--yes", "--skip-preview")
    world.wait_for_resources(2)
    expect_in("locked by 1 lock", world.fails("up", "--yes", "--skip-preview"))
    first.send_signal(signal.SIGSTOP)
    expect_in("an update was interrupted", world.ok("cancel", "--yes", "--force"))
    if len(world.names()) < 2:
        raise Failed("what was recorded is not in the state")
    world.program({"other": stash("other")})
    world.ok("up", "--yes", "--skip-preview")
    after = world.ok("stack", "export")
    first.send_signal(signal.SIGCONT)
    said = first.communicate(timeout=LIMIT)[0]
    if first.returncode == 0:
        raise Failed(f"the run that was cancelled ended well:\n{said}")
    expect_in("another process took over the stack", said)
    expect("the state", world.ok("stack", "export"), after)
    expect("the resources", world.names(), ["other"])


def slept_past_its_lease(world):
    """A run sleeps for longer than its lease. Another one from elsewhere takes over, and the first one stops when it wakes up."""
    expect_containers()
    begin_slow(world)
    # Its children are stopped with it.
    first = world.spawn("up", "--yes", "--skip-preview", before=CONTAINER, process_group=0)
    world.wait_for_resources(2)
    os.killpg(first.pid, signal.SIGSTOP)
    world.take_over("stopped renewing its lease")
    after = world.ok("stack", "export")
    os.killpg(first.pid, signal.SIGCONT)
    said = first.communicate(timeout=LIMIT)[0]
    if first.returncode == 0:
        raise Failed(f"the run that had slept ended well:\n{said}")
    expect_in("another process took over the stack", said)
    expect("the state", world.ok("stack", "export"), after)
    world.ok("up", "--yes", "--skip-preview", "--expect-no-changes")


def asked_to_end(world):
    """`plumb cancel` asks the run that has the stack to end, and returns when it has ended in order."""
    begin_slow(world)
    first = world.spawn("up", "--yes", "--skip-preview")
    world.wait_for_resources(2)
    expect_in("has been canceled", world.ok("cancel", "--yes"))
    said = first.communicate(timeout=LIMIT)[0]
    expect_in("`plumb cancel` asks this update to end", said)
    if first.returncode == 0:
        raise Failed(f"the run that was cancelled ended well:\n{said}")
    expect("the resources", world.names(), commands_made(world))
    said = world.ok("up", "--yes", "--skip-preview")
    expect_out("an update was interrupted", said)
    expect("the number of resources", len(world.names()), SLOW * 2)


def locked_by_hand(world):
    """A stack that is locked by hand is not changed. `--lock-timeout` waits for it, in `up` and in `stack rm`."""
    world.variables["PULUMI_BACKEND_URL"] = world.url
    world.program({"r": stash("x")})
    world.ok("stack", "init", "dev")
    world.ok("stack", "lock", "--reason", "we move on Sunday")
    for words in (["up", "--yes", "--skip-preview"], ["stack", "lock"], ["stack", "rm", "--yes"],
                  ["--lock-timeout", "1s", "destroy", "--yes"]):
        expect_in("by `plumb stack lock`: we move on Sunday", world.fails(*words))
    expect_in("locked by hand", world.ok("cancel", "--yes"))
    expect("the resources", world.names(), [])
    waiting = world.spawn("up", "--yes", "--skip-preview", "--lock-timeout", "2m")
    time.sleep(1)
    world.ok("stack", "unlock")
    said = waiting.communicate(timeout=LIMIT)[0]
    expect(f"the exit code of what says {said}", waiting.returncode, 0)
    expect_in("waiting for up to 120 s", said)
    expect("the resources", world.names(), ["r"])
    expect_in("is not locked", world.fails("stack", "unlock"))
    world.ok("stack", "lock")
    waiting = world.spawn("stack", "rm", "--yes", "--force", "--lock-timeout", "2m")
    time.sleep(1)
    world.ok("stack", "unlock")
    waiting.communicate(timeout=LIMIT)
    expect("the exit code of the removal", waiting.returncode, 0)


def moved(world):
    """A stack moves with its history from a folder to the store, and goes on there."""
    folder = f"file://{world.root}/home"
    world.variables["PULUMI_BACKEND_URL"] = folder
    world.program({"r": stash("x")})
    world.ok("stack", "init", "dev")
    world.ok("up", "--yes", "--skip-preview")
    state, history = world.ok("stack", "export"), world.ok("stack", "history", "--json")
    expect_in("Migrated stack 'dev'", world.ok("stack", "migrate", "--to", world.url, "--all", "--yes"))
    expect_in("already", world.ok("stack", "migrate", "--to", world.url, "--yes"))
    world.variables["PULUMI_BACKEND_URL"] = world.url
    expect("the state", world.ok("stack", "export", "--stack", "dev"), state)
    expect("the history", world.ok("stack", "history", "--json", "--stack", "dev"), history)
    said = world.ok("up", "--yes", "--skip-preview", "--stack", "dev")
    expect_in("2 unchanged", said)


def refused(world):
    """Wrong credentials and wrong addresses are told, without secrets."""
    for url, text in world.server.refusals(world.part):
        code, said = world.run("login", url, **world.server.wrong)
        if code == 0:
            raise Failed(f"logged in to {url}")
        expect_in(text, said)
        for secret in (*world.server.wrong.values(), getattr(world.server, "password", "pg-secret-of-the-test")):
            if len(secret) > 8:
                expect_out(secret, said)


def without_conditions(world):
    """The server ignores conditions of writes. Users are told, and only a lock keeps two updates apart."""
    if world.server.name != "moto":
        raise LeftOut("it checks signatures, which cover conditions")
    expect_containers()
    front = CarelessFront(world.server.port)
    try:
        world.url = world.url.replace(str(world.server.port), str(front.port))
        said = world.ok("login", world.url)
        expect_in("has no conditional writes, so only a lock keeps two updates apart", said)
        begin_slow(world)
        killed = world.spawn("up", "--yes", "--skip-preview", before=CONTAINER)
        world.wait_for_resources(2)
        expect_in("locked by 1 lock", world.fails("up", "--yes", "--skip-preview"))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        expect_in("an update was interrupted", world.ok("cancel", "--yes", "--force"))
        said = world.ok("up", "--yes", "--skip-preview")
        expect_in("has no conditional writes", said)
        expect("the number of resources", len(world.names()), SLOW * 2)
        expect("the commands", commands_made(world), [f"r{number:02}" for number in range(SLOW * 2)])
        world.ok("destroy", "--yes", "--skip-preview")
        world.ok("stack", "rm", "--yes")
    finally:
        front.close()


def conformance(world):
    """The store keeps the rules of buckets."""
    world.example("conformance", *([] if world.server.is_atomic else ["one-at-a-time"]))


def histories(world):
    """Random histories of several writers keep their invariants in the store."""
    if not world.server.is_atomic:
        raise LeftOut("it may lose one of two writes at once")
    count, first = world.histories
    # Listings of the stand-in come in many small pages.
    world.example("store_histories", str(count // 20 if world.server.name == "google" else count), str(first))


STORIES = [conformance, histories, life, project_names_the_store, variable_names_the_store, killed_on_this_machine, killed_elsewhere,
           two_writers, slept_past_its_lease, without_conditions, asked_to_end, locked_by_hand, moved, refused]


def expect_containers():
    if os.geteuid() or not shutil.which("unshare"):
        raise LeftOut("containers take root and `unshare`")


def begin_slow(world):
    """A program whose commands run one after the other, each leaving a line in a file."""
    world.variables["PULUMI_BACKEND_URL"] = world.url
    resources = {}
    for number in range(SLOW * 2):
        name = f"r{number:02}"
        resources[name] = {"type": "command:local:Command",
                           "properties": {"create": f"sleep 0.5; echo {name} >> {world.root}/made"}}
        if number:
            resources[name]["options"] = {"dependsOn": [f"${{r{number - 1:02}}}"]}
    world.program(resources)
    world.ok("stack", "init", "dev")


def commands_made(world):
    """The commands that were carried out, each once although one may have been cut off and been done again."""
    return sorted(set((world.root / "made").read_text().split()))


def stash(value):
    return {"type": "pulumi:index:Stash", "properties": {"input": value}}


class World:
    """A project with its own home, and a store of its own in a server that is shared."""

    def __init__(self, root, options, server, story):
        self.root, self.server = root, server
        self.binary, self.examples = options.bin.resolve(), options.examples and options.examples.resolve()
        self.histories = options.histories, options.seed
        self.part = f"{story}-{root.name.rsplit('-', 1)[-1]}".lower()
        self.url = server.address(self.part)
        self.masked = self.url.replace("plumb@", "****@")
        self.project = root / "project"
        for folder in (self.project, root / "home"):
            folder.mkdir()
        self.variables = {"PATH": os.environ.get("PATH", ""), "HOME": str(root / "home"),
                          "PULUMI_CONFIG_PASSPHRASE": "stores", **server.environment}
        self.children = []
        self.program({})

    def program(self, resources, **more):
        (self.project / "Pulumi.yaml").write_text(
            json.dumps({"name": "proj", "runtime": "yaml", "resources": resources, **more}))

    def spawn(self, *words, before=(), **options):
        child = subprocess.Popen([*before, str(self.binary), *words], cwd=self.project, env=self.variables,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        self.children.append(child)
        return child

    def run(self, *words, **variables):
        done = subprocess.run([str(self.binary), *words], cwd=self.project, env={**self.variables, **variables},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT)
        return done.returncode, done.stdout

    def ok(self, *words, **variables):
        code, said = self.run(*words, **variables)
        if code:
            raise Failed(f"{words} ended with {code}:\n{said}")
        return said

    def example(self, name, *words):
        """Runs an example of plumb-stores in the store."""
        if not self.examples:
            raise LeftOut("the examples were not given")
        done = subprocess.run([str(self.examples / name), self.url, *words], env=self.variables, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT * 10)
        expect(f"the end of {name}, which says {done.stdout}", done.returncode, 0)

    def fails(self, *words):
        code, said = self.run(*words)
        if code == 0:
            raise Failed(f"{words} ended well:\n{said}")
        return said

    def resources(self):
        return json.loads(self.ok("stack", "export"))["deployment"].get("resources", [])

    def names(self):
        """The resources of the state, without the stack and providers."""
        return sorted(it["urn"].split("::")[-1] for it in self.resources() if not it["type"].startswith("pulumi:p"))

    def wait_for_resources(self, count):
        deadline = time.monotonic() + LIMIT
        while len(self.names()) < count:
            if time.monotonic() > deadline:
                raise Failed(f"there are never {count} resources")
            time.sleep(0.2)

    def take_over(self, reason):
        """Runs until the lock of a run that gives no sign of life is taken over, within a minute."""
        began = time.monotonic()
        expect_in("locked by 1 lock", self.fails("up", "--yes", "--skip-preview"))
        while True:
            code, said = self.run("up", "--yes", "--skip-preview")
            if code == 0:
                expect_in(reason, said)
                return
            expect_in("locked by 1 lock", said)
            if time.monotonic() - began > 60:
                raise Failed("the stack is not taken over within a minute")
            time.sleep(1)

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.send_signal(signal.SIGCONT)
            child.wait()


def named(story, server, options):
    """A story that is told in a store of one server."""
    def told(root):
        world = World(root, options, server, story.__name__)
        try:
            story(world)
        finally:
            world.close()
    told.__name__ = f"{story.__name__}[{server.name}]"
    return told


def main():
    parser = argparse.ArgumentParser(description="Keep state in real stores.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--stores", type=Path, help="the folder that tests/setup-stores.sh printed")
    parser.add_argument("--postgres", type=Path, help="the folder that tests/setup-postgres.sh printed")
    parser.add_argument("--examples", type=Path, metavar="FOLDER", help="the built examples of plumb-stores")
    parser.add_argument("--histories", type=int, default=40, metavar="COUNT", help="how many histories are run in each server (40)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first history")
    parser.add_argument("--only", help="tell this story alone")
    parser.add_argument("--server", help="tell stories of this server alone")
    parser.add_argument("--jobs", type=int, default=4, help="how many stories are told at once")
    options = parser.parse_args()
    kinds, left_out = store_servers.all_of(*(it and it.resolve() for it in (options.stores, options.postgres)))
    for server in left_out:
        print(f"left out stories of {server}", flush=True)
    with tempfile.TemporaryDirectory(prefix="plumb-stores-") as root:
        servers = []
        try:
            for kind, programs in kinds:
                if options.server in (None, kind.name):
                    folder = Path(root) / kind.name
                    folder.mkdir()
                    servers.append(kind(folder, programs))
            stories = [named(story, server, options) for story in STORIES for server in servers
                       if options.only in (None, story.__name__)]
            return tell(stories, lambda root: root, jobs=options.jobs)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    sys.exit(main())
