#!/usr/bin/env python3
"""Secrets of every shape, through operations, failures and crashes: their text must not be found anywhere.

    tests/e2e/canary.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

Looked at are the output of all commands, all files of the store, of the home and temporary folders and of what commands were
told to write, and the arguments of all processes. With `--stores` and `--postgres`, as `stores.py` takes them, stacks are kept
in real servers, whose files and logs are looked at.
"""

import argparse
import base64
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import store_servers
from stories import Failed, expect, tell

LAB = Path(__file__).resolve().parents[1] / "lab"
LIMIT = 120

SECRETS = {
    "text": 'canary 7f3a/&?="quoted"\\',
    "token": "canary-token-5d21",
    "number": "7319408265",
    "key": "-----BEGIN CANARY-----\nY2FuYXJ5LWtleS1saW5l\ncanary-second-line\n-----END CANARY-----\n",
    "password": "canary-pass-81aa",
}
ROTATED = {**SECRETS, "text": "canary rotated/&9c4e", "token": "canary-token-rotated", "number": "8842200917"}
DRIFTED = "canary-drifted-64b0"

THING = "lab:index:Thing"
LANGUAGES = ("python", "typescript", "go", "java", "csharp", "rust", "yaml", "pcl")
MESSAGE = "refused for ${token} and ${made.result} (https://user:${token}@host/?q=1)"


def program():
    """A program with secrets of every shape in inputs, outputs, providers, components and outputs of the stack."""
    options = {"options": {"provider": "${lab}"}}
    resources = {
        "lab": {"type": "pulumi:providers:lab", "properties": {"secretToken": "${token}", "note": "${text}"}},
        "made": {"type": "random:RandomPassword", "properties": {"length": 24, "special": False}},
        "plain": {"type": THING, "properties": {"value": "${text}", "other": "${number}"}, **options},
        "nested": {"type": THING, "properties": {
            "value": {"deep": [{"key": "${key}"}, "https://user:${token}@host/"]},
            "tags": {"base64": {"fn::toBase64": "${text}"}, "json": {"fn::toJSON": {"in": "${text}"}}},
            "items": ["${number}", "${key}"]}, **options},
        "asset": {"type": THING, "properties": {"source": {"fn::secret": {"fn::stringAsset": "${key}"}}}, **options},
        "archive": {"type": THING, "properties": {
            "source": {"fn::secret": {"fn::assetArchive": {"key.pem": {"fn::stringAsset": "${key}"}}}}}, **options},
        "declared": {"type": THING, "properties": {"password": SECRETS["password"]}},
        "derived": {"type": THING, "properties": {
            "value": "${made.result}", "computedValue": "${made.result}", "secretOutputs": ["computed"]}, **options},
        "component": {"type": "lab:index:Component", "properties": {"size": 2, "value": "${token}"}},
        "stash": {"type": "pulumi:index:Stash", "properties": {"input": {"text": "${text}", "list": ["${made.result}"]}}},
        "command": {"type": "command:local:Command", "properties": {
            "create": 'cat; echo "$GIVEN"', "environment": {"GIVEN": "${text}"}, "stdin": "${key}"}},
        "kept": {"type": THING, "properties": {"value": "${text}"}, "options": {"deletedWith": "${plain}", "aliases": [{"name": "older"}]}},
    }
    return {
        "name": "proj",
        "runtime": "yaml",
        "config": {name: {"type": "integer" if name == "number" else "string", "secret": True}
                   for name in SECRETS if name != "password"},
        "variables": {"echoed": {"fn::invoke": {"function": "lab:index:secretEcho", "arguments": {"value": "${key}"}}}},
        "resources": resources,
        "outputs": {
            "text": "${text}", "number": "${number}", "nested": "${nested}", "made": "${made.result}", "echoed": "${echoed}",
            "component": "${component.secretValue}", "stash": "${stash.output}", "command": "${command.stdout}",
            "asset": "${asset.source}", "url": "https://user:${token}@host/",
        },
    }


