#!/usr/bin/env python3
"""What else can be written for Node.js: dynamic resources, component providers, providers and policy packs.

    tests/e2e/node_plugins.py --bin target/debug/plumb --sdk .cache/node/pulumi-3.248.0-policy \
        --python .cache/venvs/pulumi-3.259/bin/python

The SDK needs the package `@pulumi/policy` beside it. Only the standard library is used here.
"""

import json
import shutil

from node_world import STACK, Failed, expect, expect_in, main

# ---------------------------------------------------------------------------------------------------- dynamic resources

DYNAMIC = '''
const fs = require("fs");

const counters = {
    async configure(req) { this.prefix = req.config.require("prefix"); this.hidden = req.config.get("hidden"); },
    async check(olds, news) {
        const failures = news.kind === "bad" ? [{ property: "kind", reason: "nobody wants it" }] : [];
        return { inputs: { ...news, checked: true }, failures };
    },
    async diff(id, olds, news) {
        return { changes: olds.n !== news.n || olds.kind !== news.kind, replaces: olds.kind !== news.kind ? ["kind"] : [],
                 stables: ["label"], deleteBeforeReplace: true };
    },
    async create(inputs) {
        if (inputs.kind === "broken") { throw new Error("it cannot be made"); }
        console.log("making", inputs.n);
        require("fs").appendFileSync(inputs.log, `create ${inputs.n}\\n`);
        return { id: `${this.prefix}-${inputs.n}`, outs: { ...inputs, label: `${this.prefix} ${this.hidden}`, pid: 1 } };
    },
    async update(id, olds, news) {
        require("fs").appendFileSync(news.log, `update ${olds.n} ${news.n}\\n`);
        return { outs: { ...news, label: "updated" } };
    },
    async read(id, props) { return { id, props: { ...props, label: "read" } }; },
    async delete(id, props) { require("fs").appendFileSync(props.log, `delete ${id}\\n`); },
};

class Counter extends pulumi.dynamic.Resource {
    constructor(name, props, opts) { super(counters, name, { label: undefined, ...props }, opts, "mine", "Counter"); }
}
'''


def dynamic_program(world, text):
    world.program(DYNAMIC + f"const log = {json.dumps(str(world.root / 'dynamic'))};\n" + text)


def dynamic_calls(world):
    path = world.root / "dynamic"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def dynamic_resources(world):
    """Their code is in the state: made, updated, replaced, read and deleted with the settings of the stack."""
    world.config("prefix", "counter")
    world.config("hidden", "hush", "--secret")
    dynamic_program(world, 'const c = new Counter("c", { n: 1, kind: "a", log }); exports.label = c.label; exports.id = c.id;')
    expect_in(world.preview(), "pulumi-nodejs:dynamic/mine:Counter", "+ 2 to create")
    expect("calls in a preview", dynamic_calls(world), [])
    expect_in(world.up(), "making 1", "+ 2 created")
    expect("outputs", world.outputs(), {"label": "counter hush", "id": "counter-1"})
    expect("calls", dynamic_calls(world), ["create 1"])
    resource = world.state()["c"]
    expect("type", resource["type"], "pulumi-nodejs:dynamic/mine:Counter")
    expect("checked", resource["inputs"]["checked"], True)
    expect_in(world.up(), "2 unchanged")

    dynamic_program(world, 'exports.label = new Counter("c", { n: 2, kind: "a", log }).label;')
    expect_in(world.up(), "~ 1 updated")
    expect("outputs", world.outputs(), {"label": "updated"})
    expect("calls", dynamic_calls(world), ["update 1 2"])

    dynamic_program(world, 'new Counter("c", { n: 3, kind: "b", log });')
    expect_in(world.up(), "+-1 replaced")
    expect("calls", dynamic_calls(world), ["delete counter-1", "create 3"])

    world.plumb("refresh", "--stack", STACK, "--yes", "--skip-preview")
    expect("what was read", world.state()["c"]["outputs"]["label"], "read")

    dynamic_program(world, 'new Counter("c", { n: 3, kind: "bad", log });')
    expect_in(world.up(code=1), "nobody wants it")
    dynamic_program(world, 'new Counter("c", { n: 3, kind: "b", log }); new Counter("d", { n: 4, kind: "broken", log });')
    expect_in(world.up(code=1), "it cannot be made")
    expect("what there is", world.names(), ["c"])

    world.plumb("destroy", "--stack", STACK, "--yes", "--skip-preview")
    expect("calls", dynamic_calls(world), ["delete counter-3"])
    expect("what is left", world.names(), [])


