//! DESTROY: destroys that run the program, so that providers have the settings of now.
//!
//! Where a story is about shapes that are hard to keep valid, the world checks every state on the way.

use plumb_deploy::target::UrnSet;
use plumb_resource::provider::{PluginSpec, ProviderCall};
use plumb_resource::{AliasParent, AliasSpec};
use plumb_value::PropertyMap;

use crate::world::{Ran, Res, World, component, for_orders, provider, read, res, targets};

fn destroy(world: &mut World, program: &[Res]) -> Ran {
    let ran = world.destroy_with(program, |_| {});
    ran.succeeded();
    assert!(world.snapshot.resources.is_empty() && world.cloud.owned().next().is_none());
    ran
}

/// DESTROY-01
#[test]
fn what_is_recorded_is_deleted_whatever_the_program_says() {
    for_orders(|world| {
        world
            .up(&[res("a").with("value", "1"), res("gone")])
            .succeeded();
        world.cloud.take_calls();
        let ran = destroy(world, &[res("a").with("value", "2")]);
        let recorded = PropertyMap::new().with("value", "1");
        assert_eq!(*ran.reply("a").outputs, recorded);
        let ProviderCall::Delete(asked) = world.cloud.request("delete", "a") else {
            panic!("a delete is a delete");
        };
        assert_eq!((&*asked.inputs, &*asked.outputs), (&recorded, &recorded));
        let mut calls = world.cloud.take_changes();
        calls.sort();
        assert_eq!(calls, ["delete a", "delete gone"]);
    });
}

/// DESTROY-02
#[test]
fn only_targets_are_deleted() {
    for_orders(|world| {
        let program = [res("a"), res("b")];
        world.up(&program).succeeded();
        world
            .destroy_with(&program, |options| options.targets = targets(&["a"]))
            .succeeded();
        assert_eq!(world.names(), ["b"]);
        destroy(world, &program);
    });
}

/// DESTROY-03
#[test]
fn what_is_registered_is_deleted_by_the_default_provider_of_now() {
    for_orders(|world| {
        let version = |major| PluginSpec {
            version: Some(semver::Version::new(major, 0, 0)),
            ..PluginSpec::named("test")
        };
        world.packages = vec![version(1)];
        world.up(&[res("a"), res("b")]).succeeded();
        world.packages = vec![version(2)];
        world.cloud.take_calls();
        destroy(world, &[res("a")]);
        let version = |name| world.cloud.setting("delete", name, "version");
        assert_eq!((version("a"), version("b")), (Some("2.0.0"), Some("1.0.0")));
    });
}

/// DESTROY-04
#[test]
fn an_explicit_provider_has_the_settings_of_now() {
    for_orders(|world| {
        let p = |region: &str| provider("p").with("region", region);
        let on_p = |name: &str| res(name).provider("p");
        world.up(&[p("1"), on_p("a"), on_p("b")]).succeeded();
        world.cloud.take_calls();
        destroy(world, &[p("2"), on_p("a")]);
        let region = |name| world.cloud.setting("delete", name, "region");
        assert_eq!((region("a"), region("b")), (Some("2"), Some("2")));
    });
}

/// DESTROY-05
#[test]
fn components_go_after_what_is_in_them() {
    for_orders(|world| {
        let program = [component("g"), res("a").parent("g")];
        world.up(&program).succeeded();
        let ran = destroy(world, &program);
        assert_eq!(
            (ran.steps("a"), ran.steps("g")),
            (vec!["same", "delete"], vec!["same", "delete"])
        );
    });
}

/// DESTROY-06
#[test]
fn what_depends_on_something_new_is_deleted_once() {
    for_orders(|world| {
        let before = [component("g"), res("a").parent("g").with("value", "1")];
        world.up(&before).succeeded();
        world.cloud.take_calls();
        let program = [
            res("new"),
            component("g").depends_on("new"),
            res("a").parent("g").uses("value", "new"),
        ];
        let ran = destroy(world, &program);
        let recorded = PropertyMap::new().with("value", "1");
        assert_eq!(*ran.reply("a").outputs, recorded);
        assert_eq!(world.cloud.take_changes(), ["delete a"]);
    });
}

/// DESTROY-07
#[test]
fn what_moved_below_something_new_is_deleted() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.cloud.take_calls();
        let former = AliasSpec {
            parent: AliasParent::None,
            ..AliasSpec::default()
        };
        destroy(world, &[res("new"), res("a").parent("new").former(former)]);
        assert_eq!(world.cloud.take_changes(), ["delete a"]);
    });
}

/// DESTROY-07: what knows it by its former name goes first.
#[test]
fn what_was_renamed_goes_after_what_depends_on_it() {
    for_orders(|world| {
        world
            .up(&[res("a"), res("user").depends_on("a")])
            .succeeded();
        world.cloud.take_calls();
        destroy(world, &[res("b").alias("a")]);
        assert_eq!(world.cloud.take_changes(), ["delete user", "delete b"]);
    });
}

/// DESTROY-08
#[test]
fn what_was_only_read_is_forgotten() {
    for_orders(|world| {
        let object = PropertyMap::new();
        world.cloud.objects.insert("kept-1".to_owned(), object);
        let program = [read("x", "kept-1"), res("a")];
        world.up(&program).succeeded();
        world.cloud.take_calls();
        destroy(world, &program);
        assert_eq!(world.cloud.take_changes(), ["delete a"]);
    });
}

