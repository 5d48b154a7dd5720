import * as pulumi from "@pulumi/pulumi";

// Resources are declared here; what is exported are the outputs of the stack.
export const greeting = `Hello from ${pulumi.getProject()} in ${pulumi.getStack()}`;
