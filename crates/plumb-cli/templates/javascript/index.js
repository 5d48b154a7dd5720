"use strict";
const pulumi = require("@pulumi/pulumi");

// Resources are declared here; what is exported are the outputs of the stack.
exports.greeting = `Hello from ${pulumi.getProject()} in ${pulumi.getStack()}`;
