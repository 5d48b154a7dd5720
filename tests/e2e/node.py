#!/usr/bin/env python3
"""Programs in JavaScript and TypeScript with the published SDK, through the built binary and a provider plugin.

    tests/e2e/node.py --bin target/debug/plumb --sdk .cache/node/pulumi-3.248.0 --tools .cache/node/tools/node_modules/.bin \
        --python .cache/venvs/pulumi-3.259/bin/python

Each story is a small program, or a few of them. Only the standard library is used here.
"""

import json
import subprocess
import time

from node_world import STACK, Failed, expect, expect_in, interrupt_when, main

# ---------------------------------------------------------------------------------------------------- kinds of programs


def commonjs(world):
    """Exports are outputs; a function is called, and its promise awaited."""
    world.program('''
        new lab.Thing("a", { value: 1 });
        exports.one = 1; exports.text = pulumi.interpolate`${pulumi.getProject()}-${pulumi.getStack()}`;
        exports.nothing = null; exports.missing = undefined;
    ''')
    output = world.up()
    expect_in(output, "Undefined value (missing) will not show as a stack output.", "+ 2 created")
    expect("outputs", world.outputs(), {"one": 1, "text": "prog-dev", "nothing": None})
    world.program('module.exports = async () => ({ id: new lab.Thing("a", { value: 1 }).id, two: await Promise.resolve(2) });')
    expect_in(world.up(), "2 unchanged")
    expect("outputs", world.outputs(), {"id": "a-1", "two": 2})
    expect_in(world.plumb("destroy", "--stack", STACK, "--yes"), "- 2 deleted")
    expect("what is left", world.names(), [])


def modules(world):
    """ES modules: imports, await at the top, named exports or a default one."""
    world.file("package.json", {"name": "prog", "type": "module"})
    world.file("lab.cjs", (world.project / "lab.js").read_text())
    (world.project / "lab.js").unlink()
    head = 'import * as pulumi from "@pulumi/pulumi"; import lab from "./lab.cjs";\n'
    world.file("index.js", head + '''
        const words = await Promise.resolve(["x", "y"]);
        export const ids = words.map(word => new lab.Thing(word, { value: word }).id);
    ''')
    world.up()
    expect("outputs", world.outputs(), {"ids": ["x-1", "y-1"]})
    world.file("index.js", head + 'export default async () => ({ stack: pulumi.getStack() });\n')
    world.up()
    expect("outputs", world.outputs(), {"stack": "dev"})


TYPESCRIPT = '''
import * as pulumi from "@pulumi/pulumi";
interface Named { name: string }
const named: Named = { name: pulumi.getStack() };
enum Colour { Red = "red" }
export const name: string = named.name;
export const colour = Colour.Red;
'''


def typescript(world):
    """TypeScript is compiled by ts-node, as a script and as an ES module, and what is wrong with it is shown."""
    world.file("package.json", {"name": "prog", "main": "index.ts"})
    world.file("tsconfig.json", {"compilerOptions": {"strict": True, "target": "es2020", "module": "commonjs",
                                                     "moduleResolution": "node"}})
    world.program(TYPESCRIPT, "index.ts")
    world.up()
    expect("outputs", world.outputs(), {"name": "dev", "colour": "red"})
    world.program(TYPESCRIPT.replace(": string = named", ": number = named"), "index.ts")
    output = world.up(code=1)
    expect_in(output, "index.ts(6,14): error TS2322", "Type 'string' is not assignable to type 'number'")
    world.file("package.json", {"name": "prog", "type": "module"})
    (world.project / "tsconfig.json").unlink()
    world.program(TYPESCRIPT + "await Promise.resolve();\n", "index.ts")
    world.up()
    expect("outputs", world.outputs(), {"name": "dev", "colour": "red"})


