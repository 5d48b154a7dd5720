// The shared rules for Node.js. The packs beside this one say the same in other languages.
"use strict";

const { PolicyPack } = require("@pulumi/policy");

const BUCKET = "aws:s3/bucket:Bucket";
const GROUP = "aws:ec2/securityGroup:SecurityGroup";
const INSTANCE = "aws:ec2/instance:Instance";
const DATABASE = "aws:rds/instance:Instance";
const DEPLOYMENT = "kubernetes:apps/v1:Deployment";
const POLICY = "aws:iam/policy:Policy";

const policies = [];

const isOf = (types, token) =>
    types.some((it) => it === token || (it.endsWith("*") && token.startsWith(it.slice(0, -1))));

/** Adds a policy with a function that returns messages about a resource of one of the types. */
function resource(name, enforcementLevel, types, check, { fix, severity, config } = {}) {
    const skip = (args) => {
        if (types.length > 0 && !isOf(types, args.type)) {
            args.notApplicable();
        }
    };
    policies.push({
        name,
        description: name,
        enforcementLevel,
        severity,
        configSchema: config && { properties: config },
        validateResource: (args, report) => {
            skip(args);
            for (const message of check(args)) {
                report(message);
            }
        },
        remediateResource: fix && ((args) => {
            skip(args);
            return check(args).length > 0 ? fix(args) : undefined;
        }),
    });
}

/** Adds a policy with a function that returns messages about the resources of a stack. */
function stack(name, enforcementLevel, check, config) {
    policies.push({
        name,
        description: name,
        enforcementLevel,
        configSchema: config && { properties: config },
        validateStack: (args, report) => {
            for (const message of check(args)) {
                report(...(Array.isArray(message) ? message : [message]));
            }
        },
    });
}

const when = (condition, message) => (condition ? [message] : []);

resource("deny_public_acl", "remediate", [BUCKET],
    (args) => when((args.props.acl ?? "").startsWith("public"), `${args.name} has the access ${args.props.acl}`),
    { fix: (args) => ({ ...args.props, acl: "private" }) });
resource("deny_unencrypted", "mandatory", [BUCKET],
    (args) => when(!args.props.serverSideEncryptionConfiguration, "encrypt the bucket"));
resource("deny_unversioned", "remediate", [BUCKET],
    (args) => when(!args.props.versioning?.enabled, "switch versioning on"),
    { fix: (args) => ({ ...args.props, versioning: { ...args.props.versioning, enabled: true } }) });
resource("deny_no_team", "remediate", [],
    (args) => when(args.props.tags && !args.props.tags.team, "a tag names the team"), {
        fix: (args) => ({ ...args.props, tags: { ...args.props.tags, team: args.getConfig().team } }),
        config: { team: { type: "string", default: "platform" } },
    });
resource("warn_no_owner", "advisory", [],
    (args) => when(args.props.tags && !args.props.tags.owner, "a tag names the owner"));
resource("deny_bad_name", "mandatory", [],
    (args) => when(!/^[a-z][a-z0-9-]*$/.test(args.name), `${args.name} is no name`));
resource("deny_open_ssh", "mandatory", [GROUP],
    (args) => when((args.props.ingress ?? []).some((it) =>
        it.fromPort <= 22 && 22 <= it.toPort && it.cidrBlocks.includes("0.0.0.0/0")), "port 22 is open for everybody"));
resource("deny_large_instance", "mandatory", [INSTANCE],
    (args) => when(!args.getConfig().allowed.includes(args.props.instanceType),
        `${args.props.instanceType} is not one of ${args.getConfig().allowed.join(", ")}`),
    { config: { allowed: { type: "array", items: { type: "string" }, default: ["t3.micro", "t3.small"] } } });
resource("deny_unprotected", "mandatory", ["aws:rds/*"],
    (args) => when(!args.opts.protect, "protect the database"), { severity: "critical" });
resource("deny_short_retention", "mandatory", [DATABASE],
    (args) => when((args.props.backupRetentionPeriod ?? 0) < args.getConfig().days,
        `keep backups for ${args.getConfig().days} days`),
    { config: { days: { type: "integer", default: 7 } } });
