#!/usr/bin/env python3
"""Programs that wait for a debugger: `--attach-debugger`, with a debugger that attaches and lets them go on.

    tests/e2e/debuggers.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python \\
        --sdk .cache/node/pulumi-3.248.0 [--tools .cache/node/tools/node_modules/.bin] [--go .cache/go] \\
        [--delve .cache/go/delve-1.26.0] [--repository .cache/java/sdk-1.36.1] [--debug-server /usr/bin/gdbserver]

`--python` has the package pulumi, which brings debugpy; `--sdk` is a folder of `tests/setup-node.sh`. Only the standard library is
used here: the clients speak as much of their protocols as it takes.
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
import urllib.request
from pathlib import Path

from stories import LeftOut, tell

WAITING = "Waiting for a debugger to attach: "


class World:
    def __init__(self, root, options):
        self.root, self.binary, self.options = root, options.bin.resolve(), options
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

    def put_first(self, folder):
        self.environment["PATH"] = os.pathsep.join([str(folder.absolute()), self.environment["PATH"]])

    def attached(self, attach, *words, code=0):
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
        ended = process.wait(timeout=120)
        check(ended == code, f"`{' '.join(words)}` ended with {ended}:\n{said}")
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


class Inspector:
    """A client of an inspector, which is a web socket."""

    def __init__(self, port, path):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.stream, self.seen, self.calls = self.connection.makefile("rb"), [], 0
        check(b" 101 " in self.stream.readline(), "the inspector takes no web sockets")
        while self.stream.readline().strip():
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def receive(self, accept):
        while header := self.stream.read(2):
            _, length = header
            if length >= 126:
                length = int.from_bytes(self.stream.read(2 if length == 126 else 8), "big")
            message = json.loads(self.stream.read(length))
            self.seen.append(message.get("method"))
            if accept(message):
                return message
        return None

    def call(self, method):
        self.calls += 1
        number = self.calls
        text = json.dumps({"id": number, "method": method}).encode()
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(text))
        self.connection.sendall(struct.pack("!BB", 0x81, 0x80 | len(text)) + mask + masked)
        answer = self.receive(lambda message: message.get("id") == number)
        check(answer is not None and "error" not in answer, answer)


def attach_to_node(config):
    """A client that stays until the program has ended: Node.js may crash if one leaves while the program is being loaded."""
    port = int(config["port"])
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=60) as answer:
        [target] = json.load(answer)
    with Inspector(port, target["webSocketDebuggerUrl"].split(f":{port}", 1)[1]) as inspector:
        inspector.call("Runtime.enable")
        inspector.call("Debugger.enable")
        inspector.call("Runtime.runIfWaitingForDebugger")
        if "Debugger.paused" not in inspector.seen:
            inspector.receive(lambda message: message.get("method") == "Debugger.paused")
        inspector.call("Debugger.resume")
        # It waits for the client to leave then, or has closed the connection.
        inspector.receive(lambda message: message.get("method") == "Runtime.executionContextDestroyed")


def attach_to_bun(config):
    port, path = config["url"].removeprefix("ws://127.0.0.1:").split("/", 1)
    with Inspector(int(port), f"/{path}") as inspector:
        inspector.call("Inspector.enable")
        inspector.call("Inspector.initialized")


def attach_to_go(config):
    """A client of the debugger's own protocol, which stays until the program has ended."""
    with socket.create_connection((config["host"], int(config["port"])), timeout=60) as connection:
        stream = connection.makefile("rwb")

        def call(method, **arguments):
            stream.write(json.dumps({"method": f"RPCServer.{method}", "params": [arguments], "id": 1}).encode() + b"\n")
            stream.flush()
            answer = json.loads(stream.readline())
            check(answer["error"] is None, answer)
            return answer["result"]

        call("SetApiVersion", APIVersion=2)
        check(call("State", NonBlocking=True)["State"]["exited"] is False, "the program has ended before it was debugged")
        # A plugin runs until its engine ends it, and cannot be waited for.
        call("Command", name="continue")
        call("Detach", Kill=True)