def life(world):
    """Everything that a stack goes through if nothing fails."""
    world.begin()
    world.ok("preview")
    world.ok("preview", "--diff", "--show-full-output", "--show-config")
    world.ok("preview", "--json")
    world.ok("preview", "--save-plan", world.out("plan.json"))
    world.ok("preview", "--html", world.out("preview.html"), "--markdown", world.out("preview.md"))
    world.ok("up", "--yes", "--skip-preview", "--event-log", world.out("events.json"), PULUMI_DEBUG_COMMANDS="true")
    world.learn_made()
    world.expect_to_find_all()
    world.ok("up", "--yes", "--diff", "--show-sames", "--show-full-output")
    world.ok("ci", "preview", "--report", world.out("ci.md"))
    world.views()
    world.rotate()
    world.ok("preview", "--diff")
    world.ok("preview", "--json")
    world.ok("why", "plain")
    world.ok("up", "--yes", "--json")
    world.drift()
    expect("the exit code of drift", world.run("drift")[0], 2)
    world.ok("refresh", "--yes", "--diff")
    world.ok("refresh", "--yes", "--skip-preview", "--json")
    world.ok("up", "--yes", "--diff", "-v=9", "--logtostderr", "--logflow", "--tracing", f"file:{world.out('trace')}",
             "--otel-traces", f"file://{world.out('spans')}")
    world.ok("up", "--yes", "--skip-preview", "-v=9", "--target-replace", world.urn("nested"), "--target-dependents")
    world.views()
    world.ok("stack", "rename", "prod")
    world.ok("stack", "rename", "dev")
    world.ok("stack", "init", "other", "--copy-config-from", "dev")
    world.ok("stack", "select", "dev")
    world.ok("destroy", "--yes", "--diff")
    world.ok("destroy", "--yes", "--remove")
    world.ok("stack", "restore", "dev")


def steps_fail(world):
    """Each kind of call fails, with secrets in the provider's words, which programs, states and histories pass on."""
    world.begin()
    world.ok("up", "--yes", "--skip-preview")
    world.learn_made()
    # First, because a step that fails may end the program before it calls the function, and its inputs are the whole message.
    document = program()
    document["variables"]["echoed"] = {"fn::invoke": {"function": "lab:index:fail", "arguments": {"message": MESSAGE}}}
    world.write(document)
    world.try_all()
    for call in ("check", "diff", "create", "update", "delete", "read"):
        for words in ({"failOn": {call: {"message": MESSAGE, "preview": True}}},
                      {"partialOn": {call: {"reasons": [MESSAGE, "${key}"], "message": MESSAGE}}}):
            world.write(changed(**words))
            world.try_all()
    world.write(changed(checkFailures=[{"property": "value", "reason": MESSAGE}]))
    world.try_all()
    for wrong in ("failConfigure", "failCheckConfig"):
        document = program()
        document["resources"]["lab"]["properties"][wrong] = MESSAGE.replace("made.result", "text")
        world.write(document)
        world.try_all()
    document = program()
    document["resources"]["command"]["properties"]["update"] = 'cat; echo "$GIVEN" >&2; exit 3'
    document["resources"]["command"]["properties"]["environment"]["MORE"] = "${made.result}"
    world.write(document)
    world.try_all()
    document = program()
    document["resources"]["component"]["properties"]["failConstruct"] = MESSAGE
    world.write(document)
    world.try_all()
    world.expect_said("Preview failed: [secret]", "returned an error: refused for [secret] and [secret]", "has a problem: [secret]")


