"""The policies of the pack."""

from pulumi_policy import (
    EnforcementLevel,
    PolicyPack,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)


def names_are_short(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
    if len(args.name) > 50:
        report_violation(f"The name {args.name} is too long.")


PolicyPack(
    name="policies",
    enforcement_level=EnforcementLevel.ADVISORY,
    policies=[
        ResourceValidationPolicy(
            name="names-are-short",
            description="Names of resources are no longer than 50 characters.",
            validate=names_are_short,
        ),
    ],
)
