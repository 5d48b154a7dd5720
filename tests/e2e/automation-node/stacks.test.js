"use strict";
// Stacks and workspaces: what needs no program to run.
const assert = require("assert");

const { automation, stash, test, world } = require("./support");

const args = (stackName, program = async () => ({})) => ({ stackName, projectName: "auto", program });

test("a stack is created, and only once", async () => {
    const { options } = world();
    const stack = await automation.LocalWorkspace.createStack(args("dev"), options);
    assert.strictEqual(stack.name, "dev");
    const again = automation.LocalWorkspace.createStack(args("dev"), options);
    await assert.rejects(again, automation.StackAlreadyExistsError);
});

test("a stack is selected, and has to be there", async () => {
    const { options } = world();
    await assert.rejects(automation.LocalWorkspace.selectStack(args("dev"), options), automation.StackNotFoundError);
    await automation.LocalWorkspace.createStack(args("dev"), options);
    assert.strictEqual((await automation.LocalWorkspace.selectStack(args("dev"), options)).name, "dev");
});

test("createOrSelect does either", async () => {
    const { options } = world();
    for (let round = 0; round < 2; round++) {
        assert.strictEqual((await automation.LocalWorkspace.createOrSelectStack(args("dev"), options)).name, "dev");
    }
});

test("fully qualified names mean the same stack", async () => {
    const it = world();
    const name = automation.fullyQualifiedStackName("organization", "auto", "dev");
    const stack = await automation.LocalWorkspace.createOrSelectStack(args(name), it.options);
    await stack.setConfig("word", { value: "w" });
    const { workDir } = stack.workspace;
    const short = await automation.LocalWorkspace.selectStack(args("dev"), { ...it.options, workDir });
    assert.strictEqual((await short.getConfig("word")).value, "w");
});

test("stacks are listed, one of them current", async () => {
    const stack = await world().inline();
    await stack.workspace.createStack("other");
    const listed = await stack.workspace.listStacks();
    assert.deepStrictEqual(listed.map(it => [it.name, it.current]).sort(), [["dev", false], ["other", true]]);
    assert.strictEqual((await stack.workspace.stack()).name, "other");
    await stack.workspace.selectStack("dev");
    assert.strictEqual((await stack.workspace.stack()).name, "dev");
});

test("a list tells of the last update", async () => {
    const stack = await world().inline(async () => { stash("a", 1); });
    await stack.up();
    const [listed] = await stack.workspace.listStacks();
    assert.strictEqual(listed.resourceCount, 3);
    assert.ok(!isNaN(new Date(listed.lastUpdate)), listed.lastUpdate);
});

test("a stack is removed, but not with resources", async () => {
    const stack = await world().inline(async () => { stash("a", 1); });
    await stack.up();
    await assert.rejects(stack.workspace.removeStack("dev"), automation.CommandError);
    await stack.workspace.removeStack("dev", { force: true });
    assert.deepStrictEqual(await stack.workspace.listStacks(), []);
});

test("a removed stack can keep its settings", async () => {
    const it = world();
    it.written("");
    const stack = await it.local();
    await stack.setConfig("word", { value: "w" });
    await stack.workspace.removeStack("dev", { preserveConfig: true });
    await stack.workspace.createStack("dev");
    assert.strictEqual((await stack.getConfig("word")).value, "w");
});

test("a stack is renamed, with its settings and its history", async () => {
    const it = world();
    it.written("exports.a = 1;");
    const stack = await it.local();
    await stack.setConfig("word", { value: "w" });
    await stack.up();
    const result = await stack.rename({ stackName: "prod" });
    assert.strictEqual(typeof result.stdout, "string");
    assert.deepStrictEqual((await stack.workspace.listStacks()).map(one => one.name), ["prod"]);
    const renamed = await automation.LocalWorkspace.selectStack(
        { stackName: "prod", workDir: it.project },
        { pulumiHome: it.options.pulumiHome, envVars: { PULUMI_BACKEND_URL: it.backend } });
    assert.strictEqual((await renamed.getConfig("word")).value, "w");
    assert.strictEqual((await renamed.outputs()).a.value, 1);
});

test("tags are set, read, listed and removed", async () => {
    const stack = await world().inline();
    await stack.setTag("owner", "me");
    await stack.setTag("note", "with spaces = and signs");
    assert.strictEqual(await stack.getTag("owner"), "me");
    const tags = await stack.listTags();
    assert.strictEqual(tags.note, "with spaces = and signs");
    await stack.removeTag("owner");
    assert.ok(!("owner" in (await stack.listTags())));
    await assert.rejects(stack.getTag("owner"), automation.CommandError);
});