def cut_off(world):
    """Runs are killed, interrupted, or run into a defect, in the middle of their steps."""
    world.begin()
    world.ok("up", "--yes", "--skip-preview")
    world.learn_made()
    for number, signals in enumerate(([signal.SIGKILL], [signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM])):
        world.write(changed(other=f"${{text}} {number}", sleepMs=2500))
        world.cut("up", "--yes", "--skip-preview", signals=signals)
        world.run("up", "--yes", "--diff")
        world.views()
    document = program()
    document["resources"]["broken"] = {"type": "pulumi:pulumi:StackReference", "properties": {"name": "organization/proj/dev"},
                                       "options": {"dependsOn": ["${stash}"]}}
    document["resources"]["stash"]["properties"]["input"] = "${text} and ${made.result}"
    world.write(document)
    world.run("up", "--yes", "--skip-preview", PLUMB_TEST_DEFECT="organization/proj/dev")
    if not list((world.root / "home/.pulumi/logs").glob("*")):
        raise Failed("there is no report of the defect")
    world.write(program())
    world.ok("up", "--yes")
    # A state that was damaged.
    world.ok("stack", "export", "--file", world.out("state.json"))
    state = json.loads(Path(world.out("state.json")).read_text())
    state["deployment"]["resources"][3]["parent"] = "urn:pulumi:dev::proj::no:such:Type::one"
    Path(world.out("state.json")).write_text(json.dumps(state))
    world.run("stack", "import", "--file", world.out("state.json"))
    world.run("stack", "import", "--force", "--file", world.out("state.json"))
    world.run("up", "--yes")
    world.run("state", "repair", "--yes")
    world.run("stack", "export")
    world.ok("stack", "rm", "--yes", "--force")


PYTHON = """import pulumi

config = pulumi.Config()
token, text = config.require_secret("token"), config.require_secret("text")
key = config.get_secret("key")
tree = config.require_object("tree")
print("a leaf", tree["leaf"], "and", tree["list"][0]["inner"], "in", tree["open"])
pulumi.log.info(f"plain {config.require('token')} and {config.require('text')}")
print("printed", config.require("token"), repr(config.require("text")))
token.apply(lambda value: pulumi.log.warn(f"warned of {value}"))


class Thing(pulumi.CustomResource):
    def __init__(self, name, props, **options):
        super().__init__("lab:index:Thing", name, props, pulumi.ResourceOptions(**options))


made = Thing("made", {"value": token, "other": pulumi.Output.concat("a ", text), "items": [key], "password": None})
Thing("asset", {"source": pulumi.Output.secret(pulumi.StringAsset(config.require("key")))})
pulumi.export("token", token)
pulumi.export("dict", {"a": [text], "b": pulumi.Output.secret({"c": config.require("token")})})
pulumi.export("url", pulumi.Output.concat("https://u:", token, "@host"))


def fails(value):
    raise ValueError(f"cannot use {value} at {config.require('text')}")


if config.get_bool("fail"):
    made.urn.apply(lambda _: token.apply(fails))
elif config.get_bool("stop"):
    raise Exception(f"stopped at {config.require('token')} with {config.require('key')}")
"""


def says_them_itself(world):
    """A program prints, logs and fails with what is secret."""
    world.set_up_project("python")
    (world.project / "__main__.py").write_text(PYTHON)
    world.ok("stack", "init", "dev")
    world.set(SECRETS)
    world.secrets.update({"leaf": "canary-leaf-77b1", "inner": "canary-inner-2c19"})
    world.run("config", "set", "--secret", "--path", "tree.leaf", given=world.secrets["leaf"])
    world.run("config", "set", "--secret", "--path", "tree.list[0].inner", given=world.secrets["inner"])
    world.ok("config", "set", "--path", "tree.open", "seen by all")
    world.ok("up", "--yes")
    world.ok("preview", "--json")
    for wrong in ("fail", "stop"):
        world.ok("config", "set", wrong, "true")
        world.try_all()
        world.fails("up", "--yes", "--json")
        world.ok("config", "rm", wrong)
    world.expect_said("cannot use [secret] at [secret]", "stopped at [secret] with ", "warned of [secret]", "printed [secret]",
                      "a leaf [secret] and [secret] in seen by all")
    world.ok("refresh", "--yes", "--diff")
    world.views()


