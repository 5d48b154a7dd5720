"""The shared rules in Python. The packs beside this one say the same in other languages."""

import re

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyPack,
    ResourceValidationPolicy,
    Severity,
    StackValidationPolicy,
)

BUCKET = "aws:s3/bucket:Bucket"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
INSTANCE = "aws:ec2/instance:Instance"
DATABASE = "aws:rds/instance:Instance"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POLICY = "aws:iam/policy:Policy"

POLICIES = []


def schema(**settings):
    return PolicyConfigSchema(properties=settings) if settings else None


def resource(level, *types, severity=None, fix=None, **settings):
    """Makes a policy of a function that yields messages about a resource of one of the types."""

    def policy(check):
        def validate(args, report):
            if types and not any(args.resource_type == it or (it[-1] == "*" and args.resource_type.startswith(it[:-1]))
                                 for it in types):
                args.not_applicable()
            for message in check(args):
                report(message)

        def remediate(args):
            if types and args.resource_type not in types:
                args.not_applicable()
            return fix(args) if list(check(args)) else None

        POLICIES.append(ResourceValidationPolicy(
            check.__name__, check.__name__, validate, enforcement_level=level, severity=severity,
            config_schema=schema(**settings), remediate=remediate if fix else None))
        return check

    return policy


def stack(level, **settings):
    """Makes a policy of a function that yields messages about the resources of a stack."""

    def policy(check):
        def validate(args, report):
            for message in check(args):
                report(*message) if isinstance(message, tuple) else report(message)

        POLICIES.append(StackValidationPolicy(check.__name__, check.__name__, validate, enforcement_level=level,
                                              config_schema=schema(**settings)))
        return check

    return policy


MANDATORY, ADVISORY, REMEDIATE = EnforcementLevel.MANDATORY, EnforcementLevel.ADVISORY, EnforcementLevel.REMEDIATE


@resource(REMEDIATE, BUCKET, fix=lambda args: {**args.props, "acl": "private"})
def deny_public_acl(args):
    if str(args.props.get("acl", "")).startswith("public"):
        yield f"{args.name} has the access {args.props['acl']}"


@resource(MANDATORY, BUCKET)
def deny_unencrypted(args):
    if "serverSideEncryptionConfiguration" not in args.props:
        yield "encrypt the bucket"


@resource(REMEDIATE, BUCKET, fix=lambda args: {**args.props, "versioning": {**args.props.get("versioning", {}),
                                                                            "enabled": True}})
def deny_unversioned(args):
    if not args.props.get("versioning", {}).get("enabled"):
        yield "switch versioning on"


@resource(REMEDIATE, team={"type": "string", "default": "platform"},
          fix=lambda args: {**args.props, "tags": {**args.props["tags"], "team": args.get_config()["team"]}})
def deny_no_team(args):
    if "tags" in args.props and "team" not in args.props["tags"]:
        yield "a tag names the team"


@resource(ADVISORY)
def warn_no_owner(args):
    if "tags" in args.props and "owner" not in args.props["tags"]:
        yield "a tag names the owner"


@resource(MANDATORY)
def deny_bad_name(args):
    if not re.search("^[a-z][a-z0-9-]*$", args.name):
        yield f"{args.name} is no name"


@resource(MANDATORY, GROUP)
def deny_open_ssh(args):
    if any(it["fromPort"] <= 22 <= it["toPort"] and "0.0.0.0/0" in it["cidrBlocks"]
           for it in args.props.get("ingress", [])):
        yield "port 22 is open for everybody"


@resource(MANDATORY, INSTANCE, allowed={"type": "array", "items": {"type": "string"},
                                        "default": ["t3.micro", "t3.small"]})
def deny_large_instance(args):
    allowed = args.get_config()["allowed"]
    if args.props["instanceType"] not in allowed:
        yield f"{args.props['instanceType']} is not one of {', '.join(allowed)}"


@resource(MANDATORY, "aws:rds/*", severity=Severity.CRITICAL)
def deny_unprotected(args):
    if not args.opts.protect:
        yield "protect the database"