def stack_traces(world):
    """Errors of compiled programs name the lines that were written."""
    world.file("package.json", {"name": "prog", "main": "index.ts"})
    world.program('interface A {\n  a: string;\n}\n\nfunction inner(a: A): void {\n  throw new Error("broken " + a.a);\n}\n'
                  'inner({ a: "x" });\n', "index.ts")
    output = world.up(code=1)
    expect_in(output, "Error: broken x", "index.ts:6:9", "index.ts:8:1")
    expect("lines of the host", "first.js" in output, False)


def loaded_later(world):
    """What few programs need is not loaded before it is used, and works then."""
    world.file("package.json", {"name": "prog", "main": "index.js", "dependencies": {"semver": "*"}})
    world.program('''
        const has = () => Object.keys(require.cache).some((file) => /^[/].*arborist/.test(file));
        module.exports = async () => {
            const before = has();
            const paths = await pulumi.runtime.computeCodePaths();
            const found = [...paths.keys()].some((path) => path.endsWith("node_modules/semver"));
            return { before, found, after: has() };
        };
    ''')
    world.up()
    sdk = world.sdk / "node_modules" / "@pulumi" / "pulumi"
    # Newer SDKs look for packages without it.
    uses_arborist = "arborist" in (sdk / "runtime" / "closure" / "codePaths.js").read_text()
    expect("outputs", world.outputs(), {"before": False, "found": True, "after": uses_arborist})
    # What the SDK follows its calls with is used by engines that ask for it.
    code = '''
        const tracing = require(process.argv[1] + "/cmd/run/tracing.js");
        const has = () => Object.keys(require.cache).some((file) => /^[/].*exporter-zipkin/.test(file));
        const before = has();
        tracing.start("http://127.0.0.1:9/spans");
        console.log(JSON.stringify([before, has(), tracing.newSpan("a").isRecording()]));
        process.exit(0);
    '''
    first = world.root / "home" / "plumb" / "nodejs" / "first.js"
    done = subprocess.run(["node", "-r", str(first), "-e", code, str(sdk)], capture_output=True, text=True, check=False)
    expect("tracing", done.stdout.strip(), "[false,true,true]")


def main_of_the_project(world):
    """`main` names a folder or a file."""
    world.program('exports.where = require("path").basename(process.cwd()); exports.root = pulumi.getRootDirectory ? '
                  'require("path").basename(pulumi.getRootDirectory()) : "project";', "infra/index.js")
    world.file("infra/lab.js", "")
    for main in ("infra", "infra/", "infra/index.js", "./infra/"):
        world.file("Pulumi.yaml", f"name: prog\nruntime: nodejs\nmain: {main}\n")
        world.up()
        expect(f"outputs with main: {main}", world.outputs(), {"where": "infra", "root": "project"})
    world.file("Pulumi.yaml", "name: prog\nruntime: nodejs\n")
    world.file("package.json", {"name": "prog", "main": "lib/entry.js"})
    world.file("lib/entry.js", "exports.entry = 1;")
    world.up()
    expect("outputs with an entry in package.json", world.outputs(), {"entry": 1})


def options(world):
    """Runtime options of the project reach the interpreter; what makes no sense is refused."""
    world.file("Pulumi.yaml", "name: prog\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n"
                              "    nodeargs: --title=mine --stack-trace-limit=3\n")
    world.program("exports.title = process.title; exports.limit = Error.stackTraceLimit;")
    world.up()
    expect("outputs", world.outputs(), {"title": "mine", "limit": 3})
    for wrong, complaint in (("typescript: maybe", "`typescript`"), ("nodeargs: [a]", "`nodeargs`"),
                             ("packagemanager: bower", "npm, yarn, pnpm or bun")):
        world.file("Pulumi.yaml", f"name: prog\nruntime:\n  name: nodejs\n  options:\n    {wrong}\n")
        expect_in(world.up(code=1), complaint, "Pulumi.yaml")


# ---------------------------------------------------------------------------------------------------- what programs do