def dynamic_secrets(world):
    """Secret inputs reach the code in the clear, and the state and the outputs as secrets."""
    world.config("prefix", "counter")
    world.config("hidden", "hush", "--secret")
    dynamic_program(world, '''
        const c = new Counter("c", { n: 1, kind: pulumi.secret("hunter2"), log });
        exports.kind = c.getProvider ? "" : c.urn.apply(() => "made");
    ''')
    output = world.up()
    state = json.dumps(world.state())
    for place in (output, state):
        if "hunter2" in place:
            raise Failed(f"the secret is in:\n{place}")
    shown = world.state("--show-secrets")["c"]
    expect_in(json.dumps(shown), "hunter2")


def dynamic_after_a_move(world):
    """What was made lives on in another folder: the code is in the state, the SDK in the folder's own modules."""
    world.config("prefix", "counter")
    dynamic_program(world, 'new Counter("c", { n: 1, kind: "a", log });')
    world.up()
    moved = world.root / "moved"
    shutil.move(world.project, moved)
    world.project = moved
    dynamic_program(world, 'new Counter("c", { n: 2, kind: "a", log });')
    expect_in(world.up(), "~ 1 updated")
    world.plumb("destroy", "--stack", STACK, "--yes", "--skip-preview")
    expect("calls", dynamic_calls(world), ["create 1", "update 1 2", "delete counter-1"])


def dynamic_without_the_sdk(world):
    """Without the SDK the error says what to install, and nothing is lost."""
    world.config("prefix", "counter")
    dynamic_program(world, 'new Counter("c", { n: 1, kind: "a", log });')
    world.up()
    (world.project / "node_modules").unlink()
    output = world.plumb("destroy", "--stack", STACK, "--yes", "--skip-preview", code=1)
    expect_in(output, "pulumi-nodejs", "the Pulumi SDK has not been installed. Have you run `plumb install`?")
    expect("what there is", world.names(), ["c"])


# ---------------------------------------------------------------------------------------------------- components

COMPONENT = '''
import * as pulumi from "@pulumi/pulumi";

export interface PairArgs {
    /** How long. */
    length: pulumi.Input<number>;
    secret?: pulumi.Input<string>;
}

export class Pair extends pulumi.ComponentResource {
    public readonly doubled: pulumi.Output<number>;
    public readonly said: pulumi.Output<string>;
    constructor(name: string, args: PairArgs, opts?: pulumi.ComponentResourceOptions) {
        super("pairs:index:Pair", name, args, opts);
        const length = pulumi.output(args.length);
        new pulumi.Stash(`${name}-stash`, { input: length }, { parent: this });
        this.doubled = length.apply(it => { if (it < 0) { throw new Error("too short"); } return it * 2; });
        this.said = pulumi.output(args.secret ?? "nothing");
        this.registerOutputs({ doubled: this.doubled, said: this.said });
    }
}
'''


def component_sources(world):
    folder = world.root / "pairs"
    world.link_modules(folder)
    (folder / "PulumiPlugin.yaml").write_text("runtime: nodejs\n")
    (folder / "package.json").write_text('{"name": "pairs", "main": "index.ts"}')
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": {"strict": True, "target": "es2020",
                                                      "module": "commonjs", "moduleResolution": "node"}}))
    (folder / "index.ts").write_text(COMPONENT)
    return folder


def component_provider(world):
    """Classes of components in a folder are a provider: used from YAML and from a program, with secrets and errors."""
    folder = component_sources(world)
    plugins = f"plugins:\n  providers:\n    - name: pairs\n      path: {folder}\n"
    yaml = ("name: prog\nruntime: yaml\n" + plugins + "resources:\n  pair:\n    type: pairs:index:Pair\n    properties:\n"
            "      length: 4\n      secret:\n        fn::secret: hush\noutputs:\n  doubled: ${pair.doubled}\n"
            "  said: ${pair.said}\n")
    world.file("Pulumi.yaml", yaml)
    expect_in(world.preview(), "pairs:index:Pair")
    world.up()
    expect("outputs", world.outputs(), {"doubled": 8, "said": "[secret]"})
    state = world.state()
    expect("the child", (state["pair-stash"]["parent"], state["pair-stash"]["inputs"]), (state["pair"]["urn"], {"input": 4}))

    world.file("Pulumi.yaml", "name: prog\nruntime: nodejs\n" + plugins)
    program = '''
        class Pair extends pulumi.ComponentResource {
            constructor(name, args, opts) {
                super("pairs:index:Pair", name, { doubled: undefined, said: undefined, ...args }, opts, true);
            }
        }
        const pair = new Pair("pair", { length: LENGTH });
        exports.doubled = pair.doubled; exports.said = pair.said;
    '''
    world.program(program.replace("LENGTH", "5"))
    world.up()
    expect("outputs", world.outputs(), {"doubled": 10, "said": "nothing"})
    world.program(program.replace("LENGTH", "-1"))
    expect_in(world.up(code=1), "too short")

    virtualenv = world.python.parent.parent
    world.file("Pulumi.yaml", f"name: prog\nruntime:\n  name: python\n  options:\n    virtualenv: {virtualenv}\n" + plugins)
    world.file("__main__.py", '''
import pulumi

pair = pulumi.ComponentResource("pairs:index:Pair", "pair", {"length": 6, "secret": pulumi.Output.secret("hush")}, None, True)
pulumi.export("urn", pair.urn)
''')
    world.up()
    expect("the child", world.state()["pair-stash"]["inputs"], {"input": 6})


