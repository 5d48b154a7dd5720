#!/usr/bin/env python3
"""Imports what a converter tells, through the built binary.

    tests/e2e/converters.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

The converter is a process that serves the protocol of the published SDK; it reads lists of words. Only the standard library is
used here.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from stories import Failed, tell

STACK = "dev"

CONVERTER = '''
import json
import sys
from concurrent import futures

import grpc
from google.protobuf import struct_pb2
from pulumi.runtime.proto import converter_pb2, converter_pb2_grpc
from pulumi.runtime.proto.codegen import hcl_pb2, loader_pb2, mapper_pb2

SECRET = "4dabf18193072939515e22adb298388d"


def ask(target, method, request, response):
    with grpc.insecure_channel(target) as channel:
        call = channel.unary_unary(method, type(request).SerializeToString, response.FromString)
        return call(request, timeout=30)


class Words(converter_pb2_grpc.ConverterServicer):
    def ConvertProgram(self, request, context):
        with open(f"{request.source_directory}/words.json") as file:
            words = json.load(file)
        ask(request.loader_target, "/codegen.Loader/GetSchema", loader_pb2.GetSchemaRequest(package="random"),
            loader_pb2.GetSchemaResponse)
        files = {"Pulumi.yaml": "name: spoken\\ndescription: " + " ".join(request.args) + "\\n", "note.txt": "a note\\n"}
        files["main.pp"] = "".join(f'resource {name} "random:index/randomString:RandomString" {{\\n  length = {it}\\n}}\\n'
                                   for name, it in words.get("lengths", {}).items())
        for name, text in files.items():
            with open(f"{request.target_directory}/{name}", "w") as file:
                file.write(text)
        response = converter_pb2.ConvertProgramResponse()
        for kind, severity in (("warnings", hcl_pb2.DIAG_WARNING), ("errors", hcl_pb2.DIAG_ERROR)):
            for summary in words.get(kind, []):
                response.diagnostics.add(severity=severity, summary=summary)
        return response

    def ConvertState(self, request, context):
        with open(request.args[0]) as file:
            words = json.load(file)
        if "fail" in words:
            context.abort(grpc.StatusCode.INTERNAL, words["fail"])
        # Converters ask for schemas and mappings where they are told to.
        schema = json.loads(ask(request.loader_target, "/codegen.Loader/GetSchema",
                                loader_pb2.GetSchemaRequest(package="random"), loader_pb2.GetSchemaResponse).schema)
        ask(request.mapper_target, "/codegen.Mapper/GetMapping", mapper_pb2.GetMappingRequest(provider="random"),
            mapper_pb2.GetMappingResponse)
        assert "random:index/randomString:RandomString" in schema["resources"]
        print("words were read", file=sys.stderr, flush=True)
        response = converter_pb2.ConvertStateResponse()
        for name, it in words.get("words", {}).items():
            resource = response.resources.add(type="random:index/randomString:RandomString", name=name, id=it["id"],
                                              logical_name=it.get("called", ""), parent=it.get("below", ""))
            if "secret" in it:
                resource.outputs.update({"result": {SECRET: "1b47061264138c4ac30d75fd1eb44270", "value": it["secret"]},
                                         "length": len(it["secret"])})
                resource.inputs.update({"length": len(it["secret"])})
        for name in words.get("groups", []):
            response.resources.add(type="my:index:Group", name=name, is_component=True)
        for summary in words.get("warnings", []):
            response.diagnostics.add(severity=hcl_pb2.DIAG_WARNING, summary=summary, subject=hcl_pb2.Range(
                filename=request.args[0], start=hcl_pb2.Pos(line=2, column=3)))
        for summary in words.get("errors", []):
            response.diagnostics.add(severity=hcl_pb2.DIAG_ERROR, summary=summary, detail="it cannot be")
        return response


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
converter_pb2_grpc.add_ConverterServicer_to_server(Words(), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
'''


class World:
    """A YAML project with a stack, and a converter on the path."""

    def __init__(self, root, binary, python):
        self.root, self.binary, self.project = root, binary, root / "project"
        for name in ("project", "backend", "home", "bin"):
            (root / name).mkdir()
        self.plugin = plugin = root / "bin" / "pulumi-converter-words"
        self.python = python
        (root / "bin" / "words.py").write_text(CONVERTER)
        plugin.write_text(f"#!/bin/sh\nexec {python} {root / 'bin' / 'words.py'}\n")
        plugin.chmod(0o755)
        self.environment = {
            "PATH": f"{root / 'bin'}:{os.environ.get('PATH', '')}", "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"), "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "words", "PYTHONDONTWRITEBYTECODE": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        (self.project / "Pulumi.yaml").write_text("name: said\nruntime: yaml\n")
        self.run("stack", "init", STACK)

    def run(self, *args, fails=False):
        words = [*args[:1], "--cwd", str(self.project), "--non-interactive", "--color", "never", *args[1:]]
        done = subprocess.run([str(self.binary), *words], env=self.environment, capture_output=True, text=True, timeout=120)
        output = done.stdout + done.stderr
        if (done.returncode != 0) != fails:
            raise Failed(f"{' '.join(args)} ended with {done.returncode}:\n{output}")
        return output

    def words(self, **words):
        (self.project / "words.json").write_text(json.dumps(words))

    def convert(self, *args, **more):
        return self.run("import", "--yes", "--skip-preview", "--from", "words", *args, "--", "words.json", **more)

    def state(self, *args):
        text = self.run("stack", "export", *args)
        resources = json.loads(text[text.index("{"):])["deployment"].get("resources", [])
        return {it["urn"].rsplit("::", 1)[1]: it for it in resources}


def expect(actual, wanted, what=""):
    if actual != wanted:
        raise Failed(f"{what}\nwanted {wanted!r}\nfound  {actual!r}")


def expect_in(text, *wanted):
    for one in wanted:
        if one not in text:
            raise Failed(f"no {one!r} in\n{text}")


def converters_may_be_sources(world):
    world.plugin.unlink()
    sources = world.root / "home" / "plugins" / "converter-words-v1.0.0"
    sources.mkdir(parents=True)
    (sources / "__main__.py").write_text(CONVERTER)
    (sources / "PulumiPlugin.yaml").write_text("runtime: python\n")
    (sources / "venv").symlink_to(world.python.parents[1])
    world.words(words={"first": {"id": "abc"}})
    world.convert()
    expect(world.state()["first"]["id"], "abc")
    (sources / "PulumiPlugin.yaml").write_text("runtime: nowhere\n")
    expect_in(world.convert(fails=True), "nowhere")


def what_is_told_is_imported(world):
    """Resources with parents, names of their own, and a warning; the code makes no changes."""
    world.words(words={"greeting": {"id": "hello", "called": "the-greeting", "below": "talk"}}, groups=["talk"],
                warnings=["a word was left out"])
    output = world.convert()
    expect_in(output, "warning: words.json:2:3: a word was left out\n", "words were read")
    state = world.state()
    expect(state["the-greeting"]["id"], "hello")
    expect(state["the-greeting"]["outputs"]["result"], "hello")
    expect(state["the-greeting"]["parent"].rsplit("::", 1)[1], "talk")
    expect(state["the-greeting"]["protect"], True)
    expect_in(output, "type: random:RandomString")


def the_list_can_be_kept(world):
    """The list that an import came from is a file that imports the same."""
    world.words(words={"a": {"id": "hello"}, "b": {"id": "world"}})
    output = world.convert("--generate-resources", "list.json", "--protect=false")
    expect_in(output, "Generated import file written out to ", "list.json\n")
    kept = json.loads((world.project / "list.json").read_text())
    token = "random:index/randomString:RandomString"
    expect(kept, {"resources": [{"type": token, "name": "a", "id": "hello"}, {"type": token, "name": "b", "id": "world"}]})
    world.run("destroy", "--yes", "--skip-preview")
    world.run("import", "--yes", "--skip-preview", "--file", str(world.project / "list.json"))
    expect(sorted(name for name in world.state() if name in "ab"), ["a", "b"])


def values_are_taken_as_they_are(world):
    """Where the converter tells outputs nothing is read, and what it calls secret is not written in the clear."""
    world.words(words={"password": {"id": "none", "secret": "hush-hush"}})
    output = world.convert("--generate-resources", "list.json")
    if "hush-hush" in output + (world.project / "list.json").read_text() + world.run("stack", "export"):
        raise Failed(f"a secret is told:\n{output}")
    expect_in(output, "the values that the converter told are not in the file")
    outputs = world.state("--show-secrets")["password"]["outputs"]
    expect(json.loads(outputs["result"]["plaintext"]), "hush-hush")


def programs_are_converted(world):
    """What a converter makes of a program becomes a project in a language, with the files that it adds."""
    world.words(lengths={"first": 5, "second": 7}, warnings=["a word is unclear"])
    out = world.root / "converted"
    convert = ["convert", "--from", "words", "--language", "typescript", "--out", str(out), "--generate-only"]
    expect_in(world.run(*convert, "--", "loud"), "warning: a word is unclear\n")
    expect_in((out / "index.ts").read_text(), 'const second = new random.RandomString("second", { length: 7 });')
    expect_in((out / "Pulumi.yaml").read_text(), "name: spoken\n", "description: loud\n", "runtime:")
    expect((out / "note.txt").read_text(), "a note\n")
    expect((out / "words.json").exists(), False)
    world.words(errors=["no words"])
    expect_in(world.run(*convert, fails=True), "error: no words\n", "error: conversion failed\n")
    nowhere = ["convert", "--from", "nothing", "--language", "python", "--out", str(out)]
    expect_in(world.run(*nowhere, fails=True), "no converter plugin 'pulumi-converter-nothing' found")


def failures_are_told(world):
    """Errors of converters, and lists of what could not be imported."""
    world.words(errors=["no words"])
    expect_in(world.convert(fails=True), "error: no words; it cannot be\n", "error: conversion failed\n")
    world.words(fail="the words are gone")
    expect_in(world.convert(fails=True), 'error: converter "words" failed: the words are gone\n')
    world.words()
    expect_in(world.convert(fails=True), 'error: converter "words" found no resources to import\n')
    expect_in(world.run("import", "--yes", "--from", "nothing", fails=True), "no converter plugin 'pulumi-converter-nothing' found")
    expect_in(world.run("import", "--yes", "--from", "words", "--file", "x.json", fails=True),
              "a converter may not be specified in conjunction with an import file")
    expect_in(world.run("import", "--yes", "--generate-resources", "x.json", fails=True), "missing type, name, and id")
    expect(list(world.project.glob("pulumi-import-*.json")), [])
    world.words(words={"twice": {"id": "hello"}, "again": {"id": "hello", "called": "twice"}})
    expect_in(world.convert(fails=True), "Generated import file written out, edit and rerun import with --file ")
    written, = world.project.glob("pulumi-import-*.json")
    expect(len(json.loads(written.read_text())["resources"]), 2)


STORIES = [
    what_is_told_is_imported, the_list_can_be_kept, values_are_taken_as_they_are, programs_are_converted, failures_are_told,
    converters_may_be_sources,
]


def main():
    parser = argparse.ArgumentParser(description="Import what a converter tells.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the SDK, for the converter")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options.bin.absolute(), options.python.absolute()), options.only)


if __name__ == "__main__":
    sys.exit(main())
