#!/usr/bin/env python3
"""Works on single resources and functions with `do`, through the built binary.

    tests/e2e/direct.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

One provider is that of tests/lab; another, which lists what it has, is below. Both are processes that `--python` runs; others are
built in. Only the standard library is used here.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from stories import expect, expect_in, expect_out, tell

LAB = Path(__file__).resolve().parents[1] / "lab"
THING = "lab:index:Thing"

SHELF = '''
import json
import os
from concurrent import futures

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

SCHEMA = {
    "name": "shelf", "version": "1.0.0",
    "types": {"shelf:index:Size": {"type": "string", "enum": [{"value": "small"}, {"value": "large"}]}},
    "resources": {"shelf:index:Book": {
        "description": "A book of the shelf.",
        "inputProperties": {"title": {"type": "string", "description": "Its title."},
                            "pages": {"type": "integer", "default": 1},
                            "size": {"$ref": "#/types/shelf:index:Size"},
                            "price": {"type": "number", "deprecationMessage": "Books are free."}},
        "requiredInputs": ["title"],
        "properties": {"title": {"type": "string"}},
        "listInputs": {"properties": {"prefix": {"type": "string"}}}}},
}
TITLES = ["Ada", "Babbage", "Boole", "Church", "Curry"]


class Shelf(provider_pb2_grpc.ResourceProviderServicer):
    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="1.0.0")

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema=json.dumps(SCHEMA))

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def List(self, request, context):
        prefix = dict(request.query.fields).get("prefix")
        titles = [it for it in TITLES if it.startswith(prefix.string_value if prefix else "")]
        start = int(request.continuation_token or 0)
        page = titles[start:start + min(2, request.limit or 2)]
        for title in page:
            yield provider_pb2.ListResponse(result=provider_pb2.ListResponse.Result(id=title.lower(), name=title))
        end = start + len(page)
        token = str(end) if end < len(titles) else ""
        yield provider_pb2.ListResponse(continuation=provider_pb2.ListResponse.Continuation(continuation_token=token))

    def Cancel(self, request, context):
        return empty_pb2.Empty()


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
provider_pb2_grpc.add_ResourceProviderServicer_to_server(Shelf(), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
'''


class World:
    """An empty folder, with the providers installed; a project in it where a story wants one."""

    def __init__(self, root, binary, python):
        self.root, self.binary, self.project, self.log = root, binary, root / "project", root / "calls"
        for name in ("project", "backend", "home", "cloud"):
            (root / name).mkdir()
        (root / "shelf.py").write_text(SHELF)
        self.plugin("shelf", f"{python} {root / 'shelf.py'}")
        self.plugin("lab", str(LAB / "pulumi-resource-lab"))
        self.environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"), "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "direct", "PYTHONDONTWRITEBYTECODE": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "LAB_PYTHON": str(python), "LAB_CLOUD": str(root / "cloud"), "LAB_LOG": str(self.log),
        }

    def plugin(self, name, command):
        """Puts a plugin where downloads are kept, and with them what they say of themselves."""
        folder = self.root / "home" / "plugins" / f"resource-{name}-v1.0.0"
        folder.mkdir(parents=True)
        program = folder / f"pulumi-resource-{name}"
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        program.chmod(0o755)

    def with_project(self, text="name: proj\nruntime: yaml\n"):
        (self.project / "Pulumi.yaml").write_text(text)
        self.plumb("stack", "init", "dev")

    def plumb(self, *words, code=0, given=None):
        """Runs the binary; answers what it prints, and what it says besides."""
        command = [str(self.binary), "--cwd", str(self.project), "--non-interactive", "--color", "never", *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120, input=given)
        expect(f"{' '.join(words)}\n{done.stdout}{done.stderr}", done.returncode, code)
        return done.stdout, done.stderr

    def do(self, *words, **more):
        return self.plumb("do", *words, **more)[0]

    def say(self, *words, code=1, **more):
        return self.plumb("do", *words, code=code, **more)[1]

    def json(self, *words, **more):
        return json.loads(self.do(*words, "--output", "json", **more))

    def write(self, name, text):
        (self.project / name).write_text(text)
        return name

    def objects(self):
        return sorted(path.name for path in (self.root / "cloud").glob("Thing__*.json"))

    def calls(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [it["method"] for it in map(json.loads, lines) if "call" in it]

    def state(self, *words):
        text = self.plumb("stack", "export", *words)[0]
        return json.loads(text)["deployment"]


def a_package_shows_what_it_has(world):
    expect_in("Functions:\n  lab:echo\n  lab:fail\n  lab:secretEcho\n", world.do("lab"))
    expect_in("Resources:\n  lab:Component\n  lab:Readonly\n  lab:Thing\n", world.do("lab"))
    text = world.do("shelf:Book")
    expect_in(" - title (string*): Its title.\n", text)
    expect_in(' - size (shelf:index:Size) [one of "small", "large"]\n', text)
    expect_in(" - pages (integer) [default 1]\n", text)
    expect_in(" - price (number) [deprecated: Books are free.]\n", text)
    expect_in("List Inputs:\n - prefix (string)\n", text)
    text = world.do("shelf:Book", "list", "--help")
    expect_in("--prefix string", text)
    expect_out("--title", text)
    text = world.say("shelf:Bok", code=2)
    expect_in('unknown function, resource, or module "shelf:Bok" in package "shelf"\n\nDid you mean this?\n\tshelf:Book\n', text)


def packages_are_named_in_several_ways(world):
    expect_in("  lab:echo\n", world.do("lab@1.0.0"))
    expect("with a version", json.loads(world.do("lab@1.0.0:echo", "--value+", "1"))["value"], 1)
    path = ["--package", str(LAB)]
    expect("by path", json.loads(world.do(*path, "lab:echo", "--value+", "1"))["value"], 1)
    expect_in(f"Run 'plumb do --package {LAB} <module", world.do(*path))
    world.with_project()
    expect_in("a stack cannot keep resources of a plugin that is named by its path",
              world.say(*path, THING, "create", "a", "--yes"))
    expect_in("no resource plugin 'pulumi-resource-nothing' found", world.say("nothing:Thing", "read", "x"))
    expect_in("has a quote that is not closed", world.say("--package", "'lab", "lab:echo"))


def functions_answer_json(world):
    expect("echo", json.loads(world.do("lab:echo", "--value+", "{a: [1, x]}"))["value"], {"a": [1, "x"]})
    world.write("in.yaml", "value: ${pulumi.project}-x\n")
    world.write("in.pcl", 'value = upper("x")\n')
    world.write("ok.pcl", 'value = join("-", ["a", "b"])\n')
    expect("pcl", json.loads(world.do("lab:echo", "--input", "pcl", "--input-file", "ok.pcl"))["value"], "a-b")
    expect("flags win", json.loads(world.do("lab:echo", "--input-file", "in.yaml", "--value+", "2"))["value"], 2)
    expect("standard input", json.loads(world.do("lab:echo", "--input-file", "-", given='{"value": true}'))["value"], True)
    text = world.say("lab:echo", "--input", "pcl", "--input-file", "in.pcl")
    expect_in("parse input file: unknown function 'upper'", text)
    expect_in("on in.pcl line 1", text)
    expect_in("unsupported attribute 'valu'", world.say("lab:echo", "--input-file", world.write("bad.yaml", "valu: 1\n")))
    expect_in("load toml input converter", world.say("lab:echo", "--input", "toml"))


def secrets_are_masked(world):
    expect("masked", json.loads(world.do("lab:secretEcho", "--value+", "hush"))["value"], "[secret]")
    expect("shown", json.loads(world.do("lab:secretEcho", "--value+", "hush", "--show-secrets"))["value"], "hush")
    made = world.json("--stateless", THING, "create", "--yes", "--password", "hush")
    expect("output", made["password"], "[secret]")
    output = "".join(world.plumb("do", "--stateless", THING, "create", "--yes", "--password", "hush"))
    expect_out("hush", output)


def messages_keep_secrets(world):
    text = world.say("lab:fail", "--message+", "{'fn::secret': it is hush-hush}")
    expect_in("error: [secret]", text)
    expect_out("hush", text)
    text = world.say("lab:echo", "--lab:secret-token", "hush-hush", "--lab:fail-configure", "no hush-hush here")
    expect_in("no [secret] here", text)
    expect_out("hush", text)


def failures_are_told_by_property(world):
    expect_in("error: it broke", world.say("lab:fail", "--message", "it broke"))
    expect_in("error: function inputs failed validation:\n- x: it is wrong\n",
              world.say("lab:fail", "--message", "it is wrong", "--property", "x"))
    failures = '[{property: value, reason: too small}, {property: tags, reason: too many}]'
    text = world.say("--stateless", THING, "create", "--yes", "--check-failures+", failures)
    expect_in("error: resource inputs failed validation:\n- value: too small\n- tags: too many\n", text)
    text = world.say("lab:echo", "--lab:fail-check-config", "no such place")
    expect_in("error: provider configuration failed validation:\n- failCheckConfig: no such place\n", text)
    expect_in("configure provider: ", world.say("lab:echo", "--lab:fail-configure", "no"))
    expect_in("missing required input title; set it with --title VALUE, or in a file: --input-file FILE",
              world.say("--stateless", "shelf:Book", "create", "--yes"))
    expect_in('--size: "huge" is none of small, large', world.say("--stateless", "shelf:Book", "create", "--size", "huge"))


def the_provider_is_configured(world):
    world.write("provider.yaml", "region: north\n")
    region = lambda *words: json.loads(world.do("lab:echo", "--value+", "1", *words)).get("region")
    expect("file", region("--provider-file", "provider.yaml"), "north")
    expect("flag", region("--provider-file", "provider.yaml", "--lab:region", "south"), "south")
    expect_in("a project must be present", world.say("lab:echo", "--provider", "urn:pulumi:dev::proj::a:b:C::d"))
    world.with_project("name: proj\nruntime: yaml\nresources:\n  west:\n    type: pulumi:providers:lab\n"
                       "    properties: {region: west}\n  other:\n    type: lab:Thing\n")
    world.plumb("up", "--yes", "--skip-preview")
    urns = {it["urn"].rsplit("::", 1)[1]: it["urn"] for it in world.state()["resources"]}
    expect("of the stack", region("--provider", urns["west"]), "west")
    expect("of the stack, and a flag", region("--provider", urns["west"], "--lab:region", "south"), "south")
    expect_in("is not a provider", world.say("lab:echo", "--provider", urns["other"]))
    expect_in("no resource named", world.say("lab:echo", "--provider", urns["west"] + "x"))
    expect("of no setting", region(), "nowhere")
    world.plumb("config", "set", "lab:region", "far")
    world.plumb("config", "set", "lab:secretToken", "hush", "--secret")
    expect("of the stack's settings", region(), "far")
    expect("of settings, and a flag", region("--lab:region", "south"), "south")
    world.plumb("config", "rm", "lab:region")
    world.plumb("config", "rm", "lab:secretToken")
    # A stack keeps the choice.
    world.do(THING, "create", "kept", "--provider", urns["west"], "--value+", "1", "--yes")
    world.do(THING, "create", "own", "--lab:region", "east", "--value+", "1", "--yes")
    outputs = {it["urn"].rsplit("::", 1)[1]: it.get("outputs", {}) for it in world.state()["resources"]}
    expect("regions", (outputs["kept"]["region"], outputs["own"]["region"]), ("west", "east"))
    expect_in("own-provider", outputs)


def objects_live_without_a_stack(world):
    made = world.json("--stateless", THING, "create", "--yes", "--value+", "1", "--name", "x", "--read-inputs")
    identity = made["id"]
    expect("objects", len(world.objects()), 1)
    expect("read", world.json(THING, "read", identity)["value"], 1)
    patched = world.json("--stateless", THING, "patch", identity, "--yes", "--value+", "2")
    expect("patched", (patched["value"], patched["name"]), (2, "x"))
    replaced = world.json("--stateless", THING, "upsert", identity, "--yes", "--value+", "3")
    expect("upserted", (replaced["value"], replaced.get("name")), (3, None))
    new = world.json("--stateless", THING, "upsert", "nowhere", "--yes", "--value+", "4")
    expect("made", new["value"], 4)
    world.do("--stateless", THING, "delete", identity, "--yes")
    expect_in(f'resource "{identity}" was not found', world.say(THING, "read", identity))
    for words in (["patch", "gone"], ["delete", "gone"]):
        expect_in('resource "gone" was not found', world.say("--stateless", THING, *words, "--yes"))
    expect("no state", list((world.root / "backend").iterdir()), [])


def dry_runs_change_nothing(world):
    made = world.json("--stateless", THING, "create", "--yes", "--value+", "1")["id"]
    before = world.objects()
    world.log.unlink()
    for words in (["create", "--value+", "2"], ["patch", made, "--value+", "2"], ["upsert", made, "--value+", "2"],
                  ["upsert", "other"], ["delete", made]):
        world.do("--stateless", "--dry-run", THING, *words)
    expect_in(f'This would delete {THING} "{made}".', world.plumb("do", "--stateless", "--dry-run", THING, "delete", made)[1])
    expect("objects", world.objects(), before)
    expect("value", world.json(THING, "read", made)["value"], 1)
    expect("deletes", world.calls().count("Delete"), 0)
    world.with_project()
    world.do("--dry-run", THING, "create", "a", "--value+", "1")
    expect("state", world.state().get("resources", []), [])


def nothing_is_done_unasked(world):
    text = "non-interactive mode requires --yes flag"
    for words in (["create"], ["patch", "x"], ["upsert", "x"], ["delete", "x"]):
        expect_in(text, world.say("--stateless", THING, *words))
    world.with_project()
    for operation in ("create", "patch", "upsert", "delete"):
        expect_in(text, world.say(THING, operation, "x"))
    expect("objects", world.objects(), [])


def ids_are_never_lost(world):
    """What came into being is told by its id, whatever went wrong."""
    half = "{create: {reasons: [it is not ready], outputs: {}}}"
    text = world.say("--stateless", THING, "create", "--yes", "--physical-id", "it-1", "--partial-on+", half)
    expect_in(f'the object is there: {THING} "it-1"\n- it is not ready', text)
    expect("objects", world.objects(), ["Thing__it-1.json"])
    text = world.say("--stateless", THING, "create", "--yes", "--physical-id", "it-2",
                     "--fail-on+", "{create: {message: lost, code: INTERNAL}}")
    expect_in("nobody knows whether an object of lab:index:Thing came into being", text)
    made = world.json("--stateless", THING, "create", "--yes", "--value+", "1", "--replace-on+", "[value]")["id"]
    text = world.say("--stateless", THING, "patch", made, "--yes", "--value+", "2", "--replace-on+", "[value]")
    expect_in("this change replaces the resource (value)", text)
    expect_in("nothing was changed", text)
    expect("value", world.json(THING, "read", made)["value"], 1)


def objects_are_listed(world):
    names = lambda *words: [it["name"] for it in json.loads(world.do("shelf:Book", "list", *words))]
    expect("a page", names(), ["Ada", "Babbage"])
    expect("all", names("--all"), ["Ada", "Babbage", "Boole", "Church", "Curry"])
    expect("some", names("--count", "3"), ["Ada", "Babbage", "Boole"])
    expect("by query", names("--prefix", "B"), ["Babbage", "Boole"])
    expect("form", json.loads(world.do("shelf:Book", "list", "--count", "1")), [{"id": "ada", "name": "Ada"}])
    expect_in("--all and --count are mutually exclusive", world.say("shelf:Book", "list", "--all", "--count", "1"))
    expect_in('unknown command "list"', world.say(THING, "list"))


def a_stack_keeps_resources(world):
    """Beside a program: what it has stays as it is, and may be referred to."""
    world.with_project("name: proj\nruntime: yaml\nresources:\n  main:\n    type: lab:Thing\n    properties: {value: from-main}\n")
    world.plumb("up", "--yes", "--skip-preview")
    shown = json.loads(world.do("show-resources", "-o", "json"))
    main, = [name for name in shown if name.startswith("main_")]
    output = world.do(THING, "create", "a", "--yes", "--value+", f"${{{main}.value}}-and-a")
    expect_in("Created a (snippet ", output)
    world.do(THING, "create", "b", "--yes", "--input-file", world.write("b.yaml", "value: ${a.value}-and-b\ntags: {x: 1}\n"))
    resources = {it["urn"].rsplit("::", 1)[1]: it for it in world.state()["resources"]}
    expect("through both", resources["b"]["outputs"]["value"], "from-main-and-a-and-b")
    expect("dependencies", resources["b"]["dependencies"], [resources["a"]["urn"]])
    expect_in("already exists in stack dev; use `upsert`", world.say(THING, "create", "a", "--yes"))
    expect_in("Patched b (snippet ", world.do(THING, "patch", "b", "--yes", "--value+", "new"))
    resources = {it["urn"].rsplit("::", 1)[1]: it for it in world.state()["resources"]}
    expect("patched", (resources["b"]["outputs"]["value"], resources["b"]["outputs"]["tags"]), ("new", {"x": 1}))
    expect_in("Updated b (snippet ", world.do(THING, "upsert", "b", "--yes", "--value+", "${a.id}"))
    expect_in("is needed by others of stack dev", world.say(THING, "delete", "a", "--yes"))
    # The program's own update keeps what `do` made.
    expect_in("unchanged", world.plumb("up", "--yes", "--skip-preview")[0])
    history = json.loads(world.plumb("stack", "history", "--json")[0])
    expect("updates", [it["kind"] for it in history], ["update"] * 6)
    expect_in("Deleted b (snippet ", world.do(THING, "delete", "b", "--yes"))
    expect_in("Deleted a (snippet ", world.do(THING, "delete", "a", "--yes"))
    expect("left", len(world.objects()), 1)
    expect("snippets", world.state().get("snippets", []), [])


def names_of_files_go_before_others(world):
    world.with_project()
    world.do(THING, "create", "a", "--yes", "--value+", "1")
    urn = json.loads(world.do("show-resources", "--output", "json"))["a"]
    names = world.write("names.json", json.dumps({"mine": urn}))
    world.do(THING, "create", "b", "--yes", "--resources-file", names, "--value+", "${mine.value}")
    snippet, = [it for it in world.state()["snippets"] if it["name"] == "b"]
    expect("kept", (snippet["code"], snippet["references"]), ("value = mine.value\n", {"mine": urn}))
    world.write("names.json", json.dumps({"mine": urn + "x"}))
    expect_in("was not found in the stack", world.say(THING, "create", "c", "--yes", "--resources-file", names))
    text = world.say(THING, "create", "c", "--yes", "--value+", "${nothing.value}")
    expect_in("nothing", text)
    expect("names", sorted(json.loads(world.do("show-resources", "-o", "json"))), ["a", "b"])


def there_is_a_home_without_a_project(world):
    expect("nothing yet", world.do("show-resources"), "(no resources)\n")
    world.do("random:RandomString", "create", "text", "--yes", "--length", "5")
    expect_in("text  urn:pulumi:default::default-global-project::random:index/randomString:RandomString::text\n",
              world.do("show-resources"))
    expect("no files here", list(world.project.iterdir()), [])
    world.do("random:RandomString", "delete", "text", "--yes")
    expect("gone", world.do("show-resources"), "(no resources)\n")


def a_failed_change_leaves_what_there_is(world):
    world.with_project()
    world.say(THING, "create", "a", "--yes", "--fail-on+", "{create: no room}")
    expect("objects", world.objects(), [])
    # What was said is kept, to be corrected.
    expect("snippets", [it["name"] for it in world.state()["snippets"]], ["a"])
    world.do(THING, "upsert", "a", "--yes", "--value+", "1")
    expect("objects", world.objects(), ["Thing__a-1.json"])
    world.do(THING, "upsert", "a", "--yes", "--value+", "1", "--fail-on+", "{delete: still used}")
    world.say(THING, "delete", "a", "--yes")
    expect("snippets", [it["name"] for it in world.state()["snippets"]], ["a"])
    expect("objects", world.objects(), ["Thing__a-1.json"])


def secrets_are_not_kept_in_plaintext(world):
    world.with_project()
    for words in (["--password", "hush"], ["--value+", "{'fn::secret': hush}"]):
        said = world.say(THING, "create", "a", "--yes", *words)
        expect_in("is a secret, and the stack keeps what is said of it as it is written", said)
        expect("objects", world.objects(), [])
    world.write("word", "hush2")
    words = [THING, "create", "b", "--yes", "--password+", "{'fn::secret': {'fn::readFile': ./word}}"]
    printed, said = world.plumb("do", *words)
    expect_out("hush2", printed + said)
    expect_out("hush2", json.dumps(world.state()))


STORIES = [
    a_package_shows_what_it_has, packages_are_named_in_several_ways, functions_answer_json, secrets_are_masked, messages_keep_secrets, failures_are_told_by_property,
    the_provider_is_configured, objects_live_without_a_stack, dry_runs_change_nothing, nothing_is_done_unasked,
    ids_are_never_lost, objects_are_listed, a_stack_keeps_resources, names_of_files_go_before_others,
    there_is_a_home_without_a_project, a_failed_change_leaves_what_there_is, secrets_are_not_kept_in_plaintext,
]


def main():
    parser = argparse.ArgumentParser(description="Work on single resources and functions.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the SDK, for the providers")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options.bin.absolute(), options.python.absolute()), options.only, jobs=2)


if __name__ == "__main__":
    sys.exit(main())