@resource(MANDATORY, DATABASE, days={"type": "integer", "default": 7})
def deny_short_retention(args):
    days = int(args.get_config()["days"])
    if args.props.get("backupRetentionPeriod", 0) < days:
        yield f"keep backups for {days} days"


@resource(MANDATORY)
def deny_old_tls(args):
    if args.props.get("minTlsVersion") in ("1.0", "1.1"):
        yield "the version of TLS is too old"


def containers(args):
    return args.props["spec"]["template"]["spec"]["containers"]


@resource(MANDATORY, DEPLOYMENT)
def deny_untagged_image(args):
    for it in containers(args):
        if ":" not in it["image"] or it["image"].endswith(":latest"):
            yield f"{it['name']} has an image without a version"


@resource(MANDATORY, DEPLOYMENT)
def deny_privileged(args):
    if any(it.get("securityContext", {}).get("privileged") for it in containers(args)):
        yield "a container is privileged"


@resource(ADVISORY, DEPLOYMENT)
def warn_no_limits(args):
    if any("limits" not in it.get("resources", {}) for it in containers(args)):
        yield "a container has no limits"


@resource(MANDATORY, POLICY)
def deny_wildcard(args):
    if '"Action":"*"' in args.props["policy"]:
        yield "the policy allows everything"


@resource(MANDATORY, region={"type": "string", "default": "eu-west-1"})
def deny_other_region(args):
    region = args.get_config()["region"]
    if args.provider and args.provider.props.get("region", region) != region:
        yield f"the region is not {region}"


@resource(MANDATORY, "aws:lb/listener:Listener")
def deny_http(args):
    if args.props["protocol"] == "HTTP":
        yield "use HTTPS"


@resource(MANDATORY)
def deny_plain_password(args):
    for key in args.props.get("environment", {}):
        if "PASSWORD" in key:
            yield f"{key} is in the environment"


@resource(ADVISORY)
def warn_ignored_tags(args):
    if "tags" in args.opts.ignore_changes:
        yield "tags are ignored"


@resource(MANDATORY)
def deny_same_ports(args):
    ports = args.props.get("ports", [])
    if len(ports) != len(set(ports)):
        yield "a port occurs twice"


@resource(MANDATORY)
def deny_weights(args):
    if not all(0 <= it <= 100 for it in args.props.get("weights", [])):
        yield "weights are between 0 and 100"


@resource(MANDATORY)
def deny_default_network(args):
    if args.props.get("vpcId") == "default":
        yield "use a network of your own"


@resource(MANDATORY, GROUP, POLICY)
def deny_no_description(args):
    if not args.props.get("description"):
        yield "describe it"


@resource(MANDATORY)
def deny_much_cpu(args):
    if args.props.get("cpu", 0) > 1.5:
        yield "too much"


@resource(MANDATORY)
def deny_no_logging(args):
    if "settings" in args.props:
        if not args.props["settings"].get("advanced", {}).get("logging", {}).get("enabled"):
            yield "switch logging on"


def of(args, token):
    return [it for it in args.resources if it.resource_type == token]


@stack(MANDATORY, most={"type": "integer", "default": 2})
def stack_deny_many_buckets(args):
    if len(of(args, BUCKET)) > args.get_config()["most"]:
        yield f"there are {len(of(args, BUCKET))} buckets"


@stack(MANDATORY)
def stack_deny_same_network(args):
    blocks = [it.props["cidrBlock"] for it in of(args, "aws:ec2/vpc:Vpc")]
    if len(blocks) != len(set(blocks)):
        yield "two networks have the same addresses"


@stack(ADVISORY)
def stack_warn_unused_group(args):
    used = {dependency.urn for it in args.resources for dependency in it.dependencies}
    for group in of(args, GROUP):
        if group.urn not in used:
            yield f"{group.name} is not used"


@stack(MANDATORY)
def stack_deny_no_logs(args):
    names = [it.name for it in of(args, BUCKET)]
    if names and "logs" not in names:
        yield "a bucket called logs is missing"


@stack(ADVISORY)
def stack_warn_orphan_record(args):
    for it in of(args, "aws:route53/record:Record"):
        if not it.dependencies:
            yield f"{it.name} depends on nothing", it.urn


PolicyPack("shared", policies=POLICIES)