def whole_state(world):
    """A state that is encrypted as a whole can be read nowhere, whatever becomes of the stack."""
    world.begin()
    world.ok("up", "--yes", "--skip-preview")
    world.learn_made()
    world.expect_stored(THING, True)
    world.ok("stack", "encrypt")
    world.expect_stored(THING, False)
    world.write(changed(other="${text} again", sleepMs=2500))
    world.cut("up", "--yes", "--skip-preview", signals=[signal.SIGKILL])
    world.expect_stored(THING, False)
    if world.server:
        # The lease of the run that was killed.
        time.sleep(31)
    world.ok("up", "--yes", "--skip-preview")
    world.ok("stack", "rename", "prod")
    world.ok("stack", "rm", "--yes", "--force")
    world.expect_stored(THING, False)
    world.ok("stack", "restore", "prod")
    world.ok("stack", "select", "prod")
    copy = world.root / "copy"
    copy.mkdir()
    world.ok("stack", "migrate", "--yes", "--to", f"file://{copy}")
    world.ok("stack", "output", "--json", PULUMI_BACKEND_URL=f"file://{copy}", PULUMI_STACK="prod")
    world.expect_stored(THING, False, copy)
    for words in (["stack"], ["stack", "output"], ["stack", "export"], ["up", "--yes"], ["destroy", "--yes"], ["stack", "decrypt"]):
        said = world.fails(*words, PULUMI_CONFIG_PASSPHRASE="another")
        expect(f"the reason for {words} in\n{said}\n  ", "incorrect passphrase" in said, True)
    expect("updates in the history", len(json.loads(world.ok("stack", "history", "--json"))) >= 2, True)
    world.ok("stack", "decrypt")
    world.expect_stored(THING, True)
    world.ok("destroy", "--yes")


def single_objects(world):
    """Objects are imported, read and edited in the state; settings, passphrase and types of secrets are wrong."""
    world.begin()
    world.ok("up", "--yes", "--skip-preview")
    world.learn_made()
    made = json.dumps({"type": THING, "id": "found", "serial": 1, "region": "here",
                       "data": {"value": "found"}, "control": {}})
    (world.cloud / "Thing__found.json").write_text(made)
    world.ok("import", THING, "found", "found", "--yes", "--generate-code=true", "--out", world.out("found.yaml"))
    world.fails("import", THING, "found", "lost", "--yes")
    world.ok("do", THING, "read", "found")
    world.ok("state", "protect", world.urn("plain"), "--yes")
    world.fails("state", "delete", world.urn("plain"), "--yes")
    world.ok("state", "rename", world.urn("stash"), "renamed", "--yes")
    world.ok("state", "taint", world.urn("nested"))
    world.run("up", "--yes", "--diff")
    world.views()
    settings = world.project / "Pulumi.dev.yaml"
    good = settings.read_text()
    settings.write_text(good.replace("proj:text", "proj:number: [\nproj:text"))
    world.run("up", "--yes")
    settings.write_text(good)
    world.fails("up", "--yes", PULUMI_CONFIG_PASSPHRASE="wrong")
    world.run("config", PULUMI_CONFIG_PASSPHRASE="wrong")
    world.run("config", "set", "--secret", "number", given="not-a-number-canary-71d4")
    world.secrets["wrong number"] = "not-a-number-canary-71d4"
    world.run("up", "--yes")
    world.run("preview", "--json")


def carried_away(world):
    """A state is exported as programs, restored, moved to another stack and store, and encrypted with another passphrase."""
    world.begin()
    world.ok("up", "--yes", "--skip-preview")
    world.learn_made()
    for language in LANGUAGES:
        # The SDK for Java has no option `deletedWith`.
        tried = world.fails if language == "java" else world.ok
        tried("export-program", "--language", language, "--generate-only", "--out", world.out(language))
    world.ok("preview", "--diff", "--show-full-output", "--cwd", world.out("yaml"))
    world.ok("preview", "--json", "--cwd", world.out("yaml"))
    world.rotate()
    world.ok("up", "--yes", "--skip-preview")
    world.ok("state", "get", world.urn("nested"))
    world.ok("state", "restore", "1", "--yes")
    world.ok("stack", "history", "diff", "1", "2")
    world.ok("stack", "export", "--version", "1")
    world.ok("stack", "init", "other")
    world.ok("stack", "select", "dev")
    world.ok("config", "cp", "--dest", "other")
    world.ok("state", "move", "--source", "dev", "--dest", "other", "--yes", world.urn("stash"), world.urn("command"))
    world.ok("stack", "export", "--stack", "other")
    world.ok("up", "--yes", "--diff", "--stack", "dev")
    world.ok("stack", "change-secrets-provider", "passphrase", "--stack", "dev", given="another canary\n",
             PULUMI_TEST_PASSPHRASE="true")
    world.variables["PULUMI_CONFIG_PASSPHRASE"] = "another canary"
    world.views()
    store = world.root / "out/store"
    store.mkdir()
    world.ok("stack", "migrate", "--yes", "--to", f"file://{store}", "dev")
    world.ok("stack", "output", "--json", "--stack", "dev", PULUMI_BACKEND_URL=f"file://{store}")
    world.ok("destroy", "--yes", "--stack", "dev", PULUMI_BACKEND_URL=f"file://{store}")


