"use strict";
// Configuration in all its forms.
const assert = require("assert");
const fs = require("fs");
const path = require("path");

const { automation, pulumi, test, world } = require("./support");

test("a value is set, read and removed", async () => {
    const stack = await world().inline();
    await stack.setConfig("word", { value: "w" });
    assert.deepStrictEqual(await stack.getConfig("word"), { value: "w", secret: false });
    await stack.removeConfig("word");
    await assert.rejects(stack.getConfig("word"), automation.CommandError);
});

test("a secret is one, and its value is not in the file", async () => {
    const it = world();
    it.written("");
    const stack = await it.local();
    await stack.setConfig("word", { value: "hunter2", secret: true });
    assert.deepStrictEqual(await stack.getConfig("word"), { value: "hunter2", secret: true });
    assert.ok(!fs.readFileSync(path.join(it.project, "Pulumi.dev.yaml"), "utf8").includes("hunter2"));
});

test("values may be anything", async () => {
    const stack = await world().inline();
    const values = ["-starts-with-a-dash", "--flag", "a=b", "two\nlines", "ünïcödé ✓", " spaces ", "", '"quoted"', "{}", "$HOME `x`"];
    for (const value of values) {
        await stack.setConfig("value", { value });
        assert.strictEqual((await stack.getConfig("value")).value, value);
    }
});

test("keys have namespaces", async () => {
    const stack = await world().inline();
    await stack.setConfig("aws:region", { value: "eu" });
    await stack.setConfig("auto:word", { value: "w" });
    assert.strictEqual((await stack.getConfig("word")).value, "w");
    assert.deepStrictEqual(Object.keys(await stack.getAllConfig()).sort(), ["auto:word", "aws:region"]);
});

test("paths lead into structures", async () => {
    const stack = await world().inline();
    await stack.setConfig("tree.list[0]", { value: "first" }, true);
    await stack.setConfig("tree.list[1]", { value: "hush", secret: true }, true);
    await stack.setConfig("tree.number", { value: "3" }, true);
    assert.strictEqual((await stack.getConfig("tree.list[0]", true)).value, "first");
    assert.deepStrictEqual(await stack.getConfig("tree.list[1]", true), { value: "hush", secret: true });
    assert.deepStrictEqual(JSON.parse((await stack.getConfig("tree")).value), { list: ["first", "hush"], number: 3 });
    await stack.removeConfig("tree.list[0]", true);
    assert.deepStrictEqual(JSON.parse((await stack.getConfig("tree")).value), { list: ["hush"], number: 3 });
});

test("many values are set and removed at once", async () => {
    const stack = await world().inline();
    await stack.setAllConfig({
        plain: { value: "p" }, hidden: { value: "h", secret: true }, "other:key": { value: "a=b" },
    });
    assert.deepStrictEqual(await stack.getAllConfig(), {
        "auto:plain": { value: "p", secret: false }, "auto:hidden": { value: "h", secret: true },
        "other:key": { value: "a=b", secret: false },
    });
    await stack.removeAllConfig(["plain", "other:key"]);
    assert.deepStrictEqual(Object.keys(await stack.getAllConfig()), ["auto:hidden"]);
});

test("many values are set by path", async () => {
    const stack = await world().inline();
    await stack.setAllConfig({ "tree.a": { value: "1" }, "tree.b": { value: "hush", secret: true } }, true);
    assert.deepStrictEqual(JSON.parse((await stack.getConfig("tree")).value), { a: 1, b: "hush" });
    await stack.removeAllConfig(["tree.a"], true);
    assert.deepStrictEqual(JSON.parse((await stack.getConfig("tree")).value), { b: "hush" });
});

test("values are set from JSON", async () => {
    const stack = await world().inline();
    const json = {
        "auto:word": { value: "w", secret: false },
        "auto:hidden": { value: "h", secret: true },
        "auto:tree": { value: '{"a":[1,2]}', objectValue: { a: [1, 2] }, secret: false },
    };
    await stack.setAllConfigJson(JSON.stringify(json));
    const all = await stack.getAllConfig();
    assert.deepStrictEqual(all["auto:hidden"], { value: "h", secret: true });
    assert.deepStrictEqual(JSON.parse(all["auto:tree"].value), { a: [1, 2] });
});

test("a program gets its configuration with types and secrets", async () => {
    const stack = await world().inline(async () => {
        const config = new pulumi.Config();
        return {
            number: config.requireNumber("number"), truth: config.requireBoolean("truth"), tree: config.requireObject("tree"),
            hidden: config.requireSecret("hidden"), other: new pulumi.Config("other").get("word"), missing: config.get("no") ?? "none",
        };
    });
    await stack.setAllConfig({
        number: { value: "3" }, truth: { value: "true" }, hidden: { value: "hush", secret: true }, "other:word": { value: "o" },
    });
    await stack.setConfig("tree.list[0]", { value: "x" }, true);
    const { outputs } = await stack.up();
    const values = Object.fromEntries(Object.entries(outputs).map(([key, it]) => [key, it.value]));
    assert.deepStrictEqual(values, { number: 3, truth: true, tree: { list: ["x"] }, hidden: "hush", other: "o", missing: "none" });
    assert.deepStrictEqual(Object.keys(outputs).filter(key => outputs[key].secret), ["hidden"]);
});

test("a missing value is an error of the program", async () => {
    const stack = await world().inline(async () => ({ word: new pulumi.Config().require("word") }));
    await assert.rejects(stack.up(), /Missing required configuration variable 'auto:word'/);
});

test("another file can hold the configuration", async () => {
    const it = world();
    it.written("exports.word = new pulumi.Config().get('word') || 'none';");
    const stack = await it.local();
    const configFile = it.file("settings.yaml", "config:\n  auto:word: from the file\n");
    assert.strictEqual((await stack.up({ configFile })).outputs.word.value, "from the file");
    assert.strictEqual((await stack.up()).outputs.word.value, "none");
});

test("configuration is refreshed from the last update", async () => {
    const stack = await world().inline();
    await stack.setConfig("word", { value: "deployed" });
    await stack.up();
    await stack.setConfig("word", { value: "changed" });
    const config = await stack.refreshConfig();
    assert.deepStrictEqual(config["auto:word"], { value: "deployed", secret: false });
});