def components(world):
    """Children, aliases, and what depends on a component depends on its children."""
    program = '''
        class Pair extends pulumi.ComponentResource {
            constructor(name, opts) {
                super("prog:index:Pair", name, {}, opts);
                this.first = new lab.Thing(`${name}-first`, { value: 1 }, { parent: this });
                this.registerOutputs({ first: this.first.id });
            }
        }
        const pair = new Pair("pair");
        new lab.Thing("after", { value: 2 }, { dependsOn: pair });
    '''
    world.program(program)
    world.up()
    state = world.state()
    expect("the parent", state["pair-first"]["parent"], state["pair"]["urn"])
    expect("outputs", state["pair"]["outputs"], {"first": "pair-first-1"})
    expect("dependencies", state["after"]["dependencies"], [state["pair-first"]["urn"]])
    world.program(program.replace('new Pair("pair")', 'new Pair("twin", { aliases: [{ name: "pair" }] })'))
    expect_in(world.up(), "4 unchanged")
    expect("names", world.names(), ["after", "twin", "twin-first"])


def transforms(world):
    """Transforms of a resource, of a component and of the stack, in this order; those of invokes."""
    world.program('''
        const mark = word => args => ({ props: { ...args.props, tags: { ...args.props.tags, [word]: args.name } }, opts: args.opts });
        pulumi.runtime.registerResourceTransform(args => args.type === "lab:index:Thing" ? mark("stack")(args) : undefined);
        pulumi.runtime.registerInvokeTransform(args => ({ args: { ...args.args, value: "transformed" }, opts: args.opts }));
        const group = new pulumi.ComponentResource("prog:index:Group", "group", {}, { transforms: [mark("group")] });
        new lab.Thing("a", { value: 1 }, { parent: group, transforms: [async args => mark("own")(args)], protect: false });
        exports.echo = pulumi.runtime.invokeOutput("lab:index:echo", { value: "x" }).apply(it => it.value);
        pulumi.runtime.registerResourceTransform(args => ({ props: args.props, opts: { ...args.opts, protect: args.name === "b" } }));
        new lab.Thing("b", { value: 1 });
    ''')
    world.up()
    state = world.state()
    expect("tags", state["a"]["inputs"]["tags"], {"own": "a", "group": "a", "stack": "a"})
    expect("protection", (state["a"].get("protect", False), state["b"].get("protect")), (False, True))
    expect("outputs", world.outputs(), {"echo": "transformed"})
    world.program('''
        pulumi.runtime.registerResourceTransform(() => { throw new Error("no transform") });
        new lab.Thing("a", { value: 1 });
    ''')
    expect_in(world.up(code=1), "no transform")


HOOKS = '''
    const fs = require("fs");
    const noted = (name, fails) => async args => {
        fs.appendFileSync("hooks", `${name} ${args.name}\\n`);
        if (process.env.HOOK_FAILS === name) { throw new Error("Oh no"); }
    };
    const hook = (name, options) => new pulumi.ResourceHook(name, noted(name), options);
    const again = new pulumi.ErrorHook("again", async args => {
        fs.appendFileSync("hooks", `again ${args.failedOperation} ${args.errors.length}\\n`);
        return args.errors.length < 3;
    });
    const hooks = {
        beforeCreate: [hook("planned", { onDryRun: true }), hook("create")], afterCreate: [hook("created")],
        beforeUpdate: [hook("update")], afterUpdate: [hook("updated")],
        beforeDelete: [hook("delete")], afterDelete: [hook("deleted")], onError: [again],
    };
    if (process.env.VALUE) {
        new lab.Thing("a", { value: process.env.VALUE, failOn: JSON.parse(process.env.FAILS || "{}") }, { hooks });
    }
'''


