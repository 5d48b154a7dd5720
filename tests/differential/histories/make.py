#!/usr/bin/env python3
"""Makes random histories in the form of recorded cases: programs in YAML that change, and the commands run on them.

    tests/differential/histories/make.py --into FOLDER --seed 1 --count 50

The same seed makes the same histories. `README.md` says how they are recorded and compared.
"""

import argparse
import json
import random
from pathlib import Path

NAMES = "abcdefgh"
WORDS = ["one", "two", "red", "blue", "elm", "oak", "left", "right"]
THING = "lab:index:Thing"
# How often a resource of a program has each of these.
CONTROLS = [
    (0.25, lambda r: ("replaceOn", r.sample(["value", "other", "items"], r.randint(1, 2)))),
    (0.15, lambda r: ("deleteBeforeReplace", True)),
    (0.15, lambda r: ("detailedDiff", True)),
    (0.06, lambda r: ("diffChanges", r.choice(["none", "some", "unknown"]))),
    (0.08, lambda r: ("noDiffKeys", [r.choice(["value", "other"])])),
    (0.10, lambda r: ("computedValue", word(r))),
    (0.08, lambda r: ("unknownInPreview", [r.choice(["value", "other", "computed"])])),
    (0.08, lambda r: ("secretOutputs", [r.choice(["value", "other"])])),
    (0.06, lambda r: ("dropOutputs", ["other"])),
    (0.06, lambda r: ("refreshBeforeUpdate", True)),
    (0.04, lambda r: ("readInputs", False)),
    (0.05, lambda r: ("stables", ["value"])),
    (0.04, lambda r: ("defaults", {"third": word(r)})),
]
FAILURES = ["create", "update", "delete", "diff", "read", "check"]


def word(r):
    return f"{r.choice(WORDS)}{r.randint(1, 99)}"


def main():
    parser = argparse.ArgumentParser(description="Make random histories.")
    parser.add_argument("--into", required=True, type=Path, help="a folder, which gets one folder for each history")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + options.count):
        write(options.into / f"r{seed}", History(seed))


def write(folder, history):
    """One case: its steps, and a folder for each of its programs."""
    steps = []
    for number, step in enumerate(history.steps, 1):
        step = dict(step)
        if program := step.pop("text", None):
            step = {"name": step.pop("name"), "program": f"p{number}", **step}
            (folder / f"p{number}").mkdir(parents=True, exist_ok=True)
            (folder / f"p{number}" / "Pulumi.yaml").write_text(program)
        steps.append(step)
    case = {"description": f"Random history {history.seed}.", "behaviours": [], "steps": steps}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