CEL = """
tells:
  type: lab:index:Thing
  when: has(props.value) && has(props.other)
  check: "false"
  messageExpression: "resource.name + ' has ' + props.value + ' and ' + string(props.other)"
fixes:
  level: remediate
  type: pulumi:index:Stash
  check: "!has(props.input.fixed)"
  message: it was not fixed
  fix: {input.fixed: "'fixed ' + props.input.text"}
"""
WRONG = """
converts:
  type: lab:index:Thing
  when: has(props.other)
  check: int(timestamp(props.value)) > 0
  message: no time
"""
REGO = """package canary

warn_told contains message if {
\tinput.value
\tprint("printed", input.value)
\tmessage := sprintf("%s has %v", [input.__name, input])
}
"""
WRONG_REGO = """package wrong

deny_converted contains "no number" if to_number(input.value) < 0
"""
POLICIES = """
import sys

import pulumi
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy, StackValidationPolicy

config = pulumi.Config("proj")
# What is printed before the pack says its port stops it.
print("loaded with", config.get("token"), file=sys.stdout if config.get_bool("noisy") else sys.stderr)


def tell(args, report):
    print("printed", args.props.get("value"))
    report(f"{args.name} has {dict(args.props)}")


def fail(args, report):
    if config.get_bool("fail") and "value" in args.props:
        raise ValueError(f"cannot judge {args.props['value']}")


def remediate(args):
    if args.resource_type == "pulumi:index:Stash":
        return {"input": {**args.props["input"], "more": f"more {args.props['input']['text']}"}}


def tell_all(args, report):
    for it in args.resources:
        report(f"{it.urn} has {dict(it.props)}")


PolicyPack("told", enforcement_level=EnforcementLevel.ADVISORY, policies=[
    ResourceValidationPolicy("tell", "It tells.", tell),
    ResourceValidationPolicy("fail", "It fails.", fail),
    ResourceValidationPolicy("fix", "It fixes.", remediate=remediate, enforcement_level=EnforcementLevel.REMEDIATE),
    StackValidationPolicy("whole", "It tells all.", tell_all),
])
"""


def judged(world):
    """Policies say what they have seen, fail with it, and derive other values from it."""
    packs, wrong = world.packs()
    world.begin()
    world.ok("preview", *packs)
    world.ok("preview", "--json", *packs)
    world.ok("up", "--yes", "--diff", "--event-log", world.out("events.json"), "--show-policy-remediations", *packs,
             PULUMI_DEBUG_COMMANDS="true")
    world.learn_made()
    world.ok("config", "set", "fail", "true")
    world.rotate()
    for words in (["preview", "--diff"], ["preview", "--json"], ["up", "--yes", "--json"],
                  ["up", "--yes", "--markdown", world.out("up.md"), "-v=9", "--logtostderr"],
                  ["policy", "analyze"], ["policy", "analyze", "--json"]):
        for options in (packs, *wrong):
            world.run(*words, *options)
    world.ok("config", "set", "noisy", "true")
    world.run("up", "--yes", *packs)
    world.views()
    world.expect_said("plain has [secret]", "cannot judge [secret]", "`converts` cannot be evaluated", '"more":"[secret]"',
                      "`deny_converted` cannot be evaluated", "printed [secret]", "nested has ", "loaded with [secret]")