def attach_to_java(config):
    """A client of the wire protocol of virtual machines."""
    with socket.create_connection((config["hostName"], int(config["port"])), timeout=60) as connection:
        connection.sendall(b"JDWP-Handshake")
        stream = connection.makefile("rb")
        check(stream.read(14) == b"JDWP-Handshake", "it is no virtual machine")
        resume = (1, 9)
        connection.sendall(struct.pack("!IIBBB", 11, 1, 0, *resume))
        while True:
            length, number, flags = struct.unpack("!IIB", stream.read(9))
            rest = stream.read(length - 9)
            if (number, flags) == (1, 0x80):
                return check(rest[:2] == b"\0\0", rest)


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


def write_javascript(world, runtime):
    (world.project / "Pulumi.yaml").write_text(f"name: waits\nruntime: {runtime}\n")
    (world.project / "package.json").write_text('{"name": "waits", "main": "index.js"}')
    (world.project / "index.js").write_text(
        "const pulumi = require('@pulumi/pulumi');\nconsole.log('program has run');\nexports.a = 1;\n")
    (world.project / "node_modules").symlink_to(world.sdk / "node_modules")


def node_waits(world):
    write_javascript(world, "nodejs")
    _, config = world.attached(attach_to_node, "preview", "--attach-debugger=program")
    check((config["type"], config["request"]) == ("node", "attach"), config)
    check(config["continueOnAttach"] is True and config["processId"] > 0, config)


def bun_waits(world):
    if not world.options.tools:
        raise LeftOut("there is no Bun")
    write_javascript(world, "bun")
    world.put_first(world.options.tools)
    _, config = world.attached(attach_to_bun, "preview", "--attach-debugger")
    check((config["type"], config["request"]) == ("bun", "attach") and config["processId"] > 0, config)


def go_waits(world):
    """A program whose failure is known although the debugger ends well, and one that ends well."""
    if not world.options.delve:
        raise LeftOut("there is no Delve")
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: go\n")
    (world.project / "main.go").write_text(GO_PROGRAM)
    for file in ("go.mod", "go.sum"):
        shutil.copy(world.options.go.resolve() / "sdk-3.260.0" / file, world.project)
    cache = world.options.go.resolve()
    world.environment |= {
        "GOMODCACHE": str(cache / "mod"), "GOCACHE": str(cache / "build"), "GOPROXY": "off", "GOFLAGS": "-buildvcs=false"}
    process = world.start("preview", "--attach-debugger")
    said = finished(process)
    check(process.returncode == 1 and "could not find `dlv`" in said and "go install" in said, said)
    world.put_first(world.options.delve)
    _, config = world.attached(attach_to_go, "preview", "--attach-debugger")
    check((config["type"], config["request"], config["mode"]) == ("go", "attach", "remote"), config)
    world.environment["FAILS"] = "yes"
    said, _ = world.attached(attach_to_go, "preview", "--attach-debugger", code=1)
    check("it has failed" in said, said)


def java_waits(world):
    if not world.options.repository:
        raise LeftOut("there is no SDK for Java")
    program = Path(__file__).resolve().parent / "java" / "program"
    shutil.copy(program / "pom.xml", world.project)
    source = world.project / "src" / "main" / "java" / "prog" / "App.java"
    source.parent.mkdir(parents=True)
    source.write_text(JAVA_PROGRAM)
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: java\n")
    (world.root / ".m2").mkdir()
    (world.root / ".m2" / "settings.xml").write_text(
        f"<settings><localRepository>{world.options.repository.resolve()}</localRepository><offline>true</offline></settings>")
    world.environment["MAVEN_OPTS"] = f"-Duser.home={world.root}"
    said, config = world.attached(attach_to_java, "preview", "--attach-debugger")
    check((config["type"], config["request"]) == ("java", "attach") and config["processId"] > 0, config)
    check("Listening for transport" not in said, said)
    (world.project / "pom.xml").unlink()
    (world.project / "build.gradle").write_text("")
    process = world.start("preview", "--attach-debugger")
    said = finished(process)
    check(process.returncode == 1 and "a java program cannot wait for a debugger; Gradle" in said, said)


