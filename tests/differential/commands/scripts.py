"""Scripts of commands, from a seed."""

import random

from material import A, B, C, IMPORTS, KID, NAMES, PROJECTS, PROVIDER, ROOT, SETTINGS, STATES

FEWEST, MOST = 5, 12

STACKS = ["dev", "dev", "dev", "two", "three", "organization/lab/dev", "organization/other/dev", "lab/dev", "nowhere", "bad name",
          "a/b/c/d", "UPPER.x-1_y"]
KEYS = ["plain", "lab:plain", "num", "flag", "obj", "obj.k", "obj.k[0]", "aws:region", "secret", "password", "a:b:c", "", "needed",
        "size", "with space", '"quoted.key"', "obj.k[9]", "obj[", "x.y[0].z"]
VALUES = ["text", "12", "1.50", "true", "null", "", "-5", "[1,2]", '{"a": 1}', "two words", "AAAABBBBccccDDDD1111",
          "line1\\nline2", "<&>", "0123", "1e3"]
OUTPUTS = ["text", "n", "list", "map", "nil", "html", "lines", "one", "deep", "b", "secret", "missing"]
TAGS = ["owner", "pulumi:project", "a b", "x" * 50, ""]
URNS = [*NAMES, A + "x", "urn:pulumi:dev::lab::lab:index:Thing::zzz", "nonsense", "a", "urn:pulumi:two::lab::lab:index:Thing::a", ""]


def write(name, content):
    return {"write": name, "content": content}


