#!/usr/bin/env python3
"""A policy pack written with the published package `pulumi-policy`, through the built binary.

    tests/e2e/policies.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259-pulumi-policy/bin/python

The pack remediates and judges a YAML program of stashes. Only the standard library is used here.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from stories import Failed, tell

STACK = "dev"

PACK = '''
import json
import os

import pulumi
from pulumi_policy import (EnforcementLevel, PolicyConfigSchema, PolicyPack, ResourceValidationPolicy, Severity,
                           StackValidationPolicy)

STASH = "pulumi:index:Stash"


def noted(**what):
    with open(os.environ["POLICY_LOG"], "a") as log:
        log.write(json.dumps(what) + "\\n")


# Before anybody has asked the pack anything.
config = pulumi.Config()
noted(project=pulumi.get_project(), stack=pulumi.get_stack(), organization=pulumi.get_organization(),
      preview=pulumi.runtime.is_dry_run(), size=config.get("size"), settings=config.get_object("settings"),
      password=config.get("password"), raw=json.loads(os.environ["PULUMI_CONFIG"]).get("judged:settings"))


def value(args):
    return args.props.get("input")


def add_owner(args):
    if args.resource_type == STASH and "owner" not in value(args):
        return {**args.props, "input": {**value(args), "owner": args.get_config()["owner"]}}


def say_name(args, report):
    if args.resource_type == STASH:
        noted(judged=args.name, inputs=json.loads(json.dumps(dict(value(args)))), protect=args.opts.protect)
        if args.name == "ugly":
            report("What a name")


def forbid(args, report):
    if args.resource_type == STASH and "forbidden" in value(args):
        report("No way")


def count(args, report):
    stashes = [it for it in args.resources if it.resource_type == STASH]
    noted(stack=sorted(it.name for it in stashes), outputs=[dict(it.props["output"]) for it in stashes])
    if len(stashes) > args.get_config()["most"]:
        report(f"{len(stashes)} stashes are too many")


PolicyPack("house", policies=[
    ResourceValidationPolicy("owner", "Everything has an owner.", enforcement_level=EnforcementLevel.REMEDIATE,
                             remediate=add_owner,
                             config_schema=PolicyConfigSchema(
                                 properties={"owner": {"type": "string", "default": "house", "minLength": 2}})),
    ResourceValidationPolicy("style", "Names are nice.", say_name, enforcement_level=EnforcementLevel.ADVISORY,
                             severity=Severity.LOW),
    ResourceValidationPolicy("forbidden", "Nothing is forbidden.", forbid,
                             enforcement_level=EnforcementLevel.MANDATORY),
    StackValidationPolicy("few", "There are few.", count, enforcement_level=EnforcementLevel.MANDATORY,
                          config_schema=PolicyConfigSchema(properties={"most": {"type": "integer", "default": 2}})),
])
'''


def main():
    parser = argparse.ArgumentParser(description="Run a policy pack.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the package pulumi-policy")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options.bin.absolute(), options.python.absolute()), options.only)


class World:
    """A project with its stack, and a policy pack beside it."""

    def __init__(self, root, binary, python):
        self.root, self.binary, self.log = root, binary, root / "policies.jsonl"
        for name in ("project", "backend", "home"):
            (root / name).mkdir()
        self.project = root / "project"
        self.pack("pack", PACK, python)
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "policies",
            "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
            "POLICY_LOG": str(self.log),
        }
        self.program({})
        self.run("stack", "init", STACK)

    def pack(self, name, program, python, runtime="python"):
        folder = self.project / name
        folder.mkdir()
        # The folder of the environment: bin/python is a link out of it.
        settings = {"runtime": {"name": runtime, "options": {"virtualenv": str(python.parent.parent)}},
                    "version": "0.1.0"}
        (folder / "PulumiPolicy.yaml").write_text(json.dumps(settings))
        (folder / "__main__.py").write_text(program)

    def program(self, stashes, **options):
        resources = {name: {"type": "pulumi:index:Stash", "properties": {"input": value}, "options": options}
                     for name, value in stashes.items()}
        text = json.dumps({"name": "judged", "runtime": "yaml", "resources": resources})
        (self.project / "Pulumi.yaml").write_text(text)

    def run(self, *args, fails=False):
        command = [str(self.binary), *args, "--cwd", str(self.project), "--non-interactive", "--color", "never"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)
        output = done.stdout + done.stderr
        if (done.returncode != 0) != fails:
            raise Failed(f"{' '.join(args)} ended with {done.returncode}:\n{output}")
        return output

    def up(self, *args, pack="pack", **more):
        return self.run("up", "--yes", "--skip-preview", "--stack", STACK, "--policy-pack", pack, *args, **more)

    def preview(self, *args, pack="pack", **more):
        return self.run("preview", "--stack", STACK, "--policy-pack", pack, *args, **more)

    def events(self, *args, **more):
        """The engine events of an update, and only those of policies by kind."""
        lines = [json.loads(line) for line in self.up("--json", *args, **more).splitlines() if line.startswith("{")]
        return lines

    def noted(self):
        """What the pack has written down; it is forgotten."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]

    def stashes(self):
        """Inputs of the stashes in the state, by name."""
        text = self.run("stack", "export", "--stack", STACK)
        resources = json.loads(text[text.index("{"):])["deployment"].get("resources", [])
        return {it["urn"].rsplit("::", 1)[1]: it["inputs"]["input"] for it in resources
                if it["type"] == "pulumi:index:Stash"}