def component_provider_that_is_broken(world):
    """What is wrong with a provider's sources is shown."""
    folder = component_sources(world)
    (folder / "index.ts").write_text("const broken: number = 'text';\n" + COMPONENT)
    world.file("Pulumi.yaml", f"name: prog\nruntime: yaml\nplugins:\n  providers:\n    - name: pairs\n      path: {folder}\n"
                              "resources:\n  pair:\n    type: pairs:index:Pair\n    properties:\n      length: 4\n")
    expect_in(world.up(code=1), "Type 'string' is not assignable to type 'number'")
    (folder / "index.ts").write_text(COMPONENT)
    (folder / "node_modules").unlink()
    expect_in(world.up(code=1), "the Pulumi SDK has not been installed")


# ---------------------------------------------------------------------------------------------------- providers

PROVIDER = '''
const pulumi = require("@pulumi/pulumi");

class Provider {
    constructor() {
        this.version = "1.2.3";
        this.schema = JSON.stringify({ name: "words", version: "1.2.3", resources: {
            "words:index:Word": { inputProperties: { text: { type: "string" } }, requiredInputs: ["text"],
                                  properties: { text: { type: "string" }, length: { type: "integer" } } } } });
    }
    async check(urn, olds, news) {
        return { inputs: news, failures: news.text === "" ? [{ property: "text", reason: "say something" }] : [] };
    }
    async diff(id, urn, olds, news) { return { changes: olds.text !== news.text }; }
    async create(urn, inputs) { return { id: `word-${inputs.text}`, outs: { ...inputs, length: inputs.text.length } }; }
    async update(id, urn, olds, news) { return { outs: { ...news, length: news.text.length } }; }
    async delete(id, urn, props) {}
}
module.exports = () => pulumi.provider.main(new Provider(), process.argv.slice(2));
'''


def provider_sources(world):
    folder = world.root / "words"
    world.link_modules(folder)
    (folder / "PulumiPlugin.yaml").write_text("runtime: nodejs\n")
    (folder / "package.json").write_text('{"name": "words", "main": "index.js"}')
    (folder / "index.js").write_text(PROVIDER)
    return folder


def provider(world):
    """A provider on the SDK's own server, from its sources."""
    folder = provider_sources(world)
    text = (f"name: prog\nruntime: yaml\nplugins:\n  providers:\n    - name: words\n      path: {folder}\nresources:\n"
            "  word:\n    type: words:Word\n    properties:\n      text: TEXT\noutputs:\n  length: ${word.length}\n")
    world.file("Pulumi.yaml", text.replace("TEXT", "hello"))
    world.up()
    expect("outputs", world.outputs(), {"length": 5})
    world.file("Pulumi.yaml", text.replace("TEXT", "goodbye"))
    expect_in(world.up(), "~ 1 updated")
    expect("outputs", world.outputs(), {"length": 7})
    world.file("Pulumi.yaml", text.replace("TEXT", '""'))
    expect_in(world.up(code=1), "say something")
    world.plumb("destroy", "--stack", STACK, "--yes", "--skip-preview")
    expect("what is left", world.names(), [])


def packages_from_folders(world):
    """A project's package comes from a folder, and has a package from another one: `install` makes the SDKs of both, and
    runs find the plugins of both."""
    words, pairs = provider_sources(world), component_sources(world)
    child = 'new (class extends pulumi.CustomResource {})("words:index:Word", `${name}-word`, { text: "hello" }, { parent: this });'
    (pairs / "index.ts").write_text(COMPONENT.replace("new pulumi.Stash(", child + "\n        new pulumi.Stash("))
    (pairs / "PulumiPlugin.yaml").write_text(f"runtime: nodejs\npackages:\n  words: ../{words.name}\n")
    # Folders may be followed by a version.
    world.file("Pulumi.yaml", "name: prog\nruntime: yaml\npackages:\n  pairs: ../pairs@0.0.0\nresources:\n  pair:\n"
                              "    type: pairs:index:Pair\n    properties:\n      length: 4\noutputs:\n  doubled: ${pair.doubled}\n")
    world.plumb("install", "--no-dependencies")
    expect("the SDK", json.loads((pairs / "sdks/words/package.json").read_text())["pulumi"]["name"], "words")
    expect_in(json.loads((pairs / "package.json").read_text())["dependencies"]["@pulumi/words"], "sdks/words")
    world.up()
    expect("outputs", world.outputs(), {"doubled": 8})
    expect("the child", sorted(it for it in world.names() if it.startswith("pair")), ["pair", "pair-stash", "pair-word"])