def hooks(world):
    """Hooks see every step of their resource, and may stop it; error hooks have it made again."""
    def noted():
        path = world.project / "hooks"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    world.program(HOOKS)
    world.preview(VALUE="1")
    expect("in a preview", noted(), ["planned a"])
    output = world.up(code=1, VALUE="1", HOOK_FAILS="create")
    expect_in(output, 'before hook "create" failed', "Oh no")
    expect("after a failure", (noted(), world.names()), (["planned a", "create a"], []))
    world.up(VALUE="1", FAILS='{"create": {"message": "not yet", "times": 2}}')
    expect("of a creation", noted(), ["planned a", "create a", "again create 1", "again create 2", "created a"])
    world.up(VALUE="2")
    expect("of an update", noted(), ["update a", "updated a"])
    world.up()
    expect("of a deletion", (noted(), world.names()), (["delete a", "deleted a"], []))


def stack_references(world):
    """Outputs of another stack, with secrets as secrets, and the error for one that is not there."""
    world.program('exports.word = "w"; exports.hidden = pulumi.secret("h"); exports.list = [1, { a: 2 }];')
    world.up()
    world.plumb("stack", "init", "other", "--no-select")
    world.program('''
        const other = new pulumi.StackReference("organization/prog/dev");
        exports.word = other.getOutput("word"); exports.hidden = other.requireOutput("hidden");
        exports.list = other.getOutput("list"); exports.missing = other.getOutput("missing").apply(it => `${it}`);
        exports.details = other.getOutputDetails("hidden").then(it => it.secretValue !== undefined);
    ''')
    world.plumb("up", "--stack", "other", "--yes", "--skip-preview")
    found = json.loads(world.plumb("stack", "output", "--json", "--stack", "other"))
    expect("outputs", found, {"word": "w", "hidden": "[secret]", "list": [1, {"a": 2}], "missing": "undefined",
                              "details": True})
    world.program('new pulumi.StackReference("organization/prog/nowhere");')
    expect_in(world.plumb("up", "--stack", "other", "--yes", "--skip-preview", code=1), "nowhere")


def assets(world):
    """Assets and archives keep their hashes, and change with their content."""
    world.file("data.txt", "content")
    world.file("folder/inner.txt", "inner")
    world.program('''
        new lab.Thing("a", { source: new pulumi.asset.FileAsset("data.txt") });
        new lab.Thing("b", { source: new pulumi.asset.StringAsset("text") });
        new lab.Thing("c", { source: new pulumi.asset.AssetArchive({ one: new pulumi.asset.StringAsset("1"),
                                                                     all: new pulumi.asset.FileArchive("folder") }) });
    ''')
    world.up()
    hashes = {name: one["inputs"]["source"]["hash"] for name, one in world.state().items() if name in "abc"}
    expect("different hashes", len(set(hashes.values())), 3)
    expect_in(world.up(), "4 unchanged")
    world.file("data.txt", "changed")
    world.file("folder/inner.txt", "changed")
    expect_in(world.up(), "~ 2 updated", "2 unchanged")


def secrets(world):
    """Secrets stay secret on every way: settings, inputs, outputs, applies, logs of differences."""
    world.config("password", "hunter2", "--secret")
    world.program('''
        const password = new pulumi.Config().requireSecret("password");
        const a = new lab.Thing("a", { value: password, other: 1 }, { additionalSecretOutputs: ["serial"] });
        new lab.Thing("b", { value: password.apply(it => it.length), other: a.serial });
        exports.long = pulumi.interpolate`${password}!`; exports.plain = pulumi.unsecret(password).apply(it => it.length);
    ''')
    preview = world.preview("--diff")
    output = preview + world.up("--diff")
    state = json.dumps(world.state())
    for place in (output, state):
        if "hunter2" in place:
            raise Failed(f"the secret is in:\n{place}")
    expect("outputs", world.outputs(), {"long": "[secret]", "plain": 7})
    expect("outputs in the clear", world.outputs("--show-secrets")["long"], "hunter2!")
    for name, key in (("a", "value"), ("b", "value"), ("b", "other")):
        value = world.state()[name]["inputs"][key]
        if not isinstance(value, dict) or "ciphertext" not in value:
            raise Failed(f"{name}.{key} is not secret: {value!r}")