def expect(actual, wanted, what=""):
    if actual != wanted:
        raise Failed(f"{what}\nwanted {wanted!r}\nfound  {actual!r}")


def expect_in(text, *wanted):
    for one in wanted:
        if one not in text:
            raise Failed(f"no {one!r} in\n{text}")


def facts(world):
    """A pack knows the stack and its configuration when it starts: typed values as text, objects as JSON."""
    world.run("config", "set", "size", "3", "--stack", STACK)
    world.run("config", "set", "--path", "settings.deep[0]", "x", "--stack", STACK)
    world.run("config", "set", "--secret", "password", "p", "--stack", STACK)
    world.program({"a": {"owner": "me"}}, protect=True)
    output = world.preview()
    expect_in(output, "Policies:\n    ✅ house@v0.1.0 (local: pack)\n")
    started, judged, whole = world.noted()
    expect(started, {"project": "judged", "stack": STACK, "organization": "organization", "preview": True, "size": "3",
                     "settings": {"deep": ["x"]}, "password": "p", "raw": '{"deep":["x"]}'})
    expect(judged, {"judged": "a", "inputs": {"owner": "me"}, "protect": True})
    expect(whole, {"stack": ["a"], "outputs": [{"owner": "me"}]})
    world.up()
    expect([it["preview"] for it in world.noted() if "preview" in it], [False])


def advisory(world):
    """What is only advised against is shown, and happens."""
    world.program({"ugly": {"owner": "me"}})
    output = world.up()
    expect_in(output, "Policies:\n    ⚠️ house@v0.1.0 (local: pack)\n"
                      "        - [advisory] [severity: low]  style  (pulumi:index:Stash: ugly)\n"
                      "          Names are nice.\n          What a name\n", "+ 2 created")
    expect(list(world.stashes()), ["ugly"])
    # It is the same in a run that changes nothing.
    expect_in(world.up(), "style  (pulumi:index:Stash: ugly)", "2 unchanged")


def mandatory(world):
    """What is forbidden is not done, and a preview shows all of it."""
    world.program({"a": {"owner": "me", "forbidden": 1}, "b": {"owner": "me", "forbidden": 1}})
    output = world.preview(fails=True)
    expect_in(output, "    ❌ house@v0.1.0 (local: pack)\n",
              "        - [mandatory]  forbidden  (pulumi:index:Stash: a)\n          Nothing is forbidden.\n",
              "        - [mandatory]  forbidden  (pulumi:index:Stash: b)\n")
    if not any("stack" in it and "outputs" in it for it in world.noted()):
        raise Failed("the preview shows what is wrong with single resources, and not with the stack")
    expect_in(world.up(fails=True), "[mandatory]  forbidden")
    expect(world.stashes(), {})


