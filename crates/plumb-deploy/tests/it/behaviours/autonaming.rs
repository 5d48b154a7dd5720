//! AUTONAME: names that the stack's settings ask for.

use plumb_deploy::autonaming::{Naming, NamingRules};
use plumb_deploy::setup::Options;
use plumb_resource::provider::{Autonaming, CheckResponse, ProviderCall, ProviderReply};

use super::providers::compares;
use crate::world::{World, component, for_orders, provider, res};

fn rule(naming: Naming) -> impl Fn(&mut Options) {
    move |options| {
        options.naming = NamingRules {
            general: naming.clone(),
            ..NamingRules::default()
        }
    }
}

fn pattern(pattern: &str) -> Naming {
    Naming::Pattern {
        pattern: pattern.into(),
        is_enforced: false,
    }
}

/// How Check was told to name `a`, in order.
fn asked(world: &World) -> Vec<Option<Autonaming>> {
    world
        .cloud
        .requests
        .iter()
        .filter_map(|(_, call)| match call {
            ProviderCall::Check(check) if check.urn.name() == "a" => Some(check.autonaming.clone()),
            _ => None,
        })
        .collect()
}

/// Creates and deletes among the calls for `a`.
fn made_and_gone(world: &mut World) -> Vec<String> {
    let mut calls = world.cloud.take_calls();
    calls.retain(|call| call == "create a" || call == "delete a");
    calls
}

/// AUTONAME-01: the provider hears of the name, and what always has the same name goes before its replacement comes.
#[test]
fn a_fixed_name_deletes_before_it_replaces() {
    for_orders(|world| {
        let program = |value: &str| [component("group"), res("a").with("replace", value)];
        let verbatim = rule(Naming::Verbatim);
        world.up_with(&program("1"), &verbatim).succeeded();
        let name = Some(Autonaming::Enforce("a".into()));
        assert_eq!(asked(world), std::slice::from_ref(&name));
        world.cloud.take_calls();
        world.up_with(&program("2"), &verbatim).succeeded();
        assert_eq!(
            asked(world),
            [name.clone(), name],
            "and again for the replacement"
        );
        assert_eq!(made_and_gone(world), ["delete a", "create a"]);
        let chance = rule(pattern("x-${name}-${hex(4)}"));
        world.up_with(&program("3"), chance).succeeded();
        assert_eq!(made_and_gone(world), ["create a", "delete a"]);
    });
}

/// AUTONAME-01: a rule that makes the same name in every run holds for providers too, so their users go before them.
#[test]
fn a_provider_under_a_fixed_name_is_replaced_after_its_users_are_deleted() {
    for_orders(|world| {
        let program = |x: &str| {
            [
                provider("p").with("x", x),
                res("a").provider("p"),
                res("b").provider("p"),
            ]
        };
        let verbatim = rule(Naming::Verbatim);
        world.up_with(&program("1"), &verbatim).succeeded();
        compares(world, "p", Some("x"), false);
        world.cloud.take_changes();
        let ran = world.up_with(&program("2"), &verbatim);
        ran.succeeded();
        assert_eq!(
            ran.steps("p"),
            ["delete-replaced", "replace", "create-replacement"]
        );
        let mut changes = world.cloud.take_changes();
        changes[..2].sort();
        changes[2..].sort();
        assert_eq!(changes, ["delete a", "delete b", "create a", "create b"]);
    });
}

/// AUTONAME-01: what the program says of the order counts for less than that two names would collide.
#[test]
fn a_fixed_name_overrules_the_program() {
    for_orders(|world| {
        let program = |value: &str| [res("a").with("replace", value).delete_before_replace(false)];
        let fixed = rule(pattern("x-${name}"));
        world.up_with(&program("1"), &fixed).succeeded();
        assert_eq!(asked(world), [Some(Autonaming::Propose("x-a".into()))]);
        world.cloud.take_calls();
        world.up_with(&program("2"), &fixed).succeeded();
        assert_eq!(made_and_gone(world), ["delete a", "create a"]);
    });
}

/// AUTONAME-01: both checks of a replacement get the same name by chance, another run gets another.
#[test]
fn chance_belongs_to_one_registration() {
    for_orders(|world| {
        let chance = rule(pattern("${hex(16)}"));
        world
            .up_with(&[res("a").with("replace", "1")], &chance)
            .succeeded();
        world.cloud.take_calls();
        world
            .up_with(
                &[res("b"), res("a").with("replace", "2").after("b")],
                &chance,
            )
            .succeeded();
        let names = asked(world);
        assert_eq!(names.len(), 2);
        assert_eq!(names[0], names[1]);
    });
}

/// A provider that cannot name resources gives one warning, if the setting is for this provider or enforces the name.
#[test]
fn a_provider_that_does_not_understand_is_told_of() {
    for_orders(|world| {
        world.cloud.on("check", "*", |call| {
            let ProviderCall::Check(check) = call else {
                return None;
            };
            Some(Ok(ProviderReply::Checked(CheckResponse {
                inputs: Some(check.new_inputs.clone()),
                ignored_autonaming: check.autonaming.is_some(),
                ..CheckResponse::default()
            })))
        });
        let program = |value: &str| [res("a").with("replace", value)];
        let quiet = world.up_with(&program("1"), rule(Naming::Verbatim));
        quiet.succeeded();
        assert_eq!(quiet.warnings, [""; 0]);
        let insisting = Naming::Pattern {
            pattern: "${name}-${num(3)}".into(),
            is_enforced: true,
        };
        let ran = world.up_with(&program("2"), rule(insisting));
        ran.succeeded();
        assert_eq!(
            ran.warnings,
            [
                "urn:pulumi:dev::proj::test:index:Thing::a resource has a custom autonaming setting but the provider does \
              not support autonaming configuration, consider upgrading to a newer version"
            ]
        );
    });
}