def attach_to_rust(config):
    """A client of GDB's protocol, which stays until the program has ended."""
    place = config["processCreateCommands"][0].removeprefix("gdb-remote ").split(":")
    with socket.create_connection((place[0], int(place[1])), timeout=60) as connection:
        stream = connection.makefile("rwb")

        def send(packet):
            data = packet.encode()
            stream.write(b"+$%s#%02x" % (data, sum(data) % 256))
            stream.flush()

        def receive():
            while (byte := stream.read(1)) != b"$":
                check(byte, "the debug server ended the connection")
            packet = b""
            while (byte := stream.read(1)) != b"#":
                packet += byte
            stream.read(2)
            return packet.decode()

        send("?")
        check(receive().startswith("T"), "the program did not stop")
        send("c")
        while not (packet := receive()).startswith(("W", "X")):
            if packet.startswith("T"):
                # Stopped by a signal, which it gets now.
                send(f"C{packet[1:3]}")
        stream.write(b"+")
        stream.flush()


def rust_waits(world):
    """Programs that end well, that fail, and that a signal ends; without a debug server there is advice."""
    if not world.options.debug_server:
        raise LeftOut("there is no gdbserver")
    world.put_first(world.options.debug_server.parent)
    home = Path.home()
    world.environment |= {"CARGO_HOME": os.environ.get("CARGO_HOME", str(home / ".cargo")),
                          "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(home / ".rustup"))}
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: rust\n")
    (world.project / "Cargo.toml").write_text('[package]\nname = "waits"\nversion = "0.1.0"\nedition = "2024"\n')
    (world.project / "src").mkdir()
    (world.project / "src/main.rs").write_text(RUST_PROGRAM)
    _, config = world.attached(attach_to_rust, "preview", "--attach-debugger")
    check((config["type"], config["request"]) == ("lldb", "attach") and config["program"].endswith("/waits"), config)
    world.environment["FAILS"] = "yes"
    said, _ = world.attached(attach_to_rust, "preview", "--attach-debugger", code=1)
    check("it has failed" in said and "non-zero exit code: 3" in said, said)
    world.environment["FAILS"] = "abort"
    said, _ = world.attached(attach_to_rust, "preview", "--attach-debugger", code=1)
    check("signal 6 has ended the program" in said, said)
    tools = world.root / "tools"
    tools.mkdir()
    for tool in ("cargo", "rustc", "cc", "ld"):
        (tools / tool).symlink_to(shutil.which(tool))
    world.environment["PATH"] = str(tools)
    process = world.start("preview", "--attach-debugger")
    said = finished(process)
    check(process.returncode == 1 and "could not find `gdbserver`" in said and "`lldb` of your system" in said, said)


def others_do_not_wait(world):
    """What cannot wait says what can."""
    (world.project / "Pulumi.yaml").write_text("name: waits\nruntime: dotnet\n")
    process = world.start("preview", "--attach-debugger")
    said = finished(process)
    wanted = "a dotnet program cannot wait for a debugger"
    check(process.returncode == 1 and wanted in said and "Python, Node.js, Bun, Go, Java and Rust" in said, said)


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


GO_PROGRAM = """package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	fmt.Println("program has run")
	pulumi.Run(func(ctx *pulumi.Context) error {
		if os.Getenv("FAILS") != "" {
			return errors.New("it has failed")
		}
		return nil
	})
}
"""
JAVA_PROGRAM = """package prog;

public class App {
    public static void main(String[] args) {
        System.out.println("program has run");
        com.pulumi.Pulumi.run(ctx -> {});
    }
}
"""
RUST_PROGRAM = """fn main() {
    println!("program has run");
    match std::env::var("FAILS").as_deref() {
        Ok("abort") => std::process::abort(),
        Ok(_) => {
            eprintln!("it has failed");
            std::process::exit(3)
        }
        Err(_) => {}
    }
}
"""
STORIES = (wrong_values, python_waits, python_without_debugpy, node_waits, bun_waits, go_waits, java_waits, rust_waits, others_do_not_wait,
           plugins_wait)


def main():
    parser = argparse.ArgumentParser(description="Attach debuggers.")
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    parser.add_argument("--sdk", required=True, type=Path)
    parser.add_argument("--tools", type=Path, help="the folder of tests/setup-node-tools.sh, for Bun")
    parser.add_argument("--go", type=Path, help="the folder of tests/setup-go.sh")
    parser.add_argument("--delve", type=Path, help="the folder of tests/setup-delve.sh")
    parser.add_argument("--repository", type=Path, help="the folder of tests/setup-java.sh")
    parser.add_argument("--debug-server", type=Path, help="gdbserver, which tests/setup-gdbserver.sh installs")
    parser.add_argument("--only")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options), options.only)


if __name__ == "__main__":
    sys.exit(main())
