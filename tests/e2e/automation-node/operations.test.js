"use strict";
// Operations with inline programs and with programs on disk.
const assert = require("assert");
const fs = require("fs");
const path = require("path");

const { automation, pulumi, stash, test, until, world } = require("./support");

test("an inline program lives from up to destroy", async () => {
    let value = 1;
    const stack = await world().inline(async () => {
        const a = stash("a", value);
        return { plain: "p", hidden: pulumi.secret("h"), list: [1, { two: 2 }], from: a.output, nothing: null };
    });
    const made = await stack.up({ message: "the first" });
    assert.deepStrictEqual(made.summary.resourceChanges, { create: 2 });
    assert.strictEqual(made.summary.kind, "update");
    assert.strictEqual(made.summary.result, "succeeded");
    assert.strictEqual(made.summary.message, "the first");
    assert.deepStrictEqual(made.outputs.hidden, { value: "h", secret: true });
    assert.deepStrictEqual(made.outputs.list, { value: [1, { two: 2 }], secret: false });
    assert.strictEqual(made.outputs.from.value, 1);
    assert.ok(!made.stdout.includes("hush"));

    value = 2;
    const previewed = await stack.preview();
    assert.deepStrictEqual(previewed.changeSummary, { same: 1, update: 1 });
    const changed = await stack.up();
    assert.deepStrictEqual(changed.summary.resourceChanges, { same: 1, update: 1 });

    const refreshed = await stack.refresh();
    assert.strictEqual(refreshed.summary.kind, "refresh");
    assert.strictEqual(refreshed.summary.result, "succeeded");

    const destroyed = await stack.destroy();
    assert.strictEqual(destroyed.summary.kind, "destroy");
    assert.deepStrictEqual(destroyed.summary.resourceChanges, { delete: 2 });
    await stack.workspace.removeStack("dev");
});

test("a program on disk lives from up to destroy", async () => {
    const it = world();
    it.written('const a = new pulumi.Stash("a", { input: 1 }); exports.out = a.output;');
    const stack = await it.local();
    assert.deepStrictEqual((await stack.preview()).changeSummary, { create: 2 });
    const { outputs, stdout } = await stack.up();
    assert.strictEqual(outputs.out.value, 1);
    assert.match(stdout, /2 created/);
    assert.deepStrictEqual((await stack.destroy({ remove: true })).summary.resourceChanges, { delete: 2 });
    assert.deepStrictEqual(await stack.workspace.listStacks(), []);
});

test("a YAML program needs no SDK", async () => {
    const it = world();
    it.file("Pulumi.yaml", "name: auto\nruntime: yaml\noutputs:\n  word: w\n");
    assert.strictEqual((await (await it.local()).up()).outputs.word.value, "w");
});

test("previews and their outputs are streamed", async () => {
    const stack = await world().inline(async () => { stash("a", 1); });
    const lines = [];
    await stack.up({ onOutput: text => lines.push(text) });
    assert.match(lines.join(""), /pulumi:index:Stash/);
});

test("events of an update arrive in order, with a summary at the end", async () => {
    const stack = await world().inline(async () => { stash("a", 1); pulumi.log.info("said"); });
    const events = [];
    await stack.up({ onEvent: event => events.push(event) });
    const kinds = events.map(event => Object.keys(event).find(key => key.endsWith("Event")));
    assert.strictEqual(kinds[0], "preludeEvent");
    assert.deepStrictEqual(kinds.filter(kind => kind === "summaryEvent").length, 1);
    const steps = events.filter(event => event.resourcePreEvent).map(event => event.resourcePreEvent.metadata.op);
    // The stack, the resource, and the default provider between them.
    assert.deepStrictEqual(steps, ["create", "create", "create"]);
    const sequence = events.map(event => event.sequence);
    assert.deepStrictEqual(sequence, [...sequence].sort((a, b) => a - b));
    assert.ok(events.some(event => event.diagnosticEvent?.message.includes("said")));
    const summary = events.find(event => event.summaryEvent).summaryEvent;
    assert.deepStrictEqual(summary.resourceChanges, { create: 2 });
});

test("events of every operation arrive", async () => {
    const stack = await world().inline(async () => { stash("a", 1); });
    await stack.up();
    for (const operation of ["preview", "refresh", "previewRefresh", "previewDestroy", "destroy"]) {
        const events = [];
        await stack[operation]({ onEvent: event => events.push(event) });
        assert.strictEqual(events.filter(event => event.summaryEvent).length, 1, operation);
    }
});

test("previews of refresh and destroy change nothing", async () => {
    const stack = await world().inline(async () => { stash("a", 1); });
    await stack.up();
    assert.deepStrictEqual((await stack.previewRefresh()).changeSummary, { same: 2 });
    assert.deepStrictEqual((await stack.previewDestroy()).changeSummary, { delete: 2 });
    assert.strictEqual((await stack.exportStack()).deployment.resources.length, 3);
});

