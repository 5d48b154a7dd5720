//! ALIAS: resources that were called something else before.

use plumb_resource::{AliasParent, AliasSpec, TypeToken, Urn};

use crate::world::{Fault, component, for_orders, provider, res};

fn of_type(token: &str) -> AliasSpec {
    AliasSpec {
        type_token: Some(TypeToken::new(token)),
        ..AliasSpec::default()
    }
}

fn without_parent() -> AliasSpec {
    AliasSpec {
        parent: AliasParent::None,
        ..AliasSpec::default()
    }
}

/// ALIAS-04: in either order, and the state keeps what came first.
#[test]
fn a_former_name_that_is_registered_itself_cannot_be_claimed() {
    let claimed_last = [res("a"), res("b").alias("a").after("a")];
    let claimed_first = [res("b").alias("a"), res("a").after("b")];
    for (program, kept) in [(claimed_last, "a"), (claimed_first, "b")] {
        for_orders(|world| {
            world.up(&[res("a")]).succeeded();
            let ran = world.up(&program);
            ran.failed("Duplicate resource");
            assert_eq!(world.names(), [kept]);
        });
    }
}

/// ALIAS-06
#[test]
fn a_component_becomes_a_custom_resource_and_back() {
    for_orders(|world| {
        let as_component = component("a").former(of_type("test:index:Thing"));
        let as_custom = res("a").former(of_type("test:index:Group"));
        world.up(&[component("a")]).succeeded();
        for (program, is_custom) in [([as_custom], true), ([as_component], false)] {
            let ran = world.up(&program);
            ran.succeeded();
            let steps = ["create-replacement", "replace", "delete-replaced"];
            assert_eq!(ran.steps("a"), steps);
            assert_eq!(world.state("a").is_custom(), is_custom);
            assert_eq!(world.state("a").provider.is_some(), is_custom);
            let is_provider = |urn: &Urn| urn.type_token().is_provider();
            let mut urns = world.snapshot.resources.iter().map(|state| &state.urn);
            assert_eq!(urns.any(is_provider), is_custom);
            assert_eq!(world.up(&program).counts(), [("same", 1)]);
        }
    });
}

/// ALIAS-09: the parent moved and the child was not heard of any more.
#[test]
fn a_child_follows_its_parent_even_when_the_program_fails_before_it() {
    for_orders(|world| {
        let child = || res("child").parent("group");
        world.up(&[component("group"), child()]).succeeded();
        let moved = || component("group").parent("top").former(without_parent());
        world.up_and_fail(&[component("top"), moved()]);
        let (group, child_state) = (world.state("group"), world.state("child"));
        assert_eq!(child_state.parent.as_ref(), Some(&group.urn));
        assert_eq!(
            child_state.urn.qualified_type(),
            "test:index:Group$test:index:Group$test:index:Thing"
        );
        world.cloud.take_calls();
        let ran = world.up(&[component("top"), moved(), child()]);
        assert_eq!(ran.counts(), [("same", 3)]);
        assert!(world.cloud.take_changes().is_empty());
    });
}

/// ALIAS-05, ALIAS-10: aliases are not kept, so that what is left over of a renamed resource is no claim to its old name.
#[test]
fn an_old_name_is_free_although_a_copy_is_still_to_be_deleted() {
    for_orders(|world| {
        world.up(&[res("a").with("replace", "1")]).succeeded();
        let renamed = || res("b").with("replace", "2").alias("a");
        world.cloud.fail("delete", "a", Fault::Clean);
        world.cloud.fail("delete", "b", Fault::Clean);
        world.up(&[renamed()]).failed("failed");
        let ran = world.up(&[res("b").with("replace", "2"), res("a")]);
        ran.failed("failed");
        assert_eq!(
            (ran.steps("a"), ran.steps("b")[0]),
            (vec!["create"], "same")
        );
        world.cloud.behave();
        world
            .up(&[res("b").with("replace", "2"), res("a")])
            .succeeded();
        assert_eq!(world.names(), ["a", "b"]);
        assert!(
            world
                .snapshot
                .resources
                .iter()
                .all(|it| it.aliases.is_empty())
        );
    });
}

/// ALIAS-12, ALIAS-13, ALIAS-14
#[test]
fn references_follow_a_renamed_resource() {
    let users = [
        res("user").parent("a"),
        res("user").depends_on("a"),
        res("user").uses("value", "a"),
        res("user").deleted_with("a"),
    ];
    for user in users {
        for_orders(|world| {
            world
                .up(&[res("a").with("value", "1"), user.clone()])
                .succeeded();
            let renamed = res("b").with("value", "1").alias("a");
            // The user is not registered, so that only normalization can have renamed what it refers to.
            world.up_and_fail(&[renamed]);
            let references: Vec<&str> = world.state("user").references().map(Urn::name).collect();
            let is_renamed = references.iter().all(|name| *name == "b");
            assert!(!references.is_empty() && is_renamed, "{references:?}");
        });
    }
}

/// ALIAS-11
#[test]
fn resources_follow_a_renamed_provider() {
    for_orders(|world| {
        world
            .up(&[provider("p"), res("user").provider("p")])
            .succeeded();
        world.up_and_fail(&[provider("q").alias("p")]);
        let reference = world.state("user").provider.clone();
        assert_eq!(
            reference.map(|it| it.urn().clone()),
            Some(world.state("q").urn.clone())
        );
    });
}