# ---------------------------------------------------------------------------------------------------- policy packs

PACK = '''
const fs = require("fs");
const pulumi = require("@pulumi/pulumi");
const policy = require("@pulumi/policy");

const note = entry => fs.appendFileSync(process.env.POLICY_LOG, JSON.stringify(entry) + "\\n");
note({ project: pulumi.getProject(), stack: pulumi.getStack(), preview: pulumi.runtime.isDryRun(),
       size: new pulumi.Config("prog").get("size") || null });

new policy.PolicyPack("house", { policies: [
    { name: "owner", description: "Everything has an owner.", enforcementLevel: "remediate",
      remediateResource: args => args.type === "lab:index:Thing" && args.props.other === undefined
          ? { ...args.props, other: "house" } : undefined,
      validateResource: (args, report) => { if (args.type === "lab:index:Thing" && !args.props.other) { report("no owner"); } } },
    { name: "style", description: "Names are nice.", enforcementLevel: "advisory",
      validateResource: (args, report) => { if (args.name === "ugly") { report("What a name"); } } },
    { name: "forbidden", description: "Nothing is forbidden.", enforcementLevel: "mandatory",
      configSchema: { properties: { word: { type: "string", default: "evil" } } },
      validateResource: (args, report) => { if (args.props.value === args.getConfig().word) { report("it is forbidden"); } } },
    { name: "few", description: "There are few.", enforcementLevel: "mandatory",
      validateStack: (args, report) => {
          const things = args.resources.filter(it => it.type === "lab:index:Thing");
          note({ things: things.map(it => it.name).sort() });
          if (things.length > 2) { report(`${things.length} are too many`); }
      } },
] });
'''


def policy_pack(world):
    """A pack knows the stack when it starts; it advises, forbids, remediates, and judges the whole."""
    log = world.root / "policies.jsonl"
    world.environment["POLICY_LOG"] = str(log)
    folder = world.root / "pack"
    world.link_modules(folder)
    (folder / "PulumiPolicy.yaml").write_text("runtime: nodejs\nversion: 0.1.0\n")
    (folder / "package.json").write_text('{"name": "house", "version": "0.1.0", "main": "index.js"}')
    (folder / "index.js").write_text(PACK)
    world.config("size", "3")

    def up(program, *words, **more):
        world.program(program)
        return world.up("--policy-pack", str(folder), *words, **more)

    output = up('new lab.Thing("a", { value: 1 }); new lab.Thing("ugly", { value: 1, other: "me" });')
    expect_in(output, "house@v0.1.0", "[advisory]  style  (lab:index:Thing: ugly)", "What a name", "[remediate]  owner")
    expect("what was remediated", world.state()["a"]["inputs"]["other"], "house")
    started, whole = map(json.loads, log.read_text().splitlines())
    expect("what the pack knows", started, {"project": "prog", "stack": STACK, "preview": False, "size": "3"})
    expect("what it is told of", whole, {"things": ["a", "ugly"]})

    output = up('new lab.Thing("a", { value: 1, other: "me" }); new lab.Thing("b", { value: "evil", other: "me" });', code=1)
    expect_in(output, "[mandatory]  forbidden  (lab:index:Thing: b)", "it is forbidden")
    if "b" in world.names():
        raise Failed("what is forbidden was made")
    things = " ".join(f'new lab.Thing("{name}", {{ value: 1, other: "me" }});' for name in "abc")
    expect_in(up(things, code=1), "[mandatory]  few", "3 are too many")
    settings = world.file("settings.json", {"few": "disabled", "forbidden": {"word": "good"}})
    up(things, "--policy-pack-config", str(settings))
    output = up('new lab.Thing("a", { value: "good", other: "me" });', "--policy-pack-config", str(settings), code=1)
    expect_in(output, "it is forbidden")

    (folder / "index.js").write_text("throw new Error('it broke');")
    expect_in(up("", code=1), 'failed to start', "it broke")
    (folder / "node_modules").unlink()
    expect_in(up("", code=1), "the Pulumi SDK has not been installed")


STORIES = (
    dynamic_resources, dynamic_secrets, dynamic_after_a_move, dynamic_without_the_sdk, component_provider,
    component_provider_that_is_broken, provider, packages_from_folders, policy_pack,
)

if __name__ == "__main__":
    main("Run plugins written for Node.js.", STORIES)