def unknowns(world):
    """In a preview, what a provider is yet to say is unknown, and what is computed from it is not computed."""
    world.program('''
        const a = new lab.Thing("a", { value: 1 });
        const seen = a.serial.apply(it => { console.log("computed", it); return it + 1; });
        new lab.Thing("b", { value: seen, tags: { known: "yes", id: a.id } });
        exports.seen = seen; exports.dry = pulumi.runtime.isDryRun();
    ''')
    output = world.preview()
    if "computed" in output:
        raise Failed(f"an unknown value was computed with:\n{output}")
    expect_in(world.up(), "computed 1")
    expect("outputs", world.outputs(), {"seen": 2, "dry": False})


def reading(world):
    """`get` reads what exists, and fails for what does not."""
    world.program('new lab.Thing("made", { value: 5 });')
    world.up()
    world.program('''
        new lab.Thing("made", { value: 5 });
        exports.value = lab.Thing.get("found", "made-1").value;
    ''')
    world.up()
    found = world.state()["found"]
    expect("what was read", (found["external"], found["id"], world.outputs()), (True, "made-1", {"value": 5}))
    world.program('new lab.Thing("made", { value: 5 }); lab.Thing.get("found", "nothing-1");')
    expect_in(world.up(code=1), "nothing-1")


def timeouts_and_other_options(world):
    """Options of resources arrive in the state."""
    world.program('''
        const a = new lab.Thing("a", { value: 1 }, { customTimeouts: { create: "5m", delete: "30s" }, retainOnDelete: true,
                                                     ignoreChanges: ["other"], version: "1.0.0" });
        new lab.Thing("b", { value: 1 }, { deletedWith: a, dependsOn: [a], replaceOnChanges: ["value"] });
    ''')
    world.up()
    state = world.state()
    expect("timeouts", state["a"]["customTimeouts"], {"create": 300, "delete": 30})
    expect("retained", (state["a"]["retainOnDelete"], state["a"]["ignoreChanges"]), (True, ["other"]))
    expect("deleted with", state["b"]["deletedWith"], state["a"]["urn"])
    expect_in(world.up(), "3 unchanged")


# ---------------------------------------------------------------------------------------------------- what programs say


def logs(world):
    """Messages of all levels, about a resource or the stack; debug messages only where they are asked for."""
    world.program('''
        const a = new lab.Thing("a", { value: 1 });
        pulumi.log.debug("whispered"); pulumi.log.info("said", a); pulumi.log.warn("warned");
        console.log("printed"); console.error("printed as an error"); pulumi.log.info("passing", a, 7, true);
    ''')
    output = world.up()
    expect_in(output, "said", "warning: warned", "printed", "printed as an error", "lab:index:Thing (a):")
    if "whispered" in output:
        raise Failed("debug messages are shown without being asked for")
    expect_in(world.up("--debug"), "debug: whispered")
    world.program('pulumi.log.error("it is broken"); new lab.Thing("a", { value: 1 });')
    # A logged error is shown; the run succeeds as long as the program does.
    expect_in(world.up(), "error: it is broken", "1 errored")


def long_lines(world):
    """A line of ten megabytes, printed and logged, and text that is no UTF-8."""
    world.program('''
        const long = "x".repeat(10_000_000);
        console.log(long); pulumi.log.info(long + "logged");
        process.stdout.write(Buffer.from([0x6f, 0x64, 0x64, 0xff, 0xfe, 0x0a]));
        exports.done = true;
    ''')
    output = world.up()
    expect("length of what was shown", len(output) > 20_000_000, True)
    expect_in(output, "xlogged", "odd\ufffd\ufffd")
    expect("outputs", world.outputs(), {"done": True})


# ---------------------------------------------------------------------------------------------------- what goes wrong