def remediation(world):
    """What is remediated goes to the provider and into the state, is judged, and stays the same in the next run."""
    world.program({"a": {"size": 1}})
    output = world.up()
    expect_in(output, "    ✅ house@v0.1.0 (local: pack)\n        - [remediate]  owner  (1 resource)\n")
    expect(world.stashes(), {"a": {"size": 1, "owner": "house"}})
    expect([it["inputs"] for it in world.noted() if "judged" in it], [{"size": 1, "owner": "house"}])
    expect_in(world.up("--show-policy-remediations"), "[remediate]  owner  (pulumi:index:Stash: a)", '+ owner: "house"',
              "2 unchanged")


def secrets(world):
    """What is secret stays so when it is remediated."""
    world.program({"a": {"password": {"fn::secret": "hush"}}})
    world.up()
    stash = world.stashes()["a"]
    if "hush" in json.dumps(stash):
        raise Failed(f"a secret is in the state: {stash}")
    expect_in(world.run("stack", "export", "--show-secrets", "--stack", STACK), "hush", "house")


def stack_policy(world):
    """What is wrong with the whole fails the run when everything is done."""
    world.program({name: {"owner": "me"} for name in ("a", "b", "c")})
    output = world.up(fails=True)
    expect_in(output, "        - [mandatory]  few\n          There are few.\n          3 stashes are too many\n")
    expect(sorted(world.stashes()), ["a", "b", "c"])


def events(world):
    """Events of policies as other programs read them."""
    world.program({"a": {}, "ugly": {"owner": "me"}})
    found = world.events()
    kinds = [next(key for key in event if key not in ("sequence", "timestamp")) for event in found]
    expect(kinds[:2], ["policyLoadEvent", "preludeEvent"])
    remediation = next(event["policyRemediationEvent"] for event in found if "policyRemediationEvent" in event)
    remediation.pop("color")
    pack = {"policyPackName": "house", "policyPackVersion": "0.1.0", "policyPackVersionTag": "0.1.0"}
    urn = f"urn:pulumi:{STACK}::judged::pulumi:index:Stash::"
    expect(remediation, {"resourceUrn": urn + "a", "policyName": "owner", **pack, "before": {"input": {}},
                         "after": {"input": {"owner": "house"}}})
    violation = next(event["policyEvent"] for event in found if "policyEvent" in event)
    violation.pop("color")
    expect(violation, {"resourceUrn": urn + "ugly", "message": "Names are nice.\nWhat a name\n", "policyName": "style",
                       **pack, "enforcementLevel": "advisory", "severity": "low"})
    analyzed = {it["resourceUrn"].rsplit("::", 1)[1]: it for it in
                (event["policyAnalyzeSummaryEvent"] for event in found if "policyAnalyzeSummaryEvent" in event)}
    expect(analyzed["ugly"], {"resourceUrn": urn + "ugly", **pack, "passed": ["forbidden"],
                              "failed": ["style"], "notApplicable": ["owner"]})
    remediated = [event["policyRemediateSummaryEvent"] for event in found if "policyRemediateSummaryEvent" in event]
    expect([it["failed"] for it in remediated if it["resourceUrn"] == urn + "a"], [["owner"]])
    whole = next(event["policyAnalyzeStackSummaryEvent"] for event in found if "policyAnalyzeStackSummaryEvent" in event)
    expect(whole, {**pack, "passed": ["few"]})
    summary = next(event["summaryEvent"] for event in found if "summaryEvent" in event)
    expect(summary["PolicyPacks"], {"house|local|pack": "0.1.0"})


