import { PolicyPack } from "@pulumi/policy";

new PolicyPack("policies", {
    policies: [
        {
            name: "names-are-short",
            description: "Names of resources are no longer than 50 characters.",
            enforcementLevel: "advisory",
            validateResource: (args, reportViolation) => {
                if (args.name.length > 50) {
                    reportViolation(`The name ${args.name} is too long.`);
                }
            },
        },
    ],
});