def failures(world):
    """Whatever kills a program is shown, fails the run, and deletes nothing."""
    world.program('new lab.Thing("a", { value: 1 });')
    world.up()
    for text, wanted in (
        ('throw new Error("thrown")', "Error: thrown"),
        ('new lab.Thing("b", { value: 1 }); throw new Error("after a registration")', "Error: after a registration"),
        ('Promise.reject(new Error("rejected"))', "Error: rejected"),
        ('pulumi.output(1).apply(() => { throw new Error("in an apply") })', "Error: in an apply"),
        ('new lab.Thing("b", { value: 1 }).id.apply(() => { throw new Error("in an apply") })', "Error: in an apply"),
        ('throw "a text"', "a text"),
        ('throw new pulumi.RunError("only this")', "error: only this"),
        ('throw new pulumi.ResourceError("about it", undefined, true)', "about it"),
        ('setTimeout(() => { throw new Error("later") }, 50)', "Error: later"),
        ('module.exports = async () => { throw new Error("in the function") }', "Error: in the function"),
        ('process.exit(3)', "Program exited with non-zero exit code: 3"),
        ('const = 1;', "SyntaxError"),
        ('require("./nowhere")', "Cannot find module './nowhere'"),
    ):
        world.program(text)
        started = time.monotonic()
        output = world.up(code=1)
        expect_in(output, wanted)
        if time.monotonic() - started > 20:
            raise Failed(f"{text}: it took {time.monotonic() - started:.0f} s to end")
        if "a" not in world.names():
            raise Failed(f"{text}: the resource is gone")


def missing_parts(world):
    """No entry point, no program, no SDK, no interpreter: each says what to do."""
    (world.project / "index.js").unlink(missing_ok=True)
    expect_in(world.up(code=1), "Could not find entry point 'index.js' specified in package.json", "Cannot find module")
    world.file("Pulumi.yaml", "name: prog\nruntime: nodejs\nmain: absent.js\n")
    expect_in(world.up(code=1), "no such file or directory", "absent.js")
    world.file("Pulumi.yaml", "name: prog\nruntime: nodejs\n")
    world.program("exports.a = 1;")
    (world.project / "node_modules").unlink()
    expect_in(world.up(code=1), "the Pulumi SDK has not been installed. Have you run `plumb install`?")
    expect_in(world.up(code=1, PATH="/nowhere"), "could not find `node` on the PATH; install Node.js")
    world.file("Pulumi.yaml", "name: prog\nruntime: bun\n")
    expect_in(world.up(code=1, PATH="/nowhere"), "could not find `bun` on the PATH; install Bun")


def out_of_memory(world):
    """A program that needs too much memory is told how to get more."""
    world.file("Pulumi.yaml", "name: prog\nruntime:\n  name: nodejs\n  options:\n    nodeargs: --max-old-space-size=80\n")
    world.program("const all = []; for (;;) { all.push(new Array(1e5).fill({})) }")
    expect_in(world.up(code=1), "Detected a possible out of memory error", "nodeargs: --max-old-space-size")


def hanging_at_exit(world):
    """A program that does not end is ended by an interrupt, and what it has made stays."""
    world.program('new lab.Thing("a", { value: 1 }).id.apply(() => require("fs").writeFileSync("ready", "")); '
                  'setInterval(() => {}, 1000);')
    process = world.start("up", "--stack", STACK, "--yes", "--skip-preview")
    output = interrupt_when(process, (world.project / "ready").exists)
    if process.returncode == 0:
        raise Failed(f"the run is shown as a success:\n{output}")
    expect("what there is", world.names(), ["a"])
    world.program('new lab.Thing("a", { value: 1 });')
    expect_in(world.up(), "2 unchanged")


def killed_in_the_middle(world):
    """A program that is killed fails the run; what it had registered stays, and nothing is deleted."""
    world.program('new lab.Thing("a", { value: 1 }); new lab.Thing("b", { value: 1 });')
    world.up()
    world.program('new lab.Thing("a", { value: 2 }).serial.apply(() => process.kill(process.pid, "SIGKILL")); '
                  'setInterval(() => {}, 1000);')
    expect_in(world.up(code=1), "signal 9")
    state = world.state()
    expect("what there is", (state["a"]["inputs"]["value"], sorted(world.names())), (2, ["a", "b"]))


