"use strict";
// Loaded before the SDK.
//
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
