"use strict";
// Loaded before the SDK.

const { Module, enableCompileCache } = require("module");

// What the interpreter compiles is kept beside this file, from Node.js 22.8 on: that saves a third of the time before a
// program starts. Who measures which code is run needs it compiled anew.
if (!process.env.NODE_V8_COVERAGE) {
    enableCompileCache?.(`${__dirname}/compiled`);
}

// Parts that the SDK loads for a few programs only are loaded when they are first used, which saves another third. Who asks
// for what is loaded later:
const later = [
    [/[\\/]cmd[\\/][^\\/]+[\\/]tracing\.js$/, /^@opentelemetry\/(?!api$)/],
    [/[\\/]runtime[\\/]closure[\\/]codePaths\.js$/, /^(@npmcli\/arborist|normalize-package-data)$/],
];
const sdk = /[\\/]@pulumi[\\/]pulumi[\\/]/;

const load = Module._load;
Module._load = function (name, parent, ...more) {
    const file = parent?.filename ?? "";
    if (!sdk.test(file) || !later.some(([asking, asked]) => asking.test(file) && asked.test(name))) {
        return Reflect.apply(load, this, [name, parent, ...more]);
    }
    let loaded;
    return standIn(() => (loaded ??= Reflect.apply(load, this, [name, parent, ...more])));
};

// Something that behaves like the module that `get` answers. Its members may be taken from it before it is loaded.
function standIn(get) {
    const members = new Map();
    return new Proxy(
        {},
        {
            get(_, name) {
                if (name === "__esModule") {
                    return true;
                }
                if (!members.has(name)) {
                    members.set(name, member(() => (name === "default" && !get().__esModule ? get() : get()[name])));
                }
                return members.get(name);
            },
        },
    );
}

// The same for a function or a class.
function member(get) {
    return new Proxy(function () {}, {
        apply: (_, self, args) => Reflect.apply(get(), self, args),
        construct: (_, args) => Reflect.construct(get(), args),
        get: (_, name) => Reflect.get(get(), name),
    });
}

// `util.inspect` with colours never ends for an error whose stack names a file directly below a scope, as in
// `node_modules/@scope/file.ts:1:2`: Node.js searches for the end of a package's name that is not there. The source maps
// of the SDK make such names, and the SDK shows every error that a program dies of in colours. Such errors are shown
// without them.
const util = require("util");

const endless = /[\\/]node_modules[\\/]@[^\\/\n]*[\\/][^\\/\n]*$/m;

util.inspect = new Proxy(util.inspect, {
    apply(inspect, self, [value, options, ...more]) {
        if (value instanceof Error && options?.colors) {
            const plain = inspect(value, { ...options, colors: false });
            if (endless.test(plain)) {
                return plain;
            }
        }
        return Reflect.apply(inspect, self, [value, options, ...more]);
    },
});