/// DESTROY-10, DESTROY-11
#[test]
fn a_protected_resource_keeps_what_it_needs() {
    for program in [
        [
            provider("p"),
            res("a").provider("p").protect(true),
            res("b"),
        ],
        [
            provider("p"),
            component("a").depends_on("p").protect(true),
            res("b"),
        ],
    ] {
        for_orders(|world| {
            world.up(&program).succeeded();
            let ran = world.destroy_with(&program, |_| {});
            ran.failed("::a\" cannot be deleted");
            assert_eq!(world.names(), ["a"]);
            assert_eq!(world.states("p").len(), 1);
            world
                .destroy_with(&program, |options| options.ignore_protect = true)
                .succeeded();
            assert!(world.snapshot.resources.is_empty());
        });
    }
}

fn aliased(name: &str) -> AliasSpec {
    AliasSpec {
        name: Some(name.into()),
        ..AliasSpec::default()
    }
}

/// DESTROY-09
#[test]
fn a_renamed_child_of_a_component_with_an_old_copy() {
    for_orders(|world| {
        let before = [component("g"), res("a").parent("g"), res("other")];
        world.up(&before).succeeded();
        world.add_old_copy("g");
        let program = [component("g"), res("b").parent("g").former(aliased("a"))];
        let target = world.state("a").urn.to_string();
        world
            .destroy_with(&program, |options| options.targets = UrnSet::new([target]))
            .succeeded();
        assert_eq!(world.names(), ["g", "g", "other"]);
        destroy(world, &program);
    });
}

/// DESTROY-12: the provider lives in the target since now, and is not a target itself.
#[test]
fn a_target_that_a_provider_has_moved_into() {
    for_orders(|world| {
        let before = [res("a"), provider("p"), res("b").provider("p")];
        world.up(&before).succeeded();
        let former = AliasSpec {
            parent: AliasParent::None,
            ..AliasSpec::default()
        };
        let moved = provider("p").parent("a").former(former);
        let program = [res("a"), moved, res("b").provider("p")];
        let ran = world.destroy_with(&program, |options| options.targets = targets(&["a"]));
        ran.failed("::p' will be destroyed but was not specified in --target list.");
        assert_eq!(world.names(), ["a", "b"]);
        world
            .destroy_with(&program, |options| {
                options.targets = targets(&["a"]);
                options.target_dependents = true;
            })
            .succeeded();
        assert!(world.names().is_empty());
    });
}

/// DESTROY-13
#[test]
fn a_target_that_is_a_provider_below_a_renamed_component() {
    for_orders(|world| {
        let before = [
            component("g"),
            provider("p").parent("g"),
            res("b").provider("p"),
        ];
        world.up(&before).succeeded();
        let program = [
            component("h").former(aliased("g")),
            provider("p").parent("h"),
            res("b").provider("p"),
        ];
        let target = UrnSet::new([world.state("p").urn.to_string()]);
        let ran = world.destroy_with(&program, |options| options.targets = target.clone());
        ran.failed("::b' will be destroyed but was not specified in --target list.");
        world
            .destroy_with(&program, |options| {
                options.targets = target.clone();
                options.target_dependents = true;
            })
            .succeeded();
        assert_eq!(world.names(), ["g"]);
        destroy(world, &program);
    });
}

/// DESTROY-14
#[test]
fn old_copies_that_depend_on_old_copies() {
    for_orders(|world| {
        let program = [res("a"), res("b").depends_on("a")];
        world.up(&program).succeeded();
        world.add_old_copy("b");
        world.add_old_copy("a");
        let ran = world.destroy_with(&program, |options| options.refresh = true);
        ran.succeeded();
        assert!(world.snapshot.resources.is_empty() && world.cloud.objects.is_empty());
    });
}

/// DESTROY-15
#[test]
fn a_component_that_refers_to_a_renamed_provider() {
    for_orders(|world| {
        let group = |name: &'static str| {
            let group = component("g").depends_on(name);
            group.tune(move |request, known| request.provider = known.reference(name).into())
        };
        world.up(&[provider("p"), group("p")]).succeeded();
        destroy(world, &[provider("q").alias("p"), group("q")]);
    });
}

/// DESTROY-16
#[test]
fn a_provider_that_moved_while_everything_is_refreshed() {
    for_orders(|world| {
        let before = [
            provider("p"),
            res("a").provider("p"),
            res("b").provider("p"),
        ];
        world.up(&before).succeeded();
        let former = AliasSpec {
            parent: AliasParent::None,
            ..AliasSpec::default()
        };
        let program = [
            component("g"),
            provider("p").parent("g").former(former),
            res("a").provider("p"),
            res("b").provider("p"),
        ];
        world
            .destroy_with(&program, |options| {
                options.refresh = true;
                options.targets = targets(&["a"]);
            })
            .succeeded();
        assert!(world.states("a").is_empty() && world.states("b").len() == 1);
        destroy(world, &program);
    });
}

/// A resource recorded early because another one needs it is still deleted only once.
#[test]
fn what_is_passed_on_and_then_registered_is_deleted_once() {
    for_orders(|world| {
        let needed = || res("needed").with("value", "1");
        world
            .up(&[needed(), res("user").uses("value", "needed")])
            .succeeded();
        let moved = res("user").uses("value", "new");
        world
            .destroy_with(&[res("new"), moved, needed()], |_| {})
            .succeeded();
        assert!(world.snapshot.resources.is_empty() && world.cloud.objects.is_empty());
    });
}
