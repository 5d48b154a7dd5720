"use strict";
// The features in JavaScript; see `tests/e2e/languages.py`. FEATURES names those to run, ROUND is 1 or 2.
const fs = require("fs");
const pulumi = require("@pulumi/pulumi");

const lab = require("./lab");

const round = process.env.ROUND;
const outputs = {};
const note = text => fs.appendFileSync(process.env.HOOK_LOG, `${text}\n`);

class Group extends pulumi.ComponentResource {
    constructor(name) {
        super("matrix:index:Group", name);
        this.value = new lab.Thing("child", { value: "of a child" }, { parent: this }).value;
        this.registerOutputs({ value: this.value });
    }
}

class Doubled extends pulumi.dynamic.Resource {
    constructor(name, value) {
        const create = async props => ({ id: "doubled-1", outs: { doubled: props.value * 2 } });
        super({ create }, name, { value, doubled: undefined });
    }
}

const features = {
    resources() {
        const plain = new lab.Thing("plain", { value: "v", other: { list: [1, { deep: true }] } });
        outputs.resources = { value: plain.value, other: plain.other, serial: plain.serial };
    },
    secrets() {
        const password = new pulumi.Config().requireSecret("token");
        outputs.secrets = new lab.Thing("hidden", { value: pulumi.secret("open sesame"), password }).value;
    },
    config() {
        const settings = new pulumi.Config();
        outputs.config = {
            number: settings.requireNumber("number"), truth: settings.requireBoolean("truth"),
            tree: settings.requireObject("tree").list[0],
        };
        outputs.configSecret = settings.requireSecret("token");
    },
    assets() {
        const source = new pulumi.asset.AssetArchive({
            "a.txt": new pulumi.asset.StringAsset("text"), "b.txt": new pulumi.asset.FileAsset("asset.txt"),
            "c": new pulumi.asset.FileArchive("folder"),
        });
        outputs.assets = new lab.Thing("assets", { source }).sourceHash;
    },
    remoteAssets() {
        const source = new pulumi.asset.AssetArchive({
            "a.txt": new pulumi.asset.RemoteAsset(`file://${process.cwd()}/text.txt`),
            "b.txt": new pulumi.asset.RemoteAsset("http://assets.test/asset.txt"),
            "c": new pulumi.asset.RemoteArchive("http://assets.test/folder.zip"),
        });
        outputs.remoteAssets = new lab.Thing("remoteAssets", { source }).sourceHash;
    },
    components() {
        outputs.components = new Group("group").value;
    },
    providers() {
        const provider = new lab.Provider("europe", { region: "eu" });
        outputs.providers = new lab.Thing("european", {}, { provider }).region;
    },
    aliases() {
        if (round === "1") {
            new lab.Thing("former", { value: "v" });
        } else {
            new lab.Thing("latter", { value: "v" }, { aliases: [{ name: "former" }] });
        }
    },
    protect() {
        new lab.Thing("guarded", {}, { protect: true });
    },
    retainOnDelete() {
        if (round === "1") {
            new lab.Thing("retained", {}, { retainOnDelete: true });
        }
    },
    dependsOn() {
        const first = new lab.Thing("first", {});
        new lab.Thing("second", {}, { dependsOn: [first] });
    },
    customTimeouts() {
        const thing = new lab.Thing("timed", { echoTimeout: true }, { customTimeouts: { create: "5m" } });
        outputs.customTimeouts = thing.timeoutSeen;
    },
    ignoreChanges() {
        outputs.ignoreChanges = new lab.Thing("ignoring", { value: round }, { ignoreChanges: ["value"] }).value;
    },
    replaceOnChanges() {
        new lab.Thing("replaced", { value: round }, { replaceOnChanges: ["value"], deleteBeforeReplace: true });
    },
    additionalSecretOutputs() {
        outputs.additionalSecretOutputs = new lab.Thing("quiet", { value: "psst" }, { additionalSecretOutputs: ["value"] }).value;
    },
    stackReferences() {
        const other = new pulumi.StackReference("organization/source/dev");
        outputs.stackReferences = other.getOutput("word");
        outputs.stackReferenceSecret = other.requireOutput("hidden");
    },
    get() {
        outputs.get = lab.Thing.get("found", "existing-1").value;
    },
    importing() {
        new lab.Thing("adopted", { value: "imported" }, { import: "importable-1" });
    },
    invokes() {
        const ask = value => pulumi.runtime.invoke("lab:index:echo", { value }).then(it => it.value);
        outputs.invokes = { plain: ask("hello"), output: new lab.Thing("asked", { value: "v" }).value.apply(ask) };
    },
    transforms() {
        pulumi.runtime.registerResourceTransform(({ name, props, opts }) =>
            name === "transformed" ? { props: { ...props, value: "after" }, opts } : undefined);
        outputs.transforms = new lab.Thing("transformed", { value: "before" }).value;
    },
    invokeTransforms() {
        pulumi.runtime.registerInvokeTransform(({ args, opts }) =>
            args.value === "before" ? { args: { value: "after" }, opts } : undefined);
        outputs.invokeTransforms = pulumi.runtime.invoke("lab:index:echo", { value: "before" }).then(it => it.value);
    },
    hooks() {
        const made = new pulumi.ResourceHook("made", async args => note(`made ${args.name}`));
        new lab.Thing("hooked", {}, { hooks: { afterCreate: [made] } });
    },
    errorHooks() {
        const again = new pulumi.ErrorHook("again", async args => {
            note(`again ${args.name}`);
            return true;
        });
        new lab.Thing("stubborn", { failOn: { create: { message: "not yet", times: 2 } } }, { hooks: { onError: [again] } });
    },
    dynamicProviders() {
        outputs.dynamicProviders = new Doubled("doubled", 21).doubled;
    },
    remoteComponents() {
        outputs.remoteComponents = new lab.Component("remote", { size: 2, value: "v" }).values;
    },
    methods() {
        outputs.methods = new lab.Thing("described", {}).describe({ greeting: "hi" }).description;
    },
    outputs() {
        outputs.outputs = { text: "ünïcödé ✓", number: 1.5, truth: false, list: [1, "two", []], map: { k: { l: "m" } } };
    },
    strangeOutput() {
        fs.writeSync(1, Buffer.from("before \xff\xfe after\n", "latin1"));
    },
    longLines() {
        console.log(`${"x".repeat(10_000_000)} END`);
    },
    logs() {
        pulumi.log.debug("a debug message");
        pulumi.log.info("an info message");
        pulumi.log.warn("a warning message");
        pulumi.log.error("an error message");
    },
    errors() {
        throw new Error("it broke");
    },
    killed() {
        process.kill(process.pid, "SIGKILL");
    },
};

for (const name of process.env.FEATURES.split(",")) {
    features[name]();
}
module.exports = outputs;
