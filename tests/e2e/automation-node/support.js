"use strict";
// What the suites share: projects with backends of their own, and programs.
const fs = require("fs");
const os = require("os");
const path = require("path");

const automation = require("@pulumi/pulumi/automation");
const pulumi = require("@pulumi/pulumi");

// The SDK leaves promises behind that fail with the program; the runner of Node.js would take them for its own.
process.on("unhandledRejection", () => {});

const tests = [];

/** A test, to be run after those before it: handlers of the SDK for failures are there for the whole process. */
function test(name, body) {
    tests.push([name, body]);
    if (tests.length === 1) {
        setImmediate(runAll);
    }
}

async function runAll() {
    const only = process.env.ONLY ?? "";
    for (const [name, body] of tests.filter(([one]) => one.includes(only))) {
        const start = Date.now();
        try {
            await body();
            console.log(`passed ${name} (${((Date.now() - start) / 1000).toFixed(1)}s)`);
        } catch (error) {
            process.exitCode = 1;
            console.log(`FAILED ${name}\n    ${String(error.stack).replaceAll("\n", "\n    ")}`);
        }
    }
    // Servers of inline programs that failed keep the process alive.
    process.exit();
}

/** A folder for one test: a backend, a home, and a project. */
function world() {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), "automation-"));
    for (const name of ["backend", "home", "project"]) {
        fs.mkdirSync(path.join(root, name));
    }
    const backend = `file://${path.join(root, "backend")}`;
    return {
        root,
        backend,
        project: path.join(root, "project"),
        options: {
            pulumiHome: path.join(root, "home"),
            projectSettings: { name: "auto", runtime: "nodejs", backend: { url: backend } },
        },
        /** A stack whose program is a function. */
        inline(program = async () => ({}), stackName = "dev", more = {}) {
            const args = { stackName, projectName: "auto", program };
            return automation.LocalWorkspace.createOrSelectStack(args, { ...this.options, ...more });
        },
        /** Writes a file of the project. */
        file(name, content) {
            const text = typeof content === "string" ? content : JSON.stringify(content);
            const file = path.join(this.project, name);
            fs.mkdirSync(path.dirname(file), { recursive: true });
            fs.writeFileSync(file, text);
            return file;
        },
        /** A project on disk with a program for Node.js. */
        written(program, settings = "name: auto\nruntime: nodejs\n") {
            this.file("Pulumi.yaml", settings);
            this.file("package.json", { name: "auto", main: "index.js" });
            this.file("index.js", `const pulumi = require("@pulumi/pulumi");\n${program}`);
            const modules = path.join(this.project, "node_modules");
            if (!fs.existsSync(modules)) {
                fs.symlinkSync(process.env.SDK_MODULES, modules);
            }
        },
        /** A stack whose program is in the project's folder. */
        local(stackName = "dev", more = {}) {
            const envVars = { PULUMI_BACKEND_URL: backend };
            const args = { stackName, workDir: this.project };
            return automation.LocalWorkspace.createOrSelectStack(
                args, { pulumiHome: this.options.pulumiHome, envVars, ...more });
        },
    };
}

/** A resource that the engine keeps itself. */
function stash(name, input, options) {
    return new pulumi.Stash(name, { input }, options);
}

/** Waits until `isTime` says so. */
async function until(isTime, seconds = 30) {
    const end = Date.now() + seconds * 1000;
    while (!isTime()) {
        if (Date.now() > end) {
            throw new Error("it takes too long");
        }
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}

module.exports = { automation, pulumi, test, world, stash, until };