resource("deny_old_tls", "mandatory", [],
    (args) => when(["1.0", "1.1"].includes(args.props.minTlsVersion), "the version of TLS is too old"));

const containers = (args) => args.props.spec.template.spec.containers;

resource("deny_untagged_image", "mandatory", [DEPLOYMENT],
    (args) => containers(args).filter((it) => !it.image.includes(":") || it.image.endsWith(":latest"))
        .map((it) => `${it.name} has an image without a version`));
resource("deny_privileged", "mandatory", [DEPLOYMENT],
    (args) => when(containers(args).some((it) => it.securityContext?.privileged), "a container is privileged"));
resource("warn_no_limits", "advisory", [DEPLOYMENT],
    (args) => when(containers(args).some((it) => !it.resources?.limits), "a container has no limits"));
resource("deny_wildcard", "mandatory", [POLICY],
    (args) => when(args.props.policy.includes('"Action":"*"'), "the policy allows everything"));
resource("deny_other_region", "mandatory", [], (args) => {
    const { region } = args.getConfig();
    return when((args.provider?.props.region ?? region) !== region, `the region is not ${region}`);
}, { config: { region: { type: "string", default: "eu-west-1" } } });
resource("deny_http", "mandatory", ["aws:lb/listener:Listener"],
    (args) => when(args.props.protocol === "HTTP", "use HTTPS"));
resource("deny_plain_password", "mandatory", [],
    (args) => Object.keys(args.props.environment ?? {}).filter((key) => key.includes("PASSWORD"))
        .map((key) => `${key} is in the environment`));
resource("warn_ignored_tags", "advisory", [],
    (args) => when(args.opts.ignoreChanges.includes("tags"), "tags are ignored"));
resource("deny_same_ports", "mandatory", [], (args) => {
    const ports = args.props.ports ?? [];
    return when(new Set(ports).size !== ports.length, "a port occurs twice");
});
resource("deny_weights", "mandatory", [],
    (args) => when(!(args.props.weights ?? []).every((it) => it >= 0 && it <= 100), "weights are between 0 and 100"));
resource("deny_default_network", "mandatory", [],
    (args) => when(args.props.vpcId === "default", "use a network of your own"));
resource("deny_no_description", "mandatory", [GROUP, POLICY],
    (args) => when(!args.props.description, "describe it"));
resource("deny_much_cpu", "mandatory", [], (args) => when(args.props.cpu > 1.5, "too much"));
resource("deny_no_logging", "mandatory", [],
    (args) => when(args.props.settings && !args.props.settings.advanced?.logging?.enabled, "switch logging on"));

const of = (args, token) => args.resources.filter((it) => it.type === token);

stack("stack_deny_many_buckets", "mandatory",
    (args) => when(of(args, BUCKET).length > args.getConfig().most, `there are ${of(args, BUCKET).length} buckets`),
    { most: { type: "integer", default: 2 } });
stack("stack_deny_same_network", "mandatory", (args) => {
    const blocks = of(args, "aws:ec2/vpc:Vpc").map((it) => it.props.cidrBlock);
    return when(new Set(blocks).size !== blocks.length, "two networks have the same addresses");
});
stack("stack_warn_unused_group", "advisory", (args) => {
    const used = new Set(args.resources.flatMap((it) => it.dependencies.map((dependency) => dependency.urn)));
    return of(args, GROUP).filter((it) => !used.has(it.urn)).map((it) => `${it.name} is not used`);
});
stack("stack_deny_no_logs", "mandatory", (args) => {
    const names = of(args, BUCKET).map((it) => it.name);
    return when(names.length > 0 && !names.includes("logs"), "a bucket called logs is missing");
});
stack("stack_warn_orphan_record", "advisory",
    (args) => of(args, "aws:route53/record:Record").filter((it) => it.dependencies.length === 0)
        .map((it) => [`${it.name} depends on nothing`, it.urn]));

new PolicyPack("shared", { policies });
