//! Rules that find what a pack is told of a resource besides its properties.

use plumb_policy::prelude::*;

const TYPE: &str = "simple:index:Resource";
const FOUND: &str = "metadata matched";

/// A rule for the resource called `name`, which reports that it holds.
fn about(
    policy: &str,
    name: &'static str,
    holds: fn(&Resource) -> Result<bool>,
) -> Policy<plumb_policy::OfResource> {
    let description = format!("The metadata of {name} is available");
    Policy::resource(policy, &description)
        .of(TYPE)
        .check(move |resource, report| {
            if resource.name() == name && holds(resource)? {
                report.violation(FOUND);
            }
            Ok(())
        })
}

/// A rule for the stack: the resource called `name` has dependencies.
fn linked(
    policy: &str,
    name: &'static str,
    urns: fn(&Resource) -> &[String],
) -> Policy<plumb_policy::OfStack> {
    let description = format!("The metadata of {name} is available");
    Policy::stack(policy, &description).check(move |stack, report| {
        for resource in stack.of(TYPE).filter(|it| it.name() == name) {
            if urns(resource).iter().any(|it| it.ends_with("::dependency")) {
                report.violation_of(resource.urn(), FOUND);
            }
        }
        Ok(())
    })
}

fn has_value(names: &[String]) -> bool {
    names.iter().any(|it| it == "value")
}

fn main() -> std::process::ExitCode {
    Pack::new("resource-metadata", "1.0.0")
        .policy(about("name-type-urn-props", "identity", |it| {
            Ok(it.get("value")? == Some(true) && it.urn().ends_with("::identity"))
        }))
        .policy(about("protect", "protected", |it| Ok(it.options().protect)))
        .policy(about("ignore-changes", "ignoreChanges", |it| {
            Ok(has_value(&it.options().ignore_changes))
        }))
        .policy(about(
            "delete-before-replace",
            "deleteBeforeReplace",
            |it| Ok(it.options().delete_before_replace == Some(true)),
        ))
        .policy(about("additional-secret-outputs", "secretOutput", |it| {
            Ok(has_value(&it.options().additional_secret_outputs))
        }))
        .policy(about("custom-timeouts", "customTimeouts", |it| {
            Ok(it
                .options()
                .timeouts
                .get("create")
                .is_some_and(|it| (it - 300.0).abs() < 1e-9))
        }))
        .policy(about("provider", "explicitProvider", |it| {
            Ok(it
                .provider()
                .is_some_and(|it| it.token == "pulumi:providers:simple" && it.name == "prov"))
        }))
        .policy(about("parent", "child", |it| {
            Ok(it.parent().ends_with("::parent"))
        }))
        .policy(linked("dependencies", "dependsOn", |it| it.dependencies()))
        .policy(linked(
            "property-dependencies",
            "propertyDependency",
            |it| it.dependencies_of("value"),
        ))
        .serve()
}
