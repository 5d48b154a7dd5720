"use strict";
// The shapes of programs that `benches/overhead` measures, for Node.js.
const fs = require("fs");
const { performance } = require("perf_hooks");
const pulumi = require("@pulumi/pulumi");

const CHILDREN = 9;

class Part extends pulumi.ComponentResource {
    constructor(name) {
        super("bench:index:Part", name);
        this.registerOutputs({ label: name });
    }
}

function thing(name, value, parent) {
    return new pulumi.CustomResource("pulumi:index:Stash", name, { input: value }, { parent });
}

const shapes = {
    components(count) {
        for (let index = 0; index < count; index++) {
            new Part(`part-${index}`);
        }
    },
    resources(count) {
        for (let index = 0; index < count; index++) {
            thing(`thing-${index}`, `value ${index}`);
        }
    },
    // Components with children, most of which use something of the first one.
    mixed(count) {
        for (let index = 0; index < count / (CHILDREN + 1); index++) {
            const part = new Part(`part-${index}`);
            const first = thing(`thing-${index}-0`, `value ${index}`, part);
            for (let child = 1; child < CHILDREN; child++) {
                const value = first.urn.apply((urn) => `beside ${urn}`);
                thing(`thing-${index}-${child}`, value, part);
            }
        }
    },
    // Notes when the first registration has been answered.
    one() {
        new Part("part").urn.apply(() => {
            const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
            fs.writeFileSync(process.env.BENCH_NOTE, String(now));
        });
    },
};

shapes[process.env.BENCH_SHAPE](Number(process.env.BENCH_COUNT));