STORIES = [life, steps_fail, cut_off, says_them_itself, single_objects, whole_state, judged, carried_away]


def changed(**properties):
    """The program, with other inputs of one resource that has a replacement and dependents too."""
    document = program()
    document["resources"]["plain"]["properties"].update({"other": "${key} changed", **properties})
    document["resources"]["another"] = {"type": THING, "properties": {"value": "${text}", **properties},
                                        "options": {"provider": "${lab}"}}
    return document


class World:
    """A project in a folder of its own, and everything that commands print and write there."""

    def __init__(self, root, options, server=None):
        self.root, self.binary, self.server = root, options.bin.absolute(), server
        # Stories that share a server have stores of their own.
        self.part = f"canary-{root.name[-6:]}"
        self.project, self.cloud = root / "project", root / "unwatched/cloud"
        for name in ("project", "home", "store", "tmp", "out", "unwatched/cloud"):
            (root / name).mkdir(parents=True)
        self.files = [root / name for name in ("home", "store", "tmp", "out", "project")]
        self.variables = {
            "PATH": f"{options.python.absolute().parent}:{LAB}:{os.environ.get('PATH', '')}",
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "PULUMI_BACKEND_URL": server.address(self.part) if server else f"file://{root}/store",
            "PULUMI_CONFIG_PASSPHRASE": "canary",
            "LAB_PYTHON": str(options.python.absolute()),
            "LAB_CLOUD": str(self.cloud),
            "PULUMI_EXPERIMENTAL": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            **(server.environment if server else {}),
        }
        self.policies = options.policies and options.policies.absolute().parent.parent
        self.secrets = {**SECRETS}
        self.said = []
        self.arguments = Arguments()

    def begin(self):
        self.write(program())
        self.ok("stack", "init", "dev")
        self.set(SECRETS)

    def set(self, values):
        for name, value in values.items():
            if name != "password":
                self.run("config", "set", "--secret", name, given=value)

    def rotate(self):
        self.secrets.update({f"new {name}": value for name, value in ROTATED.items()})
        self.set(ROTATED)

    def packs(self):
        """Options that run a policy pack in each language, and the options of each pack that fails."""
        packs = {"cel": ("rules.yaml", CEL), "rego": ("rules.rego", REGO), "wrong cel": ("rules.yaml", WRONG),
                 "wrong rego": ("rules.rego", WRONG_REGO)}
        if self.policies:
            packs["python"] = ("__main__.py", POLICIES)
        for name, (file, text) in packs.items():
            folder = self.root / "packs" / name
            folder.mkdir(parents=True)
            (folder / file).write_text(text)
            options = {"virtualenv": str(self.policies)} if name == "python" else {}
            runtime = {"name": name.removeprefix("wrong "), "options": options}
            (folder / "PulumiPolicy.yaml").write_text(json.dumps({"runtime": runtime, "version": "1.0.0"}))
        option = {name: ("--policy-pack", str(self.root / "packs" / name)) for name in packs}
        wrong = [option.pop("wrong cel"), option.pop("wrong rego")]
        return [word for pack in option.values() for word in pack], wrong

    def set_up_project(self, runtime):
        self.write({"name": "proj", "runtime": {"name": runtime, "options": {"toolchain": "pip"}}})

    def try_all(self):
        """Everything that runs steps, whether it succeeds or not."""
        for words in (["preview", "--json"],
                      ["up", "--yes", "--diff", "--refresh", "--continue-on-error", "--markdown", self.out("up.md")],
                      ["up", "--yes", "--json", "--skip-preview", "--replace", "**another"],
                      ["destroy", "--yes", "--skip-preview", "--target", "**another"]):
            self.run(*words)

    def cut(self, *words, signals):
        """A run that gets `signals` while a provider is at work."""
        running = subprocess.Popen([str(self.binary), *words, "--cwd", str(self.project), "--non-interactive"],
                                   env=self.variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        time.sleep(2)
        for one in signals:
            running.send_signal(one)
            time.sleep(0.3)
        self.said.append((f"{' '.join(words)} with {signals}", running.communicate(timeout=LIMIT)[0]))

    def write(self, document):
        (self.project / "Pulumi.yaml").write_text(json.dumps(document, indent=2))

    def out(self, name):
        return str(self.root / "out" / name)

    def learn_made(self):
        """The password that a provider has made is a secret from now on, and for what was said before."""
        outputs = json.loads(self.run("stack", "output", "--json", "--show-secrets", told=False)[1])
        self.secrets["made"] = outputs["made"]

    def expect_to_find_all(self):
        """A state in the open has every secret, so that not finding them says something."""
        state = self.run("stack", "export", "--show-secrets", told=False)[1].encode()
        for name, value in self.secrets.items():
            if not any(needle in state for form, needle in forms(value)):
                raise Failed(f"{name} is not in the state at all")

    def drift(self):
        """Somebody changes what is secret, behind the back of the stack."""
        self.secrets["drifted"] = DRIFTED
        for file in self.cloud.glob("Thing__plain*.json"):
            thing = json.loads(file.read_text())
            thing["data"]["value"] = DRIFTED
            file.write_text(json.dumps(thing))

    def urn(self, name):
        resources = json.loads(self.run("stack", "export", told=False)[1])["deployment"]["resources"]
        return next(it["urn"] for it in resources if it["urn"].endswith(f"::{name}"))

    def views(self):
        """All that can be read of a stack."""
        for words in (["config"], ["config", "--json"], ["stack"], ["stack", "--show-urns", "--show-ids"],
                      ["stack", "output"], ["stack", "output", "--json"], ["stack", "output", "--shell"], ["stack", "output", "url"],
                      ["stack", "export"], ["stack", "history"], ["stack", "history", "--json"], ["stack", "get"],
                      ["stack", "graph", self.out("graph.dot")], ["about"], ["doctor"], ["drift", "--json"], ["why", "nested"],
                      ["stack", "graph", "--format", "html", self.out("graph.html")], ["refresh", "--preview-only", "--diff"],
                      ["destroy", "--preview-only", "--diff"]):
            self.run(*words)

    def run(self, *words, given="", told=True, **variables):
        done = subprocess.run([str(self.binary), *words, "--cwd", str(self.project), "--non-interactive"],
                              env={**self.variables, **variables}, input=given, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        if re.search("unknown (command|flag|shorthand)", done.stdout):
            raise Failed(f"{words} is no command: {done.stdout}")
        if told:
            self.said.append((" ".join(words), done.stdout))
        return done.returncode, done.stdout

    def ok(self, *words, **variables):
        code, said = self.run(*words, **variables)
        expect(f"the exit code of {words}, which says\n{said}\n   ", code, 0)
        return said

    def fails(self, *words, **variables):
        code, said = self.run(*words, **variables)
        if code == 0:
            raise Failed(f"{words} ended well:\n{said}")
        return said

    def expect_said(self, *texts):
        """What is around the secrets is shown, so that not finding them says something."""
        for text in texts:
            if not any(text in said for _, said in self.said):
                like = {line for _, said in self.said for line in said.splitlines() if text.split("[")[0] in line}
                raise Failed(f"{text!r} was never said, but {sorted(like)[:5]}")

    def expect_stored(self, text, is_expected, folder=None):
        """Whether a text of the state can be read in the store."""
        if self.server and not folder:
            places = self.kept()
        else:
            folder = folder or self.root / "store"
            places = [(str(file), content(file)) for file in folder.rglob("*") if file.is_file()]
        found = [place for place, data in places if text.encode() in data]
        if bool(found) != is_expected:
            raise Failed(f"{text!r} is in the store at {found}")

    def kept(self):
        """What a server has now. Its files may have former contents as well."""
        if self.server.has_plain_files:
            folder = self.server.folder
            return [(str(file), content(file)) for file in folder.rglob("*") if file.is_file() and self.part in str(file)]
        return [(f"what {self.server.name} keeps", self.server.kept(self.part))]

    def close(self):
        self.arguments.stop()

    def look(self):
        """Says where any secret is in the open."""
        needles = [(name, form, needle) for name, value in self.secrets.items() for form, needle in forms(value)]
        places = [(f"the output of `{words}`", text.encode()) for words, text in self.said]
        places += [("the arguments of a process", text) for text in self.arguments.seen]
        for folder in self.files + ([self.server.folder] if self.server else []):
            places += [(str(file), content(file)) for file in folder.rglob("*") if file.is_file() and file != self.project / "Pulumi.yaml"]
        if self.server:
            places.append((f"what {self.server.name} keeps", self.server.kept(self.part)))
        leaks = [leak(name, form, needle, place, text) for place, text in places for name, form, needle in needles
                 if needle in text]
        if leaks:
            raise Failed(f"{len(leaks)} leaks in {len(places)} places:\n" + "\n".join(leaks[:60]))


def leak(name, form, needle, place, text):
    at = text.index(needle)
    around = text[max(0, at - 90):at + len(needle) + 30].decode(errors="replace").replace("\n", "\\n")
    return f"  {name} ({form}) in {place}: …{around}…"


def content(file):
    data = file.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def forms(value):
    """The forms in which a secret may show, each with the words for it."""
    lines = [it for it in value.splitlines() if len(it) > 2]
    found = {it.encode(): "as it is" for it in lines}
    for text in (value, *lines):
        found.setdefault(json.dumps(text)[1:-1].encode(), "in JSON")
        found.setdefault(json.dumps(json.dumps(text)[1:-1])[1:-1].encode(), "in JSON in JSON")
        found.setdefault(urllib.parse.quote(text, safe="").encode(), "in an address")
        found.setdefault(urllib.parse.quote_plus(text).encode(), "in a query")
        found.setdefault(text.encode().hex().encode(), "in hexadecimal digits")
        if len(text) > 6:
            for before in range(3):
                coded = base64.b64encode(b"x" * before + text.encode())
                # What stands before and behind the text has a part in the first and the last characters.
                found.setdefault(coded[4 if before else 0:len(coded) // 4 * 4 - 4], "in base64")
    return [(form, needle) for needle, form in found.items()]


class Arguments:
    """The arguments of all processes that begin while it looks."""

    def __init__(self):
        self.seen, self.ended = set(), threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.ended.wait(0.02):
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.seen.add(process.read_bytes())
                except OSError:
                    pass

    def stop(self):
        self.ended.set()
        self.thread.join()


def looked_at(story, server=None):
    def told(world):
        story(world)
        world.look()
    told.__name__ = f"{story.__name__}[{server.name}]" if server else story.__name__
    return told


def in_servers(options):
    """A life of a stack, and with `--failures` one of failing calls, in each store that has files or tables of its own."""
    kinds, left_out = store_servers.all_of(*(it and it.resolve() for it in (options.stores, options.postgres)))
    for server in left_out:
        print(f"left out stories of {server}", flush=True)
    ended = []
    for kind, programs in kinds:
        with store_servers.temporary(kind, programs) as server:
            stories = [life, *([steps_fail] if options.failures else []),
                       *([whole_state] if server.shows_what_it_keeps else [])]
            ended.append(tell([looked_at(it, server) for it in stories], lambda root, server=server: World(root, options, server)))
    return max(ended)


def main():
    parser = argparse.ArgumentParser(description="Look for secrets wherever they could have got.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with pulumi and grpcio")
    parser.add_argument("--policies", type=Path, help="a Python with pulumi-policy, for a pack in Python")
    parser.add_argument("--stores", type=Path, help="the folder that tests/setup-stores.sh printed")
    parser.add_argument("--postgres", type=Path, help="the folder that tests/setup-postgres.sh printed")
    parser.add_argument("--failures", action="store_true", help="let calls fail in each store too, not only with files")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    if options.stores or options.postgres:
        return in_servers(options)
    return tell([looked_at(it) for it in STORIES], lambda root: World(root, options), options.only)


if __name__ == "__main__":
    sys.exit(main())
