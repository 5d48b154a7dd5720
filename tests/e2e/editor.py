#!/usr/bin/env python3
"""The JSON Schemas for editors in a real language server, as an editor uses it: over its standard streams.

    tests/e2e/editor.py --bin target/debug/plumb --server "$(tests/setup-node-tools.sh)/yaml-language-server"

The server is the one of VS Code's extension and of most other editors. It reads the settings that the command prints, or the first
line of a file that names its schema.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue

from stories import Failed, expect, expect_in, tell

LIMIT = 60

PROGRAM = """name: shop
runtime: yaml
config:
  size: {type: integer, description: How many}
resources:
  pet:
    type: random:RandomPet
    properties:
      length: 2
  command:
    type: command:local:Command
    properties:
      create: echo ${pet.id}
    options:
      protect: true
outputs:
  name: ${pet.id}
"""


def right_files_have_no_problems(world):
    expect("problems", world.problems("Pulumi.yaml", PROGRAM), [])
    expect("problems", world.problems("Pulumi.dev.yaml", "config:\n  shop:size: 3\n"), [])


def mistakes_are_found(world):
    for right, wrong, words in [
        ("length: 2", "length: two", 'Incorrect type. Expected "integer'),
        ("length: 2", "lenght: 2", "Property lenght is not allowed"),
        ("protect: true", "portect: true", "Property portect is not allowed"),
        ("name: shop\n", "", 'Missing property "name"'),
    ]:
        found = world.problems("Pulumi.yaml", PROGRAM.replace(right, wrong))
        expect_in(words, json.dumps(found).replace('\\"', '"'))
        expect("the number of problems", len(found), 1)
    [wrong] = world.problems("Pulumi.dev.yaml", "config:\n  shop:size: many\n")
    expect_in("type", wrong["message"])


def words_are_completed(world):
    labels = world.completions("Pulumi.yaml", PROGRAM.replace("      length: 2\n", "      |\n"))
    expect("properties of a pet", sorted(labels), ["keepers", "length", "prefix", "separator"])
    labels = world.completions("Pulumi.yaml", PROGRAM.replace("      protect: true\n", "      d|\n"))
    expect("options", sorted(it for it in labels if it.startswith("d")), ["deleteBeforeReplace", "deletedWith", "dependsOn"])
    labels = world.completions("Pulumi.yaml", PROGRAM.replace("type: random:RandomPet\n", "type: |\n"))
    expect_in("random:RandomPassword", " ".join(labels))
    labels = world.completions("Pulumi.dev.yaml", "config:\n  |\n")
    expect_in("shop:size", " ".join(labels))


def descriptions_are_shown(world):
    expect_in("length", world.hover("Pulumi.yaml", PROGRAM.replace("      length: 2", "      len|gth: 2")))
    expect_in("random pet", world.hover("Pulumi.yaml", PROGRAM.replace("random:RandomPet", "random:Random|Pet")).lower())


STORIES = [right_files_have_no_problems, mistakes_are_found, words_are_completed, descriptions_are_shown]


class World:
    """A project with its schemas, and a server that has been told where they are."""

    def __init__(self, root, options):
        self.project, self.versions, self.ids = root / "project", {}, 0
        self.project.mkdir()
        (self.project / "Pulumi.yaml").write_text(PROGRAM)
        variables = {**os.environ, "PULUMI_HOME": str(root / "home"), "PULUMI_BACKEND_URL": f"file://{root}"}
        made = subprocess.run([options.bin.absolute(), "schema", "export-editor"], cwd=self.project, env=variables, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        expect("the exit code", made.returncode, 0)
        settings = json.loads(re.search(r"^\{.*^\}", made.stdout, re.MULTILINE | re.DOTALL)[0])
        self.server = subprocess.Popen([options.server, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
        self.answers, self.published = {}, Queue()
        # The schemas of the settings are relative to the folder that is open.
        schemas = {f"{self.project.as_uri()}/{path}": files for path, files in settings["yaml.schemas"].items()}
        self.settings = {"yaml": {"schemas": schemas, "schemaStore": {"enable": False}, "validate": True, "completion": True,
                                  "hover": True}}
        threading.Thread(target=self.listen, daemon=True).start()
        folder = self.project.as_uri()
        self.ask("initialize", {"processId": os.getpid(), "rootUri": folder, "workspaceFolders": [{"uri": folder, "name": "project"}],
                                "capabilities": {"workspace": {"configuration": True}}})
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": self.settings})
        # What is asked before the first result is answered without the schemas.
        self.problems("Pulumi.yaml", PROGRAM)

    def close(self):
        self.server.kill()
        self.server.wait()

    def listen(self):
        while header := self.server.stdout.readline():
            length = int(header.decode().split(":")[1])
            while self.server.stdout.readline().strip():
                pass
            message = json.loads(self.server.stdout.read(length))
            if message.get("method") == "textDocument/publishDiagnostics":
                self.published.put(message["params"])
            elif message.get("method") == "workspace/configuration":
                found = [self.settings.get(it["section"]) for it in message["params"]["items"]]
                self.send({"id": message["id"], "result": found})
            elif "method" in message and "id" in message:
                self.send({"id": message["id"], "result": None})
            elif "id" in message:
                self.answers.setdefault(message["id"], Queue()).put(message)

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.server.stdin.flush()

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def ask(self, method, parameters):
        self.ids += 1
        answer = self.answers.setdefault(self.ids, Queue())
        self.send({"id": self.ids, "method": method, "params": parameters})
        try:
            return answer.get(timeout=LIMIT)["result"]
        except (Empty, KeyError) as error:
            raise Failed(f"no answer to {method}: {error}") from None

    def show(self, name, text):
        """Opens a file, or changes what is open."""
        document = {"uri": (self.project / name).as_uri(), "version": self.versions.get(name, 0) + 1}
        if name in self.versions:
            self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        else:
            self.tell("textDocument/didOpen", {"textDocument": {**document, "languageId": "yaml", "text": text}})
        self.versions[name] = document["version"]
        return document

    def problems(self, name, text):
        while not self.published.empty():
            self.published.get()
        document = self.show(name, text)
        while True:
            try:
                found = self.published.get(timeout=LIMIT)
            except Empty:
                raise Failed(f"nothing was said of {name}") from None
            if found["uri"] == document["uri"] and found.get("version", document["version"]) == document["version"]:
                return found["diagnostics"]

    def at_mark(self, name, text):
        """Shows the text without the first `|` of its own, and gives the place where that was."""
        before, _, after = text.partition("|")
        document = self.show(name, before + after)
        place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        return {"textDocument": {"uri": document["uri"]}, "position": place}

    def completions(self, name, text):
        found = self.ask("textDocument/completion", self.at_mark(name, text))
        return [it["label"] for it in (found["items"] if isinstance(found, dict) else found)]

    def hover(self, name, text):
        found = self.ask("textDocument/hover", self.at_mark(name, text))
        return json.dumps(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, required=True, help="the plumb binary")
    parser.add_argument("--server", required=True, help="the language server for YAML")
    parser.add_argument("--only", help="the name of one story")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options), options.only)


if __name__ == "__main__":
    sys.exit(main())
