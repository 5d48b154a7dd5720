//! TAINT: resources that the user marked to be replaced.

use crate::world::{Fault, World, for_orders, res};

fn taint(world: &mut World, name: &str) {
    world.edit(name, |state| state.taint = true);
}

/// TAINT-01, TAINT-04: the provider sees no difference, and the resource is replaced all the same.
#[test]
fn a_tainted_resource_is_replaced_once() {
    for_orders(|world| {
        let program = [res("a").with("value", "1")];
        world.up(&program).succeeded();
        let first = world.state("a").id.clone();
        taint(world, "a");
        let ran = world.up(&program);
        ran.succeeded();
        let steps = ["create-replacement", "replace", "delete-replaced"];
        assert_eq!(ran.steps("a"), steps);
        assert!(!world.state("a").taint);
        assert_ne!(world.state("a").id, first);
        assert_eq!(world.up(&program).counts(), [("same", 1)]);
    });
}

/// TAINT-02
#[test]
fn only_what_is_tainted_is_replaced() {
    for_orders(|world| {
        let program = [res("a"), res("b"), res("c")];
        world.up(&program).succeeded();
        taint(world, "a");
        taint(world, "c");
        let ran = world.up(&program);
        ran.succeeded();
        assert_eq!(ran.counts(), [("replace", 2), ("same", 1)]);
        assert_eq!(ran.steps("b"), ["same"]);
    });
}

/// TAINT-03
#[test]
fn taint_on_what_is_due_for_deletion_says_nothing() {
    for_orders(|world| {
        world.up(&[res("a").with("replace", "1")]).succeeded();
        world.cloud.fail("delete", "a", Fault::Clean);
        let program = [res("a").with("replace", "2")];
        world.up(&program).failed("delete of a failed");
        world.edit("a", |state| state.taint = state.delete);
        world.cloud.behave();
        let ran = world.up(&program);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["same", "delete-replaced"]);
        assert_eq!(world.states("a").len(), 1);
    });
}