class Generator:
    """Makes the script of one number."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")

    def one(self, choices):
        return self.random.choice(choices)

    def maybe(self, chance, *words):
        return list(words) if self.random.random() < chance else []

    def some(self, choices, most):
        return self.random.sample(choices, self.random.randint(0, min(most, len(choices))))

    def script(self):
        steps = [write("Pulumi.yaml", PROJECTS[self.one(["plain", "plain", "outputs", "program", "program", "described", "options", "options", "failing"])])]
        if self.random.random() < 0.95:
            steps.append(["stack", "init", "dev"])
        if self.random.random() < 0.6:
            steps += [write("state.json", STATES["state.json"]), ["stack", "import", "--file", "state.json"]]
        families = [self.stack] * 5 + [self.config] * 5 + [self.state] * 5 + [self.files] * 2 + [self.bring_state] * 2
        families += [self.operation] * 4 + [self.bring_resource] * 2 + [self.around] * 2
        for _ in range(self.random.randint(FEWEST, MOST)):
            made = self.one(families)()
            steps += made if isinstance(made[0], (list, dict)) else [made]
        return steps

    def stack_flag(self, chance=0.2):
        return self.maybe(chance, self.one(["-s", "--stack"]), self.one(STACKS))

    def json_flags(self):
        return self.one([[], [], [], ["--json"], ["-j"], ["--output", "json"], ["--output=default"], ["--output", "yaml"],
                         ["--json", "--output", "json"]])

    def stack(self):
        choices = [
            lambda: ["stack", *self.some(["-i", "-u", "--show-secrets", "--show-name", "-Q"], 2),
                     *self.one([[], [], ["--output", "json"], ["--output", "x"]])],
            lambda: ["stack", self.one(["ls", "list"]), *self.some(["-a", "-Q"], 1), *self.json_flags(),
                     *self.maybe(0.2, "--project", self.one(["lab", "other", "x y"])), *self.maybe(0.1, "--tag", self.one(["owner", "owner=x"])),
                     *self.maybe(0.1, "--organization", self.one(["organization", "acme"]))],
            lambda: ["stack", "init", *self.maybe(0.9, self.one(STACKS)), *self.maybe(0.2, "--no-select"),
                     *self.maybe(0.2, "--copy-config-from", self.one(STACKS)),
                     *self.maybe(0.2, "--secrets-provider", self.one(["passphrase", "default", "nonsense", "awskms://x"]))],
            lambda: ["stack", "select", *self.maybe(0.85, self.one(STACKS)), *self.maybe(0.2, self.one(["--create", "-c"])),
                     *self.maybe(0.1, "--secrets-provider", self.one(["passphrase", "nonsense"]))],
            lambda: ["stack", "unselect", *self.maybe(0.1, "extra")],
            lambda: ["stack", "get", *self.one([[], ["--output", "json"], ["-i"], ["--show-name"]])],
            lambda: ["stack", self.one(["rm", "remove"]), *self.maybe(0.7, self.one(STACKS)), *self.maybe(0.8, "--yes"),
                     *self.maybe(0.4, "--force"), *self.maybe(0.2, "--preserve-config"), *self.maybe(0.1, "--remove-backups")],
            lambda: ["stack", "rename", *self.maybe(0.95, self.one(STACKS)), *self.stack_flag(0.1)],
            lambda: ["stack", "output", *self.maybe(0.5, self.one(OUTPUTS)), *self.some(["--json", "-j", "--shell", "--show-secrets"], 2),
                     *self.maybe(0.1, "--output", self.one(["json", "default", "x"])), *self.maybe(0.05, "extra")],
            lambda: ["stack", "export", *self.maybe(0.2, "--show-secrets"), *self.maybe(0.2, "--file", self.one(["out.json", "no/such.json"])),
                     *self.maybe(0.1, "--version", self.one(["1", "x"]))],
            lambda: ["stack", self.one(["history", "hist"]), *self.some(["--full-dates", "--show-secrets"], 1), *self.json_flags(),
                     *self.maybe(0.2, "--page", self.one(["1", "2", "0", "x"])), *self.maybe(0.1, "--page-size", self.one(["1", "0", "-1"]))],
            lambda: ["stack", "tag", "set", *self.maybe(0.95, self.one(TAGS)), *self.maybe(0.95, self.one(VALUES))],
            lambda: ["stack", "tag", "get", *self.maybe(0.95, self.one(TAGS))],
            lambda: ["stack", "tag", self.one(["ls", "list"]), *self.json_flags()],
            lambda: ["stack", "tag", self.one(["rm", "remove"]), self.one(TAGS)],
            lambda: ["stack", "graph", self.one(["g.dot", "no/g.dot", "g.dot"]),
                     *self.some(["--short-node-name", "--ignore-parent-edges", "--ignore-dependency-edges"], 2),
                     *self.maybe(0.2, "--dependency-edge-color", "red"), *self.maybe(0.2, "--dot-fragment", "x=1")],
            lambda: ["stack", "change-secrets-provider", *self.maybe(0.95, self.one(["passphrase", "default", "nonsense"]))],
            lambda: ["stack", self.one(["nonsense", "lst", "selct", "exprt"])],
        ]
        return [*self.one(choices)(), *self.stack_flag(0.12)]

    def config(self):
        kind = lambda: self.some(["--secret", "--plaintext", "--path", "--type=int", "--type=float", "--type=bool", "--type=string",
                                  "--type=x", "--raw"], 2)
        pairs = lambda: [word for _ in range(self.random.randint(0, 3))
                         for word in (self.one(["--plaintext", "--secret"]), f"{self.one(KEYS)}={self.one(VALUES)}")]
        choices = [
            lambda: ["config", *self.some(["--show-secrets", "--json", "-j", "--open=false"], 2), *self.maybe(0.1, "--output", self.one(["json", "x"]))],
            lambda: ["config", "get", *self.maybe(0.95, self.one(KEYS)), *self.some(["--path", "--json", "--open=false"], 2),
                     *self.maybe(0.05, "extra")],
            lambda: ["config", "set", *self.maybe(0.97, self.one(KEYS)), *self.maybe(0.95, self.one(VALUES)), *kind()],
            lambda: ["config", "set", self.one(KEYS), self.one(VALUES), *self.maybe(0.3, "--path")],
            lambda: ["config", "set-all", *pairs(), *self.maybe(0.3, "--path")],
            lambda: ["config", "set-all", "--json", self.one(['{"lab:j": {"value": "v", "secret": false}}', '{"j": {"value": "1"}}', "[]", "{",
                                                             '{"lab:o": {"objectValue": {"a": [1]}, "value": "{}", "secret": false}}'])],
            lambda: ["config", self.one(["rm", "remove"]), *self.maybe(0.95, self.one(KEYS)), *self.maybe(0.4, "--path")],
            lambda: ["config", self.one(["rm-all", "remove-all"]), *self.some(KEYS, 3), *self.maybe(0.3, "--path")],
            lambda: ["config", self.one(["cp", "copy"]), *self.maybe(0.5, self.one(KEYS)), *self.maybe(0.8, "--dest", self.one(STACKS)),
                     *self.maybe(0.3, "--path")],
            lambda: ["config", "refresh", *self.maybe(0.4, "--force")],
            lambda: ["config", "env", self.one(["ls", "add", "rm", "init"]), *self.maybe(0.5, self.one(["e", "--yes"]))],
            lambda: ["config", self.one(["gt", "st", "nonsense"])],
        ]
        return [*self.one(choices)(), *self.stack_flag(0.12), *self.maybe(0.05, "--config-file", self.one(["Pulumi.x.yaml", "no/x.yaml"]))]

    def state(self):
        urns = lambda: [self.one(URNS) for _ in range(self.one([0, 1, 1, 1, 2, 3]))]
        yes = lambda: self.maybe(0.9, self.one(["--yes", "-y"]))
        choices = [
            lambda: ["state", self.one(["rm", "remove", "delete"]), *urns(), *self.some(["--force", "--target-dependents", "--all"], 2), *yes()],
            lambda: ["state", self.one(["protect", "unprotect", "untaint"]), *urns(), *self.maybe(0.2, "--all"), *yes()],
            lambda: ["state", "taint", *urns(), *yes()],
            lambda: ["state", "rename", *self.maybe(0.95, self.one(URNS)), *self.maybe(0.95, self.one(["new", "a", "b", "x y", "", "a::b"])), *yes()],
            lambda: ["state", self.one(["move", "mv"]), *urns(), "--yes", *self.maybe(0.9, "--dest", self.one(STACKS)),
                     *self.maybe(0.2, "--source", self.one(STACKS)), *self.maybe(0.2, "--include-parents")],
            lambda: [["stack", "init", "two", "--no-select"],
                     ["state", "move", self.one([A, B, C, KID]), *self.maybe(0.4, self.one([A, B, C, KID])), "--yes", "--dest", "two"]],
            lambda: ["state", "repair", "--yes"],
            lambda: ["state", "get", *self.maybe(0.95, self.one([*URNS, "b", "kid", "default_1_0_0", "lab-dev"])), *self.maybe(0.2, "--show-secrets"),
                     *self.one([[], [], ["--output", "json"], ["--output", "x"]])],
            lambda: ["state", "edit"],
            lambda: ["state", "upgrade", *yes()],
            lambda: ["state", self.one(["nonsense", "delte"])],
        ]
        made = self.one(choices)()
        return made if isinstance(made[0], list) or "--source" in made or "move" in made[:2] or "mv" in made[:2] else [*made, *self.stack_flag(0.1)]

    def files(self):
        choices = [
            lambda: write("Pulumi.dev.yaml", SETTINGS[self.one(list(SETTINGS))]),
            lambda: write("Pulumi.dev.yaml", SETTINGS[self.one(["good", "comment"])]),
            lambda: write("Pulumi.yaml", PROJECTS[self.one(list(PROJECTS))]),
            lambda: write("Pulumi.yaml", PROJECTS[self.one([name for name in PROJECTS if name.startswith("bad")])]),
            lambda: {"delete": self.one(["Pulumi.yaml", "Pulumi.dev.yaml"])},
            lambda: write("Pulumi.yaml", PROJECTS[self.one(["options", "optionschanged", "guarded", "failing", "refused", "changed"])]),
            lambda: {"cloud": f"Thing__{self.one(['a', 'b', 'kid', 'c'])}-1.json", "data": self.one([None, None, {"value": "drifted"}, {"tags": {"k": 1}}])},
        ]
        return [self.one(choices)(), self.one([self.config, self.stack, self.operation])()] if self.random.random() < 0.7 else [self.one(choices)()]

    def bring_state(self):
        name = self.one(list(STATES))
        command = ["stack", "import", *self.maybe(0.95, "--file", self.one([name] * 9 + ["no-such.json"])), *self.maybe(0.3, "--force"),
                   *self.stack_flag(0.1), *self.maybe(0.05, "extra")]
        after = [["state", "repair", "--yes"]] if self.random.random() < 0.3 else []
        return [write(name, STATES[name]), command, *after]

    def operation(self):
        verb = self.one(["preview", "up", "up", "refresh", "destroy"])
        words = [verb, *self.shown()]
        if verb != "preview":
            words += self.maybe(0.85, "--yes")
            words += self.maybe(0.1, "--preview-only")
        words += self.chosen(verb) + self.special(verb)
        return [*words, *self.stack_flag(0.1), *self.maybe(0.05, "-m", "a message"), *self.maybe(0.03, "--nonsense")]

    def shown(self):
        """Flags of all operations that say how, and what is shown."""
        words = self.some(["--skip-preview", "--diff", "--suppress-outputs", "--show-sames", "--refresh", "--suppress-progress",
                           "--expect-no-changes", "--show-config", "--show-full-output", "--json", "--output=json", "--show-reads",
                           "--show-replacement-steps", "--show-secrets", "--suppress-permalink", "--continue-on-error", "--non-interactive",
                           "--refresh=false", "--color=never", "--emoji", "--fully-qualify-stack-names", "--urns", "--diff=false", "--json=false",
                           "--suppress-permalink=true", "--show-policy-remediations", "--skip-plugin-pre-install",
                           "--skip-config-validation", "--disable-integrity-checking", "--show-sames=false", "-r"], 2)
        return [*words, *self.maybe(0.1, self.one(["-p", "--parallel"]), self.one(["1", "4", "0", "-1", "x"])),
                *self.maybe(0.04, "--color", self.one(["always", "raw", "auto", "pink"])),
                *self.maybe(0.04, "--config-file", self.one(["Pulumi.x.yaml", "no/x.yaml"])),
                *self.maybe(0.04, self.one(["-C", "--cwd"]), self.one([".", "no", "Pulumi.yaml"]))]

    def chosen(self, verb):
        """Flags about some resources."""
        words = self.maybe(0.15, self.one(["--target", "-t"]), self.one([*URNS, "**", "**::b", "urn:pulumi:dev::lab::*"]))
        words += self.maybe(0.1, "--exclude", self.one([*URNS, "**::a"]))
        words += self.maybe(0.07, "--target-dependents") + self.maybe(0.07, "--exclude-dependents")
        if verb in ("up", "preview"):
            words += self.maybe(0.1, "--replace", self.one([A, B, "x", "**"])) + self.maybe(0.06, "--target-replace", self.one([A, B, "x"]))
        return words

    def special(self, verb):
        """Flags of one operation, and some that another has."""
        words = []
        if verb == "destroy":
            words += self.maybe(0.2, "--exclude-protected") + self.maybe(0.2, "--remove") + self.maybe(0.1, "--run-program")
        if verb == "refresh":
            words += self.maybe(0.15, self.one(["--clear-pending-creates", "--skip-pending-creates"])) + self.maybe(0.1, "--run-program")
            words += self.maybe(0.1, "--import-pending-creates", self.one([A + ",a-9", A, "x,y", ""]))
        if verb in ("up", "preview"):
            words += self.maybe(0.1, "-c", self.one(["size=5", "size", "lab:k=v", "=", "a:b:c=d"])) + self.maybe(0.05, "--config-path")
            words += self.maybe(0.06, "--policy-pack", self.one(["no", "."])) + self.maybe(0.04, "--policy-pack-config", "no.json")
            words += self.maybe(0.05, "--secrets-provider", self.one(["passphrase", "nonsense"]))
        if verb == "preview":
            words += self.maybe(0.1, "--import-file", self.one(["made.json", "no/made.json"])) + self.maybe(0.1, "--save-plan", "plan.json")
        if verb == "up":
            words += self.maybe(0.08, "--plan", self.one(["plan.json", "no.json"])) + self.maybe(0.03, "--strict")
        return [*words, *self.maybe(0.03, self.one(["--remove", "--plan=x", "--run-program", "--clear-pending-creates"])),
                *self.maybe(0.03, self.one(["extra", "https://example.invalid/x"]))]

    def bring_resource(self):
        if self.random.random() < 0.5:
            name = self.one(list(IMPORTS))
            return [write(name, IMPORTS[name]), ["import", self.one(["--file", "-f"]), self.one([name] * 9 + ["no.json"]), *self.maybe(0.9, "--yes"),
                                                 *self.maybe(0.3, "--generate-code=false"), *self.adopted()]]
        words = self.one([["lab:index:Thing", "n", "n-1"], ["lab:index:Thing", "n"], ["Thing", "n", "x"], [], ["a", "b", "c", "d"],
                          ["lab:index:Thing", "a", "n-1"], ["lab:index:Thing", "n", "missing"], ["lab:index:Nothing", "n", "n-1"],
                          ["nowhere:index:Thing", "n", "n-1"], ["lab:index:Thing", "x y", "n-1"], ["", "n", "n-1"], ["lab:index:Thing", "n", ""]])
        return ["import", *words, *self.maybe(0.9, "--yes"), *self.maybe(0.2, "--parent", self.one([f"p={ROOT}", f"p={A}", "p=x", "x", "=", "p="])),
                *self.maybe(0.15, "--provider", self.one([f"p={PROVIDER}", "p", "p=x"])), *self.adopted()]

    def adopted(self):
        """Flags of `import`."""
        words = self.some(["--protect=false", "--preview-only", "--skip-preview", "--diff", "--suppress-outputs", "--json", "--output=json",
                           "--suppress-progress", "--generate-resources=made.json"], 2)
        return [*words, *self.maybe(0.2, "--out", self.one(["code.yaml", "no/code.yaml"])),
                *self.maybe(0.15, "--properties", self.one(["value", "value,nothing", ""])), *self.maybe(0.04, "--from", self.one(["lab", "nowhere"])),
                *self.stack_flag(0.06), *self.maybe(0.04, "-p", self.one(["2", "x"]))]

    def around(self):
        choices = [
            lambda: ["whoami", *self.some(["-v", "--json", "--output=json", "--output=x", "extra"], 2)],
            lambda: ["project", self.one(["ls", "list"]), *self.json_flags(), *self.maybe(0.1, "extra")],
            lambda: ["cancel", *self.maybe(0.8, "--yes"), *self.maybe(0.5, self.one(STACKS))],
            lambda: ["logout", *self.maybe(0.3, self.one(["--all", "file://~", "x"]))],
            lambda: ["login", *self.maybe(0.5, self.one(["--local", "nonsense", "file:///no/such"]))],
            lambda: self.one([["version"], ["nonsense"], ["help", "nonsense"], ["console"], ["project"], ["config", "env"], ["state"]]),
            lambda: ["org", self.one(["get-default", "set-default", "nonsense"]), *self.maybe(0.4, self.one(["acme", "--json"]))],
            lambda: ["plugin", "ls", *self.json_flags(), *self.maybe(0.2, "--project")],
            lambda: ["plugin", self.one(["rm", "remove"]), *self.maybe(0.9, self.one(["resource", "language", "x"])),
                     *self.maybe(0.6, self.one(["lab", "nothing"])), *self.maybe(0.4, self.one(["1.0.0", ">=0.5.0", "2.0.0", "x.y"])),
                     *self.maybe(0.2, "--all"), "--yes"],
            lambda: ["plugin", self.one(["run", "install"]), *self.some(["x", "--nonsense"], 2)],
            lambda: ["schema", "check", self.one(["Pulumi.yaml", "no", "lab"])],
            lambda: ["package", "get-schema", *self.maybe(0.3, "--nonsense"), *self.maybe(0.2, self.one(["Pulumi.yaml", "no.json"]))],
            lambda: ["logs", *self.maybe(0.3, "--json")],
            lambda: ["policy", self.one(["ls", "x", "publish", "enable", "validate-config"]), *self.some(["a", "latest"], 2)],
            lambda: ["about", *self.maybe(0.3, self.one(["extra", "--nonsense", "--output=x"]))],
            lambda: self.one([["stac", "ls"], ["conf", "set", "a", "b"], ["up", "-Z"], ["stack", "-x"], ["config", "get", "--show-secrets", "x"],
                              ["stack", "output", "--show-urns"], ["up", "--yes=maybe"], ["up", "--target"], ["preview", "--parallel"],
                              ["config", "set", "--secret=x", "a", "b"], ["stack", "ls", "--all=7"], ["up", "-yf"], ["up", "--yes", "--output", "x"],
                              ["preview", "--output", "x"], ["refresh", "--yes", "--output=x"], ["destroy", "--yes", "--output", "x"]]),
        ]
        return self.one(choices)()