test("refresh and destroy run the program when they are told to", async () => {
    let runs = 0;
    const stack = await world().inline(async () => { runs++; stash("a", 1); });
    await stack.up();
    await stack.refresh({ runProgram: true });
    await stack.destroy({ runProgram: true });
    assert.strictEqual(runs, 3);
});

test("an error of an inline program is shown, and is an error of the call", async () => {
    const stack = await world().inline(async () => { throw new Error("it broke"); });
    const up = stack.up();
    await assert.rejects(up, error => error instanceof automation.CommandError && error.message.includes("it broke"));
    await assert.rejects(stack.preview(), /it broke/);
});

test("an error in an apply of an inline program fails the call", async () => {
    const stack = await world().inline(async () => { pulumi.output(1).apply(() => { throw new Error("later"); }); });
    await assert.rejects(stack.up(), /later/);
    // The process goes on, and so do programs.
    const other = await world().inline(async () => ({ fine: true }));
    assert.strictEqual((await other.up()).outputs.fine.value, true);
});

test("an error of a program on disk has its class", async () => {
    const it = world();
    it.written("throw new Error('it broke');");
    const stack = await it.local();
    await assert.rejects(stack.up(), /failed with an unhandled exception[^]*it broke/);
});

test("what cannot be compiled has its class", async () => {
    const it = world();
    it.written("");
    it.file("package.json", { name: "auto", main: "index.ts" });
    it.file("index.ts", "const wrong: number = 'text';\nexport = { wrong };\n");
    await assert.rejects((await it.local()).up(), /Unable to compile TypeScript/);
});

test("no changes can be expected", async () => {
    let value = 1;
    const stack = await world().inline(async () => { stash("a", value); });
    await stack.up();
    await stack.up({ expectNoChanges: true });
    value = 2;
    await assert.rejects(stack.up({ expectNoChanges: true }), /no changes were expected/);
});

test("targets and exclusions limit an update", async () => {
    let value = 1;
    const stack = await world().inline(async () => { stash("a", value); stash("b", value); });
    await stack.up();
    const urn = name => `urn:pulumi:dev::auto::pulumi:index:Stash::${name}`;
    value = 2;
    assert.strictEqual((await stack.up({ target: [urn("a")] })).summary.resourceChanges.update, 1);
    value = 3;
    assert.strictEqual((await stack.preview({ exclude: [urn("a")] })).changeSummary.update, 1);
    assert.strictEqual((await stack.up({ replace: [urn("b")] })).summary.resourceChanges.replace, 1);
});

test("protected resources can be left out of a destroy", async () => {
    const stack = await world().inline(async () => { stash("a", 1, { protect: true }); stash("b", 1); });
    await stack.up();
    await assert.rejects(stack.destroy(), automation.CommandError);
    await stack.destroy({ excludeProtected: true });
    const left = (await stack.exportStack()).deployment.resources.map(one => one.urn.split("::").pop());
    assert.ok(left.includes("a") && !left.includes("b"), left.join());
});

test("a plan is saved and kept to", async () => {
    const it = world();
    let value = 1;
    const stack = await it.inline(async () => { stash("a", value); });
    const plan = path.join(it.root, "plan.json");
    await stack.preview({ plan });
    assert.ok(fs.existsSync(plan));
    value = 2;
    await assert.rejects(stack.up({ plan }), /violates plan/);
    value = 1;
    await stack.up({ plan });
});

test("the history has all updates, the newest first", async () => {
    const stack = await world().inline();
    await stack.setConfig("word", { value: "w" });
    await stack.setConfig("hidden", { value: "hush", secret: true });
    for (const message of ["one", "two", "three"]) {
        await stack.up({ message });
    }
    const history = await stack.history();
    assert.deepStrictEqual(history.map(it => it.message), ["three", "two", "one"]);
    assert.ok(history[0].endTime >= history[0].startTime);
    assert.deepStrictEqual((await stack.history(2, 2)).map(it => it.message), ["one"]);
    assert.strictEqual(history[0].environment["exec.kind"], "auto.inline");
    const info = await stack.info(true);
    assert.strictEqual(info.message, "three");
    assert.deepStrictEqual(info.config["auto:hidden"], { value: "hush", secret: true });
});

test("a stack without updates has no history", async () => {
    const stack = await world().inline();
    assert.deepStrictEqual(await stack.history(), []);
    assert.strictEqual(await stack.info(), undefined);
    assert.deepStrictEqual(await stack.outputs(), {});
});

