#!/usr/bin/env node
// Uses a generated SDK in a program against the real core SDK, with a pretend provider, and looks at what is sent and what comes
// back.
//
//   node tests/codegen/use-nodejs.js --bin PLUMB --modules FOLDER

"use strict";

const assert = require("assert");
const { execFileSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const option = (name) => path.resolve(process.argv[process.argv.indexOf(name) + 1]);
const [bin, modules] = [option("--bin"), option("--modules")];
const work = fs.mkdtempSync(path.join(os.tmpdir(), "plumb-use-"));
const packages = path.join(work, "node_modules");
fs.symlinkSync(path.join(modules, "node_modules"), packages);

function build() {
    const schema = path.join(__dirname, "use.json");
    execFileSync(bin, ["package", "gen-sdk", "--language", "nodejs", "--out", work, schema], { stdio: "pipe" });
    const sdk = path.join(work, "nodejs");
    execFileSync(process.execPath, [path.join(packages, "typescript/bin/tsc"), "--skipLibCheck"], { cwd: sdk, stdio: "inherit" });
    fs.copyFileSync(path.join(sdk, "package.json"), path.join(sdk, "bin/package.json"));
    return path.join(sdk, "bin");
}

const sdk = build();
process.env.LAB_FAST = "f";
process.env.LAB_REGION = "north";
process.env.PULUMI_CONFIG = JSON.stringify({ "lab:tags": '{"a":"b"}' });
// The core SDK that the generated one loads, whatever folder its link leads to.
const pulumi = require(require.resolve("@pulumi/pulumi", { paths: [sdk] }));

const requests = [];
const { MockMonitor } = require(require.resolve("@pulumi/pulumi/runtime/mocks", { paths: [sdk] }));
const register = MockMonitor.prototype.registerResource;
MockMonitor.prototype.registerResource = function (request, callback) {
    requests.push(request);
    return register.call(this, request, callback);
};

// Methods are no business of the SDK's own mocks; they are answered like functions here.
MockMonitor.prototype.call = function (request, callback) {
    return this.invoke(request, (error, response) => {
        if (response) {
            response.getReturndependenciesMap = () => new Map();
        }
        callback(error, response);
    });
};

const sent = [];
pulumi.runtime.setMocks({
    newResource: (args) => {
        sent.push(args);
        return { id: args.id || `${args.name}-id`, state: { ...args.inputs, secretCode: "hidden" } };
    },
    call: (args) => {
        sent.push(args);
        switch (args.token) {
            case "lab:box:Box/open": return { content: `opened with ${args.inputs.code}` };
            case "lab:box:Box/peek": return { res: 5 };
            case "lab:index:find": return { ids: [args.inputs.name, String(args.inputs.limit)] };
            case "lab:index:add": return { sum: (args.inputs.a ?? 0) + args.inputs.b };
        }
    },
}, "project", "stack", false);

const value = (output) => new Promise((resolve) => output.apply(resolve));

async function main() {
    const lab = require(sdk);
    assert.deepStrictEqual(Object.keys(lab).sort(),
        ["Provider", "Shelf", "add", "addOutput", "box", "config", "find", "findOutput", "types"]);
    assert.deepStrictEqual(lab.types.enums.box.Kind, { Key: "key", Digits: "1234" });
    assert.strictEqual(lab.box.Kind.Digits, "1234");

    const box = new lab.box.Box("b", { size: 1, lock: { kind: "key" }, plainLock: { kind: "key", code: "1" }, password: "pw" });
    assert.strictEqual(await value(box.urn), "urn:pulumi:stack::project::lab:box:Box::b");
    const inputs = sent.at(-1).inputs;
    assert.strictEqual(inputs.apiVersion, "v1");
    assert.strictEqual(inputs.fast, false);
    assert.deepStrictEqual(inputs.lock, { kind: "key", code: "0000" });
    assert.deepStrictEqual(inputs.plainLock, { kind: "key", code: "1" });
    assert.strictEqual(inputs.password.value, "pw");
    assert.strictEqual(Object.keys(inputs.password).length, 2, "a secret has its mark");
    const request = requests.at(-1);
    assert.deepStrictEqual(request.getAdditionalsecretoutputsList(), ["secretCode"]);
    assert.deepStrictEqual(request.getReplaceonchangesList(), ["lock"]);
    assert.deepStrictEqual(request.getAliasesList().map((it) => it.getSpec().getType()), ["lab:index:OldBox"]);
    assert.strictEqual(request.getVersion(), "1.2.3");
    assert.ok(lab.box.Box.isInstance(box) && !lab.Shelf.isInstance(box));

    const full = new lab.box.Box("full", {
        size: pulumi.output(2), cover: new pulumi.asset.StringAsset("text"),
        bundle: new pulumi.asset.AssetArchive({ a: new pulumi.asset.StringAsset("b") }), label: 7, tint: lab.box.Kind.Digits,
        spares: [{ kind: "key" }, pulumi.output({ kind: "1234" })], byName: { one: { kind: "key", code: pulumi.secret("9") } },
    });
    await value(full.urn);
    const given = sent.at(-1).inputs;
    assert.strictEqual(given.size, 2);
    assert.strictEqual(await given.cover.text, "text");
    assert.strictEqual(await (await given.bundle.assets).a.text, "b");
    assert.deepStrictEqual([given.label, given.tint], [7, "1234"]);
    assert.deepStrictEqual(given.spares.map((it) => it.kind), ["key", "1234"]);
    assert.ok(JSON.stringify(given.byName).includes('"9"'), JSON.stringify(given.byName));

    assert.throws(() => new lab.box.Box("c", {}), /Missing required property 'size'/);
    const found = lab.box.Box.get("old", "some-id", { size: 9 });
    assert.strictEqual(await value(found.id), "some-id");
    assert.strictEqual(sent.at(-1).id, "some-id");
    assert.deepStrictEqual(sent.at(-1).inputs, { size: 9 });

    assert.deepStrictEqual(await value(box.open({ code: "12" })), { content: "opened with 12" });
    assert.strictEqual(await box.peek(), 5);

    assert.deepStrictEqual(await lab.find({ name: "x" }), { ids: ["x", "7"] });
    assert.deepStrictEqual(await value(lab.findOutput({ name: pulumi.output("y"), limit: 2 })), { ids: ["y", "2"] });
    assert.strictEqual(await lab.add(2, 3), 5);
    assert.strictEqual(await value(lab.addOutput(2)), 2);

    const shelf = new lab.Shelf("s", { boxes: [box] });
    await value(shelf.urn);
    assert.strictEqual(sent.at(-1).type, "lab:index:Shelf");

    const provider = new lab.Provider("p", { region: "r", retries: 4, token: { a: "b" } });
    await value(provider.urn);
    const { token, ...settings } = sent.at(-1).inputs;
    assert.deepStrictEqual(settings, { region: "r", retries: "4" });
    assert.strictEqual(token.value, '{"a":"b"}');

    assert.strictEqual(lab.config.region, "north");
    assert.strictEqual(lab.config.retries, 3);
    assert.deepStrictEqual(lab.config.tags, { a: "b" });
    assert.strictEqual(require(path.join(sdk, "utilities")).getVersion(), "1.2.3");
}

main().then(() => {
    console.log("the generated SDK does what it should");
    fs.rmSync(work, { recursive: true });
    process.exit(0);
}, (error) => {
    console.error(error);
    process.exit(1);
});