def configuration(world):
    """The user's settings come before those of the pack, and are checked before anything happens."""
    def configured(settings):
        (world.project / "settings.json").write_text(json.dumps(settings))
        return ["--policy-pack-config", "settings.json"]

    world.program({"a": {}, "b": {"owner": "me", "forbidden": 1}, "c": {"owner": "me"}})
    output = world.up(*configured({"owner": {"owner": "somebody"}, "forbidden": "advisory", "few": {"most": 3}}))
    expect_in(output, "[advisory]  forbidden")
    expect(world.stashes()["a"], {"owner": "somebody"})
    output = world.up(*configured({"all": "disabled", "owner": {"owner": "x"}, "few": {"most": 1.5}}))
    expect_in(output, "✅ house@v0.1.0")
    output = world.up(*configured({"owner": {"owner": "x"}, "few": {"most": 1.5}, "style": "strict"}), fails=True)
    expect_in(output, "validating policy config: house 0.1.0  few: most must be of type integer, and not 1.5",
              "validating policy config: house 0.1.0  the length of owner: owner must be at least 2",
              "validating policy config: house 0.1.0  style: enforcementLevel must be one of")
    output = world.run("up", "--yes", "--stack", STACK, "--policy-pack-config", "settings.json", fails=True)
    expect_in(output, '"--policy-pack-config" must be specified with "--policy-pack"')


def several(world):
    """Several packs, and one of them twice."""
    world.program({"ugly": {"owner": "me"}})
    output = world.up("--policy-pack", "./pack")
    expect_in(output, "⚠️ house@v0.1.0 (local: ./pack; pack)")
    expect(output.count("What a name"), 2)


def analyzed(world):
    """Packs look at a state as it is: nothing is remediated, what is forbidden is all told, and the state stays."""
    world.program({"a": {"size": 1}, "ugly": {"owner": "me", "forbidden": 1}, "b": {"owner": "me", "forbidden": 2}})
    world.run("up", "--yes", "--skip-preview", "--stack", STACK)
    before = world.run("stack", "export", "--stack", STACK)
    analyze = ["policy", "analyze", "--policy-pack", "pack"]
    output = world.run(*analyze, "--stack", STACK, fails=True)
    expect_in(output, "Analyzing (dev):\n", "    ❌ house@v0.1.0 (local: pack)\n",
              "        - [mandatory]  forbidden  (pulumi:index:Stash: b)\n          Nothing is forbidden.\n",
              "        - [mandatory]  forbidden  (pulumi:index:Stash: ugly)\n",
              "        - [mandatory]  few\n          There are few.\n          3 stashes are too many\n",
              "        - [advisory] [severity: low]  style  (pulumi:index:Stash: ugly)\n",
              "[remediate]  owner  (pulumi:index:Stash: a)", '+ owner: "house"',
              "error: one or more mandatory policy violations were found\n")
    noted = world.noted()
    expect(next(it["inputs"] for it in noted if it.get("judged") == "a"), {"size": 1})
    # In the order of the state, which is that in which they came into being.
    expect(sorted(next(it["stack"] for it in noted if "outputs" in it)), ["a", "b", "ugly"])
    expect(world.run("stack", "export", "--stack", STACK), before, "the state has changed")
    if "Resources:" in output or "created" in output:
        raise Failed(f"an analysis shows what became of resources:\n{output}")

    (world.project / "mild.json").write_text(json.dumps({"forbidden": "advisory", "few": {"most": 5}}))
    mild = [*analyze, "--policy-pack-config", "mild.json"]
    expect_in(world.run(*mild), "    ⚠️ house@v0.1.0 (local: pack)\n", "[advisory]  forbidden  (pulumi:index:Stash: b)")
    expect_in(world.run(*mild, "--diff"), "[advisory]  forbidden  (pulumi:index:Stash: ugly)", "house")
    found = [json.loads(line) for line in world.run(*mild, "--json").splitlines()]
    kinds = [next(key for key in event if key not in ("sequence", "timestamp")) for event in found]
    expect(kinds[0], "policyLoadEvent")
    expect(kinds[-2:], ["summaryEvent", "cancelEvent"])
    expect(kinds.count("policyAnalyzeSummaryEvent"), 5, "one for each resource, stack and provider among them")
    expect(sorted(event["policyEvent"]["policyName"] for event in found if "policyEvent" in event),
           ["forbidden", "forbidden", "style"])
    expect(found[-2]["summaryEvent"]["PolicyPacks"], {"house|local|pack": "0.1.0"})