test("an update under way is in the way of another", async () => {
    let finish;
    const started = { is: false };
    const stack = await world().inline(async () => {
        started.is = true;
        await new Promise(resolve => { finish = resolve; });
    });
    const first = stack.up();
    await until(() => started.is);
    await assert.rejects(stack.up(), automation.ConcurrentUpdateError);
    finish();
    assert.strictEqual((await first).summary.result, "succeeded");
});

test("a signal ends an operation, and the next one goes on from there", async () => {
    const it = world();
    let waits = true, started = false;
    const stack = await it.inline(async () => {
        stash("a", 1);
        started = true;
        while (waits) { await new Promise(resolve => setTimeout(resolve, 20)); }
    });
    const abort = new AbortController();
    const listeners = process.listenerCount("unhandledRejection");
    const first = stack.up({ signal: abort.signal });
    await until(() => started);
    abort.abort();
    await assert.rejects(first);
    waits = false;
    // The SDK blames whatever runs now for what the abandoned program still rejects, until that program has ended.
    await until(() => process.listenerCount("unhandledRejection") === listeners);
    assert.strictEqual((await stack.up()).summary.result, "succeeded");
});

test("cancel takes the lock of a run away", async () => {
    const stack = await world().inline();
    await stack.up();
    await stack.cancel();
    await stack.up();
});

test("several stacks are updated at once from one process", async () => {
    const it = world();
    const names = ["one", "two", "three"];
    const stacks = await Promise.all(names.map(name => it.inline(async () => {
        stash("a", name);
        return { stack: pulumi.getStack() };
    }, name)));
    const results = await Promise.all(stacks.map(stack => stack.up()));
    assert.deepStrictEqual(results.map(result => result.outputs.stack.value), names);
});

test("components, transforms and hooks work in inline programs", async () => {
    const calls = [];
    const stack = await world().inline(async () => {
        const hook = new pulumi.ResourceHook("noted", async args => { calls.push(args.name); });
        pulumi.runtime.registerResourceTransform(args => args.type === "pulumi:index:Stash"
            ? { props: { input: "transformed" }, opts: args.opts } : undefined);
        const group = new pulumi.ComponentResource("auto:index:Group", "group");
        return { out: stash("a", 1, { parent: group, hooks: { afterCreate: [hook] } }).output };
    });
    assert.strictEqual((await stack.up()).outputs.out.value, "transformed");
    assert.deepStrictEqual(calls, ["a"]);
});

test("an inline program reads another stack", async () => {
    const it = world();
    await (await it.inline(async () => ({ word: "w", hidden: pulumi.secret("h") }), "one")).up();
    const two = await it.inline(async () => {
        const one = new pulumi.StackReference("organization/auto/one");
        return { word: one.getOutput("word"), hidden: one.getOutput("hidden") };
    }, "two");
    const { outputs } = await two.up();
    assert.deepStrictEqual(outputs, { word: { value: "w", secret: false }, hidden: { value: "h", secret: true } });
});

test("options of the command line are passed on", async () => {
    const stack = await world().inline(async () => { pulumi.log.debug("whispered"); stash("a", 1); });
    const result = await stack.up({
        parallel: 2, diff: true, color: "never", userAgent: "mine/1.0", debug: true, suppressProgress: true,
        continueOnError: true, refresh: true, showSecrets: true, logVerbosity: 1, logToStdErr: true,
    });
    assert.match(result.stderr, /whispered/);
    const [entry] = await stack.history(1, 1);
    assert.strictEqual(entry.environment["exec.agent"], "mine/1.0");
});

test("outputs can be kept from standard output", async () => {
    const stack = await world().inline(async () => ({ loud: "here I am" }));
    assert.ok(!(await stack.up({ suppressOutputs: true })).stdout.includes("here I am"));
});

test("resources are imported", async () => {
    const it = world();
    it.written("");
    const stack = await it.local();
    const result = await stack.import({
        resources: [{ type: "random:index/randomPassword:RandomPassword", name: "password", id: "hunter2hunter2" }],
        protect: false, generateCode: false,
    });
    assert.strictEqual(result.summary.result, "succeeded");
    const names = (await stack.exportStack()).deployment.resources.map(one => one.urn.split("::").pop());
    assert.ok(names.includes("password"), names.join());
});

test("dependencies of a program are installed", async () => {
    const it = world();
    it.file("Pulumi.yaml", "name: auto\nruntime: nodejs\n");
    it.file("mine/package.json", { name: "mine", version: "1.0.0" });
    it.file("package.json", { name: "auto", dependencies: { mine: "file:./mine" } });
    const stack = await it.local();
    await stack.workspace.install();
    assert.ok(fs.existsSync(path.join(it.project, "node_modules/mine/package.json")));
});