test("a state is exported, changed and imported", async () => {
    const it = world();
    const stack = await it.inline(async () => { stash("a", 1); return { out: 1 }; });
    await stack.up();
    const state = await stack.exportStack();
    assert.strictEqual(state.version, 3);
    const urns = state.deployment.resources.map(one => one.urn);
    assert.ok(urns.some(urn => urn.endsWith("::a")), urns.join());
    state.deployment.resources = state.deployment.resources.filter(one => !one.urn.endsWith("::a"));
    await stack.importStack(state);
    assert.strictEqual((await stack.exportStack()).deployment.resources.length, urns.length - 1);
    const result = await stack.up();
    assert.deepStrictEqual(result.summary.resourceChanges, { create: 1, same: 1 });
});

test("exported secrets are in the clear, and secret again after an import", async () => {
    const { pulumi } = require("./support");
    const stack = await world().inline(async () => ({ hidden: pulumi.secret("hush") }));
    await stack.up();
    const state = await stack.exportStack();
    assert.ok(JSON.stringify(state).includes("hush"));
    await stack.importStack(state);
    assert.deepStrictEqual(await stack.outputs(), { hidden: { value: "hush", secret: true } });
});

test("whoami tells user and address", async () => {
    const it = world();
    const stack = await it.inline();
    const who = await stack.workspace.whoAmI();
    assert.ok(who.user);
    assert.strictEqual(who.url, it.backend);
});

test("the version of the command line is new enough, and is checked", async () => {
    const command = await automation.PulumiCommand.get();
    assert.strictEqual(command.version.major, 3);
    assert.ok(command.version.compare("3.260.0") >= 0, command.version.toString());
});

test("plugins are listed, and removed", async () => {
    const stack = await world().inline();
    assert.deepStrictEqual(await stack.workspace.listPlugins(), []);
    await stack.workspace.removePlugin();
});

test("settings of project and stack are read and written in all forms", async () => {
    for (const [extension, text] of [
        ["yaml", "name: auto\nruntime: nodejs\ndescription: Mine\n"],
        ["json", JSON.stringify({ name: "auto", runtime: { name: "nodejs", options: { typescript: false } } })],
    ]) {
        const it = world();
        it.file(`Pulumi.${extension}`, text);
        it.file(`Pulumi.dev.${extension}`, extension === "json" ? '{"config": {"auto:word": "w"}}' : "config:\n  auto:word: w\n");
        const stack = await it.local();
        const settings = await stack.workspace.projectSettings();
        assert.strictEqual(settings.name, "auto");
        assert.strictEqual((await stack.getConfig("word")).value, "w");
        const own = await stack.workspace.stackSettings("dev");
        assert.strictEqual(own.config["auto:word"], "w");
        await stack.workspace.saveStackSettings("dev", { ...own, config: { ...own.config, "auto:more": "m" } });
        assert.strictEqual((await stack.getConfig("more")).value, "m");
        await stack.workspace.saveProjectSettings({ ...settings, description: "Changed" });
        assert.strictEqual((await stack.workspace.projectSettings()).description, "Changed");
    }
});

test("environment variables of the workspace reach the program", async () => {
    const it = world();
    it.written("exports.word = process.env.WORD;");
    const stack = await it.local("dev", { envVars: { PULUMI_BACKEND_URL: it.backend, WORD: "w" } });
    assert.strictEqual((await stack.up()).outputs.word.value, "w");
});

test("a secrets provider is chosen, and its passphrase needed", async () => {
    const it = world();
    const stack = await it.inline(undefined, "dev", {
        secretsProvider: "passphrase", envVars: { PULUMI_CONFIG_PASSPHRASE: "another" },
    });
    await stack.setConfig("hidden", { value: "hush", secret: true });
    assert.strictEqual((await stack.getConfig("hidden")).value, "hush");
    const wrong = await automation.LocalWorkspace.selectStack(
        args("dev"), { ...it.options, workDir: stack.workspace.workDir, envVars: { PULUMI_CONFIG_PASSPHRASE: "wrong" } });
    await assert.rejects(wrong.getConfig("hidden"), automation.CommandError);
});

test("environments need the service, and say so", async () => {
    const stack = await world().inline();
    await assert.rejects(stack.addEnvironments("one"), automation.CommandError);
});

test("remote operations need the service, and say so", async () => {
    const remote = await automation.RemoteWorkspace.createStack({
        stackName: "organization/auto/dev", url: "https://example.com/repo.git", branch: "main",
    });
    await assert.rejects(remote.up(), /`--remote` requires the cloud service/);
});