# ---------------------------------------------------------------------------------------------------- other commands


def installing(world):
    """`install` installs what package.json lists, and says so; `about` knows the interpreter."""
    (world.project / "node_modules").unlink()
    world.file("mine/package.json", {"name": "mine", "version": "1.2.3"})
    world.file("package.json", {"name": "prog", "dependencies": {"mine": "file:./mine"}})
    expect_in(world.plumb("install"), "Installing dependencies...", "Finished installing dependencies")
    expect("what is installed", (world.project / "node_modules" / "mine" / "package.json").exists(), True)
    about = json.loads(world.plumb("about", "--json"))
    expect("the language", (about["runtime"]["language"], about["runtime"]["packagemanager"]), ("nodejs", "npm"))
    expect("the interpreter", (about["runtime"]["executable"].endswith("/node"), about["runtime"]["version"][0]), (True, "v"))
    expect("dependencies", about["dependencies"], [{"name": "mine", "version": "1.2.3"}])
    expect_in(world.plumb("about"), "This project is written in nodejs: executable='", "mine  1.2.3")
    world.file("package.json", {"name": "prog", "dependencies": {"mine": "file:./absent.tgz"}})
    expect_in(world.plumb("install", code=1), "install --loglevel=error` failed")
    world.file("Pulumi.yaml", "name: prog\nruntime:\n  name: nodejs\n  options:\n    packagemanager: pnpm\n")
    expect_in(world.plumb("install", code=1, PATH="/nowhere"), "could not find `pnpm` on the PATH")


def package_managers(world):
    """Each of them installs when the project names it, or has its lock file."""
    world.search_tools()
    (world.project / "node_modules").unlink()
    locks = {"npm": "package-lock.json", "yarn": "yarn.lock", "pnpm": "pnpm-lock.yaml", "bun": "bun.lock"}
    for manager, lock in locks.items():
        world.project = world.root / manager
        world.file("mine/package.json", {"name": "mine", "version": "1.2.3"})
        world.file("package.json", {"name": "prog", "version": "1.0.0", "dependencies": {"mine": "file:./mine"}})
        world.file("Pulumi.yaml", f"name: prog\nruntime:\n  name: nodejs\n  options:\n    packagemanager: {manager}\n")
        world.plumb("install")
        expect(f"lock file of {manager}", (world.project / lock).exists(), True)
        world.file("Pulumi.yaml", "name: prog\nruntime: nodejs\n")
        about = json.loads(world.plumb("about", "--transitive", "--json"))
        expect(f"what {manager} left", about["runtime"]["packagemanager"], manager)
        if not any(it["name"] == "mine" for it in about["dependencies"]):
            raise Failed(f"{manager}: {about['dependencies']}")


def bun(world):
    """Bun runs programs, TypeScript among them, and fails as it should."""
    world.search_tools()
    world.file("Pulumi.yaml", "name: prog\nruntime: bun\n")
    world.file("package.json", {"name": "prog", "main": "index.ts"})
    world.program(TYPESCRIPT + 'export const bun = process.versions.bun !== undefined;\n'
                  'new pulumi.Stash("a", { input: 1 });\n', "index.ts")
    world.up()
    expect("outputs", world.outputs(), {"name": "dev", "colour": "red", "bun": True})
    expect("names", world.names(), ["a"])
    world.program('throw new Error("broken");\n', "index.ts")
    expect_in(world.up(code=1), "Error: broken")
    expect("names", world.names(), ["a"])


STORIES = (
    commonjs, modules, typescript, stack_traces, loaded_later, main_of_the_project, options, components, transforms, hooks,
    stack_references, assets, secrets, unknowns, reading, timeouts_and_other_options, logs, long_lines, failures,
    missing_parts, out_of_memory, hanging_at_exit, killed_in_the_middle, installing,
    package_managers, bun,
)

if __name__ == "__main__":
    main("Run programs in JavaScript and TypeScript.", STORIES)
