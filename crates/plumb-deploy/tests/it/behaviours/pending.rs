//! PDEL, PREPL: replacements that stopped half way.

use crate::world::{Fault, Res, World, for_orders, res, targets};

/// Leaves `a` with a live copy and one that is due for deletion, next to `other`.
fn with_pending_delete(world: &mut World) {
    let program = |value: &str| [res("a").with("replace", value), res("other")];
    world.up(&program("1")).succeeded();
    world.cloud.fail("delete", "a", Fault::Clean);
    world.up(&program("2")).failed("delete of a failed");
    world.cloud.behave();
    let copies: Vec<bool> = world.states("a").iter().map(|it| it.delete).collect();
    assert_eq!(copies, [false, true]);
}

/// PDEL-01, PDEL-02
#[test]
fn both_copies_are_deleted() {
    for is_destroy in [false, true] {
        for_orders(|world| {
            with_pending_delete(world);
            let ran = if is_destroy {
                world.destroy()
            } else {
                world.up(&[])
            };
            ran.succeeded();
            let mut steps = ran.steps("a");
            steps.sort_unstable();
            assert_eq!(steps, ["delete", "delete-replaced"]);
            assert!(world.names().is_empty());
        });
    }
}

/// PDEL-03
#[test]
fn a_targeted_destroy_leaves_other_copies_as_they_are() {
    for_orders(|world| {
        with_pending_delete(world);
        let before = world.states("a").into_iter().cloned().collect::<Vec<_>>();
        let ran = world.destroy_with(&[], |options| options.targets = targets(&["other"]));
        ran.succeeded();
        assert_eq!(world.states("a"), before.iter().collect::<Vec<_>>());
        assert_eq!(world.names(), ["a", "a"]);
    });
}

/// Two resources; when `a` is replaced, `b` is too, and both are deleted first.
fn pair(value: &str) -> [Res; 2] {
    let a = res("a").with("rvalue", value).with("value", value);
    [a.with("dbr", true), res("b").uses("rvalue", "a")]
}

fn pending(world: &World, name: &str) -> bool {
    world.state(name).pending_replacement
}

/// PREPL-01
#[test]
fn what_could_not_be_deleted_is_not_pending() {
    for_orders(|world| {
        world.up(&pair("1")).succeeded();
        world.cloud.fail("delete", "a", Fault::Clean);
        world.up(&pair("2")).failed("delete of a failed");
        assert!(!pending(world, "a") && pending(world, "b"));
        world.cloud.behave();
        let ran = world.up(&pair("2"));
        ran.succeeded();
        assert_eq!(
            ran.steps("a"),
            ["delete-replaced", "replace", "create-replacement"]
        );
        assert_eq!(world.up(&pair("2")).counts(), [("same", 2)]);
    });
}

/// Leaves `a` deleted and not created anew.
fn with_pending_replacement(world: &mut World) {
    world.up(&pair("1")[..1]).succeeded();
    world.cloud.fail("create", "a", Fault::Clean);
    world.up(&pair("2")[..1]).failed("create of a failed");
    assert!(pending(world, "a"));
    world.cloud.behave();
    world.cloud.take_calls();
}

/// PREPL-02, PREPL-03, PREPL-05: with the same goals, with a refresh, with goals that would not replace by themselves.
#[test]
fn a_replacement_is_resumed_by_a_create_alone() {
    for (refresh, value) in [(false, "2"), (true, "2"), (false, "1")] {
        for_orders(|world| {
            with_pending_replacement(world);
            let ran = world.up_with(&pair(value)[..1], |options| {
                (options.refresh, options.run_program) = (refresh, refresh);
            });
            ran.succeeded();
            let steps = ran.steps("a");
            let steps: Vec<_> = steps.iter().filter(|step| **step != "refresh").collect();
            assert_eq!(steps, [&"replace", &"create-replacement"]);
            assert_eq!(world.cloud.take_changes(), ["create a"]);
            assert!(!pending(world, "a"));
        });
    }
}

/// PREPL-04
#[test]
fn a_replacement_that_nobody_wants_any_more_is_forgotten() {
    for_orders(|world| {
        with_pending_replacement(world);
        let ran = world.up(&[]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["remove-pending-replace"]);
        assert!(world.cloud.take_changes().is_empty() && world.names().is_empty());
    });
}

/// PREPL-06
#[test]
fn a_replacement_survives_two_interrupted_resumes() {
    for_orders(|world| {
        world.up(&pair("1")).succeeded();
        for name in ["a", "a", "b"] {
            world.cloud.behave();
            world.cloud.fail("create", name, Fault::Clean);
            world.up(&pair("2")).failed("failed");
            assert!(pending(world, "b"));
            assert_eq!(pending(world, "a"), name == "a");
        }
        world.cloud.behave();
        world.cloud.take_calls();
        world.up(&pair("2")).succeeded();
        assert_eq!(world.cloud.take_changes(), ["create b"]);
        assert_eq!(world.up(&pair("2")).counts(), [("same", 2)]);
    });
}
