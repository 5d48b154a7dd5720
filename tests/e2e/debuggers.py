#!/usr/bin/env python3
"""Programs that wait for a debugger: `--attach-debugger`, with a debugger that attaches and lets them go on.

    tests/e2e/debuggers.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python \\
        --sdk .cache/node/pulumi-3.248.0

`--python` has the package pulumi, which brings debugpy; `--sdk` is a folder of `tests/setup-node.sh`. Only the standard library is
used here: the two clients speak as much of their protocols as it takes.
"""

import argparse
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

WAITING = "Waiting for a debugger to attach: "


class World:
    def __init__(self, root, options):
        self.root, self.binary = root, options.bin.resolve()
        self.python, self.sdk = options.python.absolute(), options.sdk.resolve()
        self.project = root / "project"
        self.project.mkdir()
        self.environment = {
            "PATH": os.pathsep.join([str(self.python.parent), os.environ["PATH"]]), "HOME": str(root),
            "PULUMI_HOME": str(root / "home"), "PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_BACKEND_URL": f"file://{root}",
            "PYTHONDONTWRITEBYTECODE": "1"}

    def start(self, *words):
        return subprocess.Popen(
            [str(self.binary), *words, "--stack", "dev", "--create", "--non-interactive", "--color", "never"],
            cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def attached(self, attach, *words):
        """Runs the command, attaches when it says that it waits, and answers everything that it said."""
        process = self.start(*words)
        said, configs = "", []
        for line in process.stdout:
            said += line
            if WAITING in line:
                check("program has run" not in said, f"the program did not wait:\n{said}")
                config = json.loads(line.split(WAITING, 1)[1])
                configs.append(config)
                attach(config)
        code = process.wait(timeout=120)
        check(code == 0, f"`{' '.join(words)}` ended with {code}:\n{said}")
        # A plugin may be started for its schema as well.
        check(configs, f"the command did not wait:\n{said}")
        check("program has run" in said, said)
        return said, configs[0]


def finished(process):
    try:
        return process.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"it does not end:\n{process.communicate()[0]}") from None


def check(holds, text):
    if not holds:
        raise AssertionError(text)


def attach_to_python(config):
    """A client of the debug adapter protocol."""
    place = config["connect"]
    with socket.create_connection((place["host"], int(place["port"])), timeout=60) as connection:
        stream, number = connection.makefile("rwb"), 0

        def send(command, arguments):
            nonlocal number
            number += 1
            text = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
            stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
            stream.flush()

        def receive(accept):
            while True:
                length = 0
                while (line := stream.readline().strip()):
                    length = int(line.split(b":")[1])
                check(length, "the debugger ended the connection")
                message = json.loads(stream.read(length))
                if accept(message):
                    return message

        send("initialize", {"adapterID": "test", "clientID": "test"})
        receive(lambda message: message.get("command") == "initialize")
        send("attach", {"justMyCode": config["justMyCode"]})
        receive(lambda message: message.get("event") == "initialized")
        send("configurationDone", {})
        answer = receive(lambda message: message.get("command") == "attach")
        check(answer["success"], answer)
        send("disconnect", {"terminateDebuggee": False})
        receive(lambda message: message.get("command") == "disconnect")


def attach_to_node(config):
    """A client of the inspector protocol, which is a web socket."""
    place = f"127.0.0.1:{int(config['port'])}"
    with urllib.request.urlopen(f"http://{place}/json/list", timeout=60) as answer:
        [target] = json.load(answer)
    path = target["webSocketDebuggerUrl"].split(place, 1)[1]
    with socket.create_connection(("127.0.0.1", int(config["port"])), timeout=60) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {place}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        stream = connection.makefile("rb")
        check(b" 101 " in stream.readline(), "the inspector takes no web sockets")
        while stream.readline().strip():
            pass

        def receive(accept):
            while True:
                _, length = stream.read(2)
                if length >= 126:
                    length = int.from_bytes(stream.read(2 if length == 126 else 8), "big")
                message = json.loads(stream.read(length))
                seen.append(message.get("method"))
                if accept(message):
                    return message

        def call(number, method):
            text = json.dumps({"id": number, "method": method}).encode()
            mask = os.urandom(4)
            masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(text))
            connection.sendall(struct.pack("!BB", 0x81, 0x80 | len(text)) + mask + masked)
            answer = receive(lambda message: message.get("id") == number)
            check("error" not in answer, answer)

        seen = []
        call(1, "Debugger.enable")
        call(2, "Runtime.runIfWaitingForDebugger")
        if "Debugger.paused" not in seen:
            receive(lambda message: message.get("method") == "Debugger.paused")
        call(3, "Debugger.resume")


