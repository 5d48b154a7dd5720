//! UPD: updates of states that are hard to keep valid. The world checks every state on the way.

use plumb_deploy::target::UrnSet;
use plumb_resource::{AliasParent, AliasSpec, TypeToken, Urn};
use plumb_value::PropertyMap;

use crate::world::{Res, component, for_orders, provider, read, res, targets, urn};

fn without_parent() -> AliasSpec {
    AliasSpec {
        parent: AliasParent::None,
        ..AliasSpec::default()
    }
}

/// UPD-01
#[test]
fn what_is_read_below_a_renamed_component_is_the_same() {
    for_orders(|world| {
        let object = PropertyMap::new();
        world.cloud.objects.insert("kept-1".to_owned(), object);
        let x = || read("x", "kept-1").parent("g");
        world.up(&[component("g"), x()]).succeeded();
        let renamed = component("g").token("test:index:Other").former(AliasSpec {
            type_token: Some(TypeToken::new("test:index:Group")),
            ..AliasSpec::default()
        });
        world.up(&[renamed, x()]).succeeded();
        let (g, x) = (world.state("g"), world.state("x"));
        assert_eq!(x.parent.as_ref(), Some(&g.urn));
        assert_eq!(x.urn.qualified_type(), "test:index:Other$test:index:Thing");
    });
}

/// UPD-02
#[test]
fn a_parent_may_not_go_alone_even_if_its_child_is_an_old_copy() {
    for_orders(|world| {
        let program = [res("a"), res("child").parent("a")];
        world.up(&program).succeeded();
        world.edit("child", |state| state.delete = true);
        let ran = world.up_with(&[], |options| options.targets = targets(&["a"]));
        let child = &world.state("child").urn;
        ran.failed(&format!(
            "Resource '{child}' will be destroyed but was not specified in --target list."
        ));
        assert_eq!(world.names(), ["a", "child"]);
    });
}

/// UPD-03, UPD-06: whether the resource stays where it was or moves.
#[test]
fn an_update_that_reads_first_resumes_a_replacement() {
    for moved in [false, true] {
        for_orders(|world| {
            let program = |parent: bool| {
                let a = res("a").with("value", "1");
                let a = if parent {
                    a.parent("g").former(without_parent())
                } else {
                    a
                };
                [component("g"), a, res("user").uses("value", "a")]
            };
            world.up(&program(false)).succeeded();
            world.edit("a", |state| state.pending_replacement = true);
            world.cloud.lose("a");
            let ran = world.up_with(&program(moved), |options| {
                (options.refresh, options.run_program) = (true, true);
            });
            ran.succeeded();
            assert_eq!(ran.steps("a"), ["refresh", "replace", "create-replacement"]);
            assert!(!world.state("a").pending_replacement);
            assert_eq!(world.up(&program(moved)).counts(), [("same", 3)]);
        });
    }
}

/// UPD-04
#[test]
fn a_dependency_may_be_told_by_its_former_name() {
    for_orders(|world| {
        let user = || res("user").tune(|request, _| request.dependencies = [urn("a")].into());
        world.up(&[res("a"), user().after("a")]).succeeded();
        let program = [provider("p"), res("b").alias("a"), user()];
        world
            .up_with(&program, |options| options.targets = targets(&["user"]))
            .succeeded();
        // `b` is left out, and keeps its former name until an update includes it.
        assert_eq!(world.state("user").dependencies, [urn("a")]);
        world.up(&program).succeeded();
        assert_eq!(world.state("user").dependencies, [urn("b")]);
    });
}

/// UPD-05: what is referred to is not in the program, and on its way out or gone altogether.
#[test]
fn references_to_what_nobody_registers_are_left_out() {
    let stale = [
        |user: Res| user.tune(|request, _| request.deleted_with = Some(urn("a"))),
        |user: Res| user.tune(|request, _| request.dependencies = [urn("a")].into()),
    ];
    for stale in stale {
        for only_old_copy in [false, true] {
            for_orders(|world| {
                world.up(&[res("a")]).succeeded();
                world.edit("a", |state| state.delete = only_old_copy);
                let program = [stale(res("user"))];
                world.up(&program).succeeded();
                assert_eq!(world.names(), ["user"]);
                assert_eq!(world.state("user").references().next(), None);
                let ran = world.up(&program);
                ran.succeeded();
                assert_eq!(ran.counts(), [("same", 1)]);
                assert!(ran.warnings[0].contains("which is not in this stack"));
            });
        }
    }
}

/// UPD-07
#[test]
fn outputs_of_a_component_that_is_left_out_are_ignored() {
    for_orders(|world| {
        let program = [res("a"), component("g").output("x", "1")];
        let ran = world.up_with(&program, |options| options.targets = targets(&["a"]));
        ran.succeeded();
        assert_eq!(world.names(), ["a"]);
    });
}

/// UPD-08
#[test]
fn a_target_moves_together_with_its_provider() {
    for_orders(|world| {
        let before = [
            component("g"),
            provider("p"),
            res("a").provider("p"),
            res("b"),
        ];
        world.up(&before).succeeded();
        let program = [
            component("g"),
            provider("p").parent("g"),
            res("a").parent("g").provider("p").former(without_parent()),
            res("b").with("value", "2"),
        ];
        let ran = world.up_with(&program, |options| {
            options.refresh = true;
            options.targets = UrnSet::new(["**::a".to_owned()]);
        });
        ran.succeeded();
        let a = world.state("a");
        assert_eq!(a.parent.as_ref().map(Urn::name), Some("g"));
        let moved = "test:index:Group$pulumi:providers:test";
        let of_provider = a.provider.as_ref().map(|it| it.urn().qualified_type());
        assert_eq!(of_provider, Some(moved));
    });
}

/// UPD-09
#[test]
fn old_copies_of_a_parent_and_its_children_stay_in_order() {
    for_orders(|world| {
        let program = [res("a"), res("child").parent("a"), res("other")];
        world.up(&program).succeeded();
        world.add_old_copy("child");
        world.add_old_copy("a");
        world.cloud.lose("a");
        world
            .cloud
            .objects
            .insert("a-0".to_owned(), PropertyMap::new());
        let ran = world.up_with(&program, |options| {
            options.refresh = true;
            options.targets = targets(&["a"]);
            options.target_dependents = true;
        });
        ran.succeeded();
        world.up(&program).succeeded();
        assert_eq!(world.names(), ["a", "child", "other"]);
        assert_eq!(world.up(&program).counts(), [("same", 3)]);
    });
}
