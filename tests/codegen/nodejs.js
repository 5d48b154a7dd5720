#!/usr/bin/env node
// SDKs for Node.js, generated from every schema in `tests/data/schemas`: they compile under `--strict`, and those of published
// packages offer what the published ones do.
//
//   node tests/codegen/nodejs.js --bin PLUMB --modules FOLDER [--show]
//
// FOLDER is what `tests/setup-node-packages.sh` prints. `--show` prints every difference, those with a reason too.

"use strict";

const { execFileSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { createRequire } = require("module");
const { surface } = require("./surface.js");

const root = path.join(__dirname, "../..");
const schemas = path.join(root, "tests/data/schemas");
const published = ["random", "command", "docker", "std"];

function option(name) {
    const index = process.argv.indexOf(name);
    return index < 0 ? undefined : process.argv[index + 1];
}

const bin = path.resolve(option("--bin"));
const modules = path.resolve(option("--modules"));
const isShowing = process.argv.includes("--show");
const ts = createRequire(path.join(modules, "package.json"))("typescript");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "plumb-codegen-"));
fs.symlinkSync(path.join(modules, "node_modules"), path.join(work, "node_modules"));

const failures = [];

/** What does not compile, or is not generated, and why. */
const expected = [
    [/(codegen\.spec|compileCheck)\.ts' not found/, "a file that people add by hand"],
    [/^overlay-supported-languages.*'\.\/types/, "types that people add by hand"],
    [/^resource-property-overlap.*circularly|^resource-property-overlap.*indirectly/, "outputs of a class that holds itself"],
    [/^different-package-name-conflict.*same file/, "three resources called alike in one module"],
    [/Cannot find module '@[a-z-]+\/[a-z-]+'/, "an SDK that is not installed here"],
];

function fail(text) {
    if (!expected.some(([pattern]) => pattern.test(text))) {
        failures.push(text);
    }
}

/** Packages published by older generators: these left `undefined` out of inputs, and took fewer options for outputs. */
const older = ["command", "std"];

function likeOlder(line) {
    return line.replace(/(property\? pulumi\.Input<.*) \| undefined>/, "$1>")
        .replace("opts?: pulumi.InvokeOutputOptions", "opts?: pulumi.InvokeOptions");
}

// Sources of the compiler and of the core SDK are the same for all.
const cache = new Map();

function compile(files) {
    const options = {
        strict: true,
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
        types: ["node"],
        typeRoots: [path.join(modules, "node_modules/@types")],
        skipLibCheck: true,
        noEmit: true,
    };
    const host = ts.createCompilerHost(options);
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, ...rest) => {
        if (!name.includes("/node_modules/")) {
            return read(name, ...rest);
        }
        if (!cache.has(name)) {
            cache.set(name, read(name, ...rest));
        }
        return cache.get(name);
    };
    return ts.createProgram(files, options, host);
}

function generate(schema) {
    const name = path.basename(schema).replace(/\.(json|yaml)$/, "");
    const out = path.join(work, name);
    execFileSync(bin, ["package", "gen-sdk", "--language", "nodejs", "--out", out, schema], { stdio: "pipe" });
    return path.join(out, "nodejs");
}

/** Faults that the compiler finds. */
function faults(program) {
    const diagnostics = ts.getPreEmitDiagnostics(program);
    return diagnostics.map((it) => {
        const place = it.file ? `${path.relative(work, it.file.fileName)}:${it.file.getLineAndCharacterOfPosition(it.start).line + 1}` : "";
        return `${place}: ${ts.flattenDiagnosticMessageText(it.messageText, " ").slice(0, 300)}`;
    });
}

function schemaFiles() {
    const folders = ["", "cases", "cases/parameterized", "cases/programs"];
    return folders.flatMap((folder) => fs.readdirSync(path.join(schemas, folder))
        .filter((name) => /\.(json|yaml)$/.test(name) && name !== "import-states.json")
        .map((name) => path.join(schemas, folder, name))).sort();
}

/** Differences that are meant, with their reasons: [package, pattern, reason]. */
const reasons = fs.readFileSync(path.join(__dirname, "nodejs-differences.txt"), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
        const [name, pattern, reason] = line.split("\t");
        return { name, pattern: new RegExp(pattern), reason, used: 0 };
    });

function compare(name, ours) {
    const folder = path.join(modules, "node_modules/@pulumi", name);
    const theirs = path.join(folder, "index.d.ts");
    const likeThem = (lines) => older.includes(name) ? lines.map(likeOlder) : lines;
    const one = likeThem(surface(ts, ours.program, ours.entry));
    const other = likeThem(surface(ts, compile([theirs]), theirs));
    const differences = [
        ...one.filter((line) => !other.includes(line)).map((line) => `+ ${line}`),
        ...other.filter((line) => !one.includes(line)).map((line) => `- ${line}`),
    ];
    let unexplained = 0;
    for (const difference of differences) {
        const reason = reasons.find((it) => (it.name === "*" || it.name === name) && it.pattern.test(difference));
        if (reason) {
            reason.used += 1;
        } else {
            unexplained += 1;
            failures.push(`${name}: ${difference}`);
        }
        if (isShowing) {
            console.log(`${name}: ${difference}${reason ? `  (${reason.reason})` : ""}`);
        }
    }
    console.log(`${name}: ${other.length} facts, ${differences.length - unexplained} differences with a reason, ${unexplained} without`);
}

let compiled = 0;
for (const schema of schemaFiles()) {
    let folder;
    try {
        folder = generate(schema);
    } catch (error) {
        fail(`${path.basename(schema)}: ${error.stderr ?? error}`);
        continue;
    }
    const files = JSON.parse(fs.readFileSync(path.join(folder, "tsconfig.json"), "utf8")).files;
    const program = compile(files.map((file) => path.join(folder, file)));
    faults(program).forEach(fail);
    compiled += 1;
    const name = path.basename(schema, ".json");
    if (published.includes(name)) {
        compare(name, { program, entry: path.join(folder, "index.ts") });
    }
}
console.log(`${compiled} SDKs compile`);
for (const { name, pattern, used } of reasons) {
    if (used === 0) {
        failures.push(`nodejs-differences.txt: nothing differs in ${name} like ${pattern.source}`);
    }
}
fs.rmSync(work, { recursive: true });
if (failures.length > 0) {
    console.error(failures.join("\n"));
    process.exit(1);
}