def python_waits(world):
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: python\n")
    (world.project / "__main__.py").write_text("import pulumi\nprint('program has run')\npulumi.export('a', 1)\n")
    said, config = world.attached(attach_to_python, "preview", "--attach-debugger")
    check(config["request"] == "attach" and config["processId"] > 0, config)
    check(f"on process id {int(config['processId'])} and port" in said, said)


def python_without_debugpy(world):
    bare = world.root / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    world.environment["PATH"] = os.pathsep.join([str(bare / "bin"), os.environ["PATH"]])
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: python\n")
    (world.project / "__main__.py").write_text("import pulumi\n")
    process = world.start("preview", "--attach-debugger")
    said = finished(process)
    check(process.returncode != 0 and "pip install debugpy" in said, said)


def node_waits(world):
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: nodejs\n")
    (world.project / "package.json").write_text('{"name": "waits", "main": "index.js"}')
    (world.project / "index.js").write_text(
        "const pulumi = require('@pulumi/pulumi');\nconsole.log('program has run');\nexports.a = 1;\n")
    (world.project / "node_modules").symlink_to(world.sdk / "node_modules")
    _, config = world.attached(attach_to_node, "preview", "--attach-debugger=program")
    check((config["type"], config["request"]) == ("node", "attach"), config)
    check(config["continueOnAttach"] is True and config["processId"] > 0, config)


def plugins_wait(world):
    """A component plugin in Python waits; the program does not."""
    plugin = world.root / "greeter"
    plugin.mkdir()
    (plugin / "PulumiPlugin.yaml").write_text(
        f"runtime: {{name: python, options: {{virtualenv: {world.python.parents[1]}}}}}\nname: greeter\n")
    (plugin / "__main__.py").write_text("""
import pulumi
from pulumi.provider.experimental import component_provider_host
from typing import TypedDict

class Args(TypedDict):
    who: pulumi.Input[str]

class Greeter(pulumi.ComponentResource):
    greeting: pulumi.Output[str]

    def __init__(self, name: str, args: Args, opts: pulumi.ResourceOptions = None):
        super().__init__("greeter:index:Greeter", name, {}, opts)
        print("program has run")
        pulumi.log.info("program has run")
        self.greeting = pulumi.Output.concat("hello ", args["who"])
        self.register_outputs({"greeting": self.greeting})

component_provider_host(name="greeter", components=[Greeter])
""")
    (world.project / "Pulumi.yaml").write_text("""name: waits
runtime: yaml
plugins: {providers: [{name: greeter, path: ../greeter}]}
resources:
  one: {type: "greeter:index:Greeter", properties: {who: me}}
outputs: {greeting: "${one.greeting}"}
""")
    shutil.rmtree(world.project / "node_modules", ignore_errors=True)
    said, config = world.attached(attach_to_python, "up", "--yes", "--skip-preview", "--attach-debugger=plugin:greeter")
    check("processId" not in config and "hello me" in said, said)


def wrong_values(world):
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: yaml\n")
    process = world.start("preview", "--attach-debugger=everything")
    said = finished(process)
    check(process.returncode != 0 and "plugin:NAME" in said, said)


STORIES = (wrong_values, python_waits, python_without_debugpy, node_waits, plugins_wait)


def main():
    parser = argparse.ArgumentParser(description="Attach debuggers.")
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    parser.add_argument("--sdk", required=True, type=Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = False
    for story in STORIES:
        if options.only and story.__name__ != options.only:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="plumb-debuggers-") as root:
            try:
                story(World(Path(root).resolve(), options))
                print(f"passed {story.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
            except AssertionError as problem:
                failed = True
                print(f"FAILED {story.__name__}\n    {problem}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