class History:
    """Steps over a program that changes a little before each of them."""

    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.steps, self.resources, self.providers = [], {}, {}
        for _ in range(self.random.randint(2, 5)):
            self.add()
        self.step("up", "up --yes --skip-preview")
        for _ in range(self.random.randint(3, 6)):
            self.random.choice(KINDS)(self)
        self.unprotect()
        self.step("destroy", "destroy --yes --skip-preview --continue-on-error" + self.random.choice(["", "", " --run-program"]))

    # ------------------------------------------------------------------------------------------ the program

    def add(self):
        """One more resource behind some other."""
        r = self.random
        free = [name for name in NAMES if name not in self.resources]
        if not free:
            return
        before = list(self.resources)
        resource = {"type": THING, "properties": {"value": word(r)}, "options": {}}
        kind = r.random()
        if kind < 0.06:
            resource["type"] = "lab:index:Readonly"
        elif kind < 0.14:
            resource["type"] = "lab:index:Component"
            resource["properties"] = {"size": r.randint(1, 2), "value": word(r)}
        elif kind < 0.20:
            resource["type"] = "pulumi:index:Stash"
            resource["properties"] = {"input": word(r)}
        if resource["type"] == THING:
            self.control(resource)
        for other in r.sample(before, min(len(before), r.choice([0, 0, 1, 1, 2]))):
            self.refer(resource, other)
        self.options(resource, before)
        self.resources[free[0] if r.random() < 0.7 else r.choice(free)] = resource

    def control(self, resource):
        r = self.random
        for chance, make in CONTROLS:
            if r.random() < chance:
                key, value = make(r)
                resource["properties"][key] = value
        if r.random() < 0.3:
            resource["properties"]["other"] = word(r)
        if r.random() < 0.2:
            resource["properties"]["items"] = [word(r), r.randint(1, 9)]
        if r.random() < 0.15:
            resource["properties"]["tags"] = {"k": word(r)}
        if r.random() < 0.12:
            resource["properties"]["third"] = {"fn::secret": word(r)}

    def refer(self, resource, other):
        """Some way to need another resource."""
        r, kind = self.random, self.resources[other]["type"]
        output = {"lab:index:Component": "urn", "pulumi:index:Stash": "output"}.get(kind) or r.choice(["value", "value", "id", "computed"])
        if kind == "lab:index:Readonly":
            output = r.choice(["value", "id"])
        if r.random() < 0.35 or resource["type"] not in (THING, "lab:index:Readonly"):
            resource["options"].setdefault("dependsOn", []).append(f"${{{other}}}")
        elif resource["type"] == THING:
            resource["properties"][r.choice(["other", "other", "value"])] = f"${{{other}.{output}}}"
        else:
            resource["properties"]["value"] = f"${{{other}.{output}}}"

    def options(self, resource, before):
        r, options = self.random, resource["options"]
        is_component = resource["type"] == "lab:index:Component"
        if before and r.random() < 0.15:
            options["parent"] = f"${{{r.choice(before)}}}"
        if before and not is_component and r.random() < 0.06:
            options["deletedWith"] = f"${{{r.choice(before)}}}"
        if before and not is_component and r.random() < 0.06:
            options["replaceWith"] = [f"${{{r.choice(before)}}}"]
        if r.random() < 0.08:
            options["protect"] = True
        if r.random() < 0.05 and not is_component:
            options["retainOnDelete"] = True
        if resource["type"] == THING:
            if r.random() < 0.08:
                options["ignoreChanges"] = [r.choice(["value", "other", "tags"])]
            if r.random() < 0.08:
                options["replaceOnChanges"] = [r.choice(["value", "other", "items[0]", "*"])]
            if r.random() < 0.06:
                options["deleteBeforeReplace"] = r.random() < 0.7
            if r.random() < 0.05:
                options["additionalSecretOutputs"] = ["computed"]
            if r.random() < 0.05:
                options["replacementTrigger"] = word(r)
            if r.random() < 0.10:
                name = r.choice(["p1", "p2"])
                self.providers.setdefault(name, {"region": r.choice(["eu", "us"])})
                options["provider"] = f"${{{name}}}"

    def change(self):
        """A few edits, as somebody would make them."""
        r = self.random
        for resource in self.resources.values():
            resource["options"].pop("aliases", None)
            resource["properties"].pop("failOn", None)
            resource["properties"].pop("partialOn", None)
        for _ in range(r.randint(1, 3)):
            r.choice([self.add, self.remove, self.rename, self.edit, self.edit, self.edit, self.reoption, self.provider])()

    def remove(self):
        """One resource goes, and what others said about it."""
        if len(self.resources) > 1:
            gone = self.random.choice(list(self.resources))
            del self.resources[gone]
            self.replace(gone, None)

    def rename(self):
        free = [name for name in NAMES if name not in self.resources]
        if not free or not self.resources:
            return
        old, new = self.random.choice(list(self.resources)), self.random.choice(free)
        self.resources = {new if name == old else name: one for name, one in self.resources.items()}
        if self.random.random() < 0.8:
            self.resources[new]["options"]["aliases"] = [{"name": old}]
        self.replace(old, new)

    def replace(self, old, new):
        """References to `old` are to `new`, or gone."""
        for resource in self.resources.values():
            for part in ("properties", "options"):
                for key, value in list(resource[part].items()):
                    if isinstance(value, list):
                        left = [one for one in (self.referring(item, old, new) for item in value) if one is not None]
                    else:
                        left = self.referring(value, old, new)
                    if left is None or left == [] != value:
                        del resource[part][key]
                    else:
                        resource[part][key] = left
            needed = {"lab:index:Component": "size", "pulumi:index:Stash": "input"}.get(resource["type"], "value")
            resource["properties"].setdefault(needed, 1 if needed == "size" else word(self.random))

    @staticmethod
    def referring(value, old, new):
        if not isinstance(value, str) or not (value == f"${{{old}}}" or value.startswith(f"${{{old}.")):
            return value
        return None if new is None else value.replace(f"${{{old}", f"${{{new}", 1)

    def edit(self):
        r = self.random
        resource = r.choice(list(self.resources.values()))
        if resource["type"] == THING:
            r.choice([self.control, lambda one: one["properties"].update(value=word(r)),
                      lambda one: one["properties"].update(value=word(r)),
                      lambda one: one["properties"].update(other={"fn::secret": word(r)}),
                      lambda one: one["properties"].update(tags={"k": word(r), "j": None})])(resource)
        else:
            key = {"lab:index:Component": "value", "pulumi:index:Stash": "input"}.get(resource["type"], "value")
            resource["properties"][key] = word(r)

    def reoption(self):
        names = list(self.resources)
        name = self.random.choice(names)
        resource = self.resources[name]
        if self.random.random() < 0.5:
            resource["options"] = {key: value for key, value in resource["options"].items() if key == "provider"}
        self.options(resource, names[:names.index(name)])

    def provider(self):
        if self.providers:
            self.random.choice(list(self.providers.values()))["region"] = self.random.choice(["eu", "us", "asia"])

    def text(self):
        """The program."""
        lines = ["name: lab", "runtime: yaml", "resources:"]
        used = json.dumps(self.resources)
        for name, properties in self.providers.items():
            if f"${{{name}}}" in used:
                lines += [f"  {name}:", "    type: pulumi:providers:lab", f"    properties: {json.dumps(properties)}"]
        for name, resource in self.resources.items():
            lines += [f"  {name}:", f"    type: {resource['type']}"]
            if "get" in resource:
                lines.append(f"    get: {json.dumps(resource['get'])}")
            else:
                lines.append(f"    properties: {json.dumps(resource['properties'])}")
            if resource["options"]:
                lines.append(f"    options: {json.dumps(resource['options'])}")
        things = [name for name, one in self.resources.items() if one["type"] == THING]
        if things:
            lines += ["outputs:", f"  o: \"${{{things[-1]}.value}}\""]
        return "\n".join(lines) + "\n"

    # ------------------------------------------------------------------------------------------ the steps

    def step(self, name, run, **more):
        self.steps.append({"name": name, "text": self.text(), "run": run, **more})

    def plain(self, name, run):
        self.steps.append({"name": name, "run": run})

    def urn(self):
        """Some resource of the program; seldom one that is nowhere."""
        r = self.random
        if r.random() < 0.03 or not self.resources:
            return f"urn:pulumi:dev::lab::{THING}::nowhere"
        chain, name = [], r.choice(list(self.resources))
        at = name
        while parent := self.resources[at]["options"].get("parent"):
            at = parent[2:-1]
            chain.append(self.resources[at]["type"])
        kinds = "$".join([*reversed(chain), self.resources[name]["type"]])
        return f"urn:pulumi:dev::lab::{kinds}::{name}"

    def urns(self, flag):
        return " ".join(f"{flag} {self.urn()}" for _ in range(self.random.choice([1, 1, 2])))

    def update(self):
        self.change()
        self.step("up", "up --yes --skip-preview" + self.random.choice(["", "", "", " --continue-on-error"]))

    def previewed(self):
        self.change()
        self.step("preview", self.random.choice(["preview", "preview --diff", "up --yes", "preview --refresh"]))

    def targeted(self):
        self.change()
        also = self.random.choice(["", "", " --target-dependents"])
        self.step("target", f"up --yes --skip-preview {self.urns('--target')}{also}")

    def excluded(self):
        self.change()
        also = self.random.choice(["", "", " --exclude-dependents"])
        self.step("exclude", f"up --yes --skip-preview {self.urns('--exclude')}{also}")

    def replaced(self):
        if self.random.random() < 0.5:
            self.change()
        flag = self.random.choice(["--replace", "--replace", "--target-replace"])
        self.step("replace", f"up --yes --skip-preview {self.urns(flag)}")

    def refreshed(self):
        drift = {"cloud": self.drift()}
        run = self.random.choice(["refresh --yes --skip-preview", "refresh --yes --skip-preview --run-program",
                                  "up --yes --skip-preview --refresh", "up --yes --skip-preview --refresh --run-program",
                                  "refresh --preview-only", f"refresh --yes --skip-preview {self.urns('--target')}"])
        if run.startswith("up"):
            self.change()
        self.step("refresh", run, **{key: value for key, value in drift.items() if value})

    def drift(self):
        """Edits of objects by somebody else; the first object of a resource has its name and 1."""
        r, edits = self.random, []
        for name, resource in self.resources.items():
            if resource["type"] == THING and r.random() < 0.3:
                create = {"type": THING, "id": f"{name}-1", "serial": 1, "region": "nowhere", "data": {"value": word(r)}, "control": {}}
                edits.append({"object": f"Thing__{name}-1", "create": create})
                if r.random() < 0.25:
                    edits.append({"object": f"Thing__{name}-1", "remove": True})
        return edits

    def failing(self):
        self.change()
        things = [one for one in self.resources.values() if one["type"] == THING]
        for one in self.random.sample(things, min(len(things), self.random.choice([1, 1, 2]))):
            operation = self.random.choice(FAILURES)
            if self.random.random() < 0.25 and operation in ("create", "update"):
                one["properties"]["partialOn"] = {operation: {"reasons": ["not ready"], "times": 1}}
            else:
                one["properties"]["failOn"] = {operation: {"message": f"{operation} failed", "times": 1}}
        self.step("fail", "up --yes --skip-preview --continue-on-error")
        if self.random.random() < 0.5:
            self.step("again", "up --yes --skip-preview --continue-on-error")

    def failing_replacement(self):
        """A value that demands replacement changes, and the replacement fails."""
        things = [one for one in self.resources.values() if one["type"] == THING]
        if things:
            one = self.random.choice(things)
            one["properties"].update(value=word(self.random), replaceOn=["value"])
            operation = self.random.choice(["create", "delete"])
            one["properties"]["failOn"] = {operation: {"message": f"{operation} failed", "times": 1}}
        self.step("fail-replace", "up --yes --skip-preview --continue-on-error")

    def tainted(self):
        self.plain("state-taint", f"state taint --yes {self.urn()}")
        self.update()

    def protected(self):
        self.plain("state-protect", f"state protect --yes {self.urn()}")
        self.step("destroy-unprotected", "destroy --yes --skip-preview --exclude-protected")

    def deleted(self):
        self.plain("state-delete", f"state delete --yes {self.urn()}")
        self.update()

    def destroyed(self):
        also = self.random.choice(["", " --target-dependents"])
        more = self.random.choice(["", "", " --run-program"])
        self.step("destroy-target", f"destroy --yes --skip-preview {self.urns('--target')}{also}{more}")

    def expecting(self):
        self.step("again", "up --yes --skip-preview --expect-no-changes")

    def imported(self):
        name = f"ext{self.random.randint(1, 9)}"
        create = {"type": THING, "id": name, "serial": 1, "region": "nowhere", "data": {"value": word(self.random)}, "control": {}}
        self.step("import", f"import --yes --skip-preview --generate-code=false --protect=false {THING} {name} {name}",
                  cloud=[{"object": f"Thing__{name}", "create": create}])

    def unprotect(self):
        self.plain("unprotect", "state unprotect --yes --all")


KINDS = [History.update] * 5 + [History.failing] * 3 + [History.refreshed] * 3 + [History.targeted] * 2 + [
    History.excluded, History.excluded, History.replaced, History.replaced, History.previewed, History.failing_replacement,
    History.failing_replacement, History.tainted, History.protected, History.deleted, History.destroyed, History.expecting,
    History.imported]

if __name__ == "__main__":
    main()
