import * as pulumi from "@pulumi/pulumi";

/** What a greeting is made of. */
export interface GreetingArgs {
    /** Who is greeted. */
    who: pulumi.Input<string>;
}

/** A greeting. Resources that belong together are declared here, each with `{ parent: this }`. */
export class Greeting extends pulumi.ComponentResource {
    /** The text. */
    public readonly text: pulumi.Output<string>;

    constructor(name: string, args: GreetingArgs, opts?: pulumi.ComponentResourceOptions) {
        super("${PROJECT}:index:Greeting", name, args, opts);
        this.text = pulumi.interpolate`Hello, ${args.who}`;
        this.registerOutputs({ text: this.text });
    }
}