def analyzed_files(world):
    """A state in a file needs neither backend nor passphrase; secrets are left out then."""
    world.program({"a": {"owner": "me", "password": {"fn::secret": "hush"}}, "b": {"owner": "me", "forbidden": 1}})
    world.run("up", "--yes", "--skip-preview", "--stack", STACK)
    world.run("stack", "export", "--stack", STACK, "--file", "state.json")
    analyze = ["policy", "analyze", "--file", "state.json", "--policy-pack", "pack"]
    world.environment["PULUMI_BACKEND_URL"] = "file:///nowhere"
    expect_in(world.run(*analyze, fails=True), "Analyzing (dev):\n", "[mandatory]  forbidden  (pulumi:index:Stash: b)")
    expect(next(it["inputs"] for it in world.noted() if it.get("judged") == "a"), {"owner": "me", "password": "hush"})
    passphrase = world.environment.pop("PULUMI_CONFIG_PASSPHRASE")
    output = world.run(*analyze, fails=True)
    expect_in(output, "warning: could not decrypt secrets in state.json; analyzing with secret values redacted\n")
    inputs = next(it["inputs"] for it in world.noted() if it.get("judged") == "a")
    expect(inputs, {"owner": "me", "password": "[secret]"})
    world.environment["PULUMI_CONFIG_PASSPHRASE"] = passphrase
    (world.project / "empty.json").write_text('{"version": 3, "deployment": {"manifest": {}}}')
    expect_in(world.run("policy", "analyze", "--file", "empty.json", "--policy-pack", "pack"),
              "File empty.json has no resources; nothing to analyze.")
    expect_in(world.run("policy", "analyze", "--file", "state.json", fails=True),
              "error: at least one --policy-pack path must be specified\n")
    expect_in(world.run(*analyze, "--stack", STACK, fails=True),
              "if any flags in the group [file stack] are set none of the others can be; [file stack] were all set")
    expect_in(world.run(*analyze, "--json", "--diff", fails=True), "if any flags in the group [json diff]")
    expect_in(world.run("policy", "analyze", "--file", "state.json", "--policy-pack", "nopack", fails=True), "nopack")


def bad_packs(world):
    """Packs that cannot be had end the run before it does anything."""
    world.program({"a": {"owner": "me"}})
    missing = 'failed to load Pulumi policy project located at "{0}": open {0}/PulumiPolicy.yaml: no such file or directory'
    expect_in(world.up(pack="nowhere", fails=True), missing.format("nowhere"))
    python = Path(json.loads((world.project / "pack" / "PulumiPolicy.yaml").read_text())["runtime"]["options"]
                  ["virtualenv"]) / "bin" / "python"
    world.pack("broken", "raise Exception('it broke')\n", python)
    expect_in(world.up(pack="broken", fails=True), 'policy pack "broken" failed to start', "it broke")
    world.pack("ruby", "", python, runtime="ruby")
    expect_in(world.up(pack="ruby", fails=True), 'policy pack "ruby" failed to start',
              "no language plugin 'pulumi-language-ruby' found")
    (world.project / "empty").mkdir()
    expect_in(world.up(pack="empty", fails=True), missing.format("empty"))
    expect(world.stashes(), {})


STORIES = [facts, advisory, mandatory, remediation, secrets, stack_policy, events, configuration, several, analyzed, analyzed_files, bad_packs]

if __name__ == "__main__":
    sys.exit(main())
