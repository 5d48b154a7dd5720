//! DWREPL: resources that go with another one.

use crate::world::{Res, World, for_orders, provider, res, targets};

/// `b` and `c` live in `a`.
fn program(value: &str, delete_first: bool) -> [Res; 3] {
    let a = res("a").with("replace", value);
    [
        a.delete_before_replace(delete_first),
        res("b").deleted_with("a"),
        res("c").deleted_with("b"),
    ]
}

fn up(world: &mut World, delete_first: bool) {
    world.cloud.contain("a", "b");
    world.cloud.contain("b", "c");
    world.up(&program("1", delete_first)).succeeded();
    world.cloud.take_calls();
}

/// DWREPL-01, DWREPL-02, DWREPL-03, PULUMI-35
#[test]
fn a_chain_is_replaced_and_only_its_root_is_deleted() {
    for delete_first in [true, false] {
        for_orders(|world| {
            up(world, delete_first);
            let ran = world.up(&program("2", delete_first));
            ran.succeeded();
            assert_eq!(ran.counts(), [("replace", 3)]);
            let mut calls = world.cloud.take_changes();
            calls.sort();
            assert_eq!(calls, ["create a", "create b", "create c", "delete a"]);
            let again = world.up(&program("2", delete_first));
            assert_eq!(again.counts(), [("same", 3)]);
        });
    }
}

/// DWREPL-04: what was not inside before is deleted by its own provider.
#[test]
fn a_link_that_is_new_counts() {
    for delete_first in [true, false] {
        for_orders(|world| {
            let a = |value: &str| res("a").with("replace", value);
            let a = |value: &str| a(value).delete_before_replace(delete_first);
            world.up(&[a("1"), res("b")]).succeeded();
            let ran = world.up(&[a("2"), res("b").deleted_with("a")]);
            ran.succeeded();
            assert_eq!(ran.counts(), [("replace", 2)]);
        });
    }
}

/// DWREPL-05
#[test]
fn a_targeted_destroy_takes_along_what_is_inside() {
    for_orders(|world| {
        up(world, false);
        let ran = world.destroy_with(&[], |options| {
            options.targets = targets(&["a"]);
            options.target_dependents = true;
        });
        ran.succeeded();
        assert_eq!(ran.counts(), [("delete", 3)]);
        assert_eq!(world.cloud.take_changes(), ["delete a"]);
        assert!(world.names().is_empty());
    });
}

/// DWREPL-06
#[test]
fn a_protected_resource_inside_stands_in_the_way() {
    for_orders(|world| {
        let program = |value: &str| {
            let a = res("a").with("replace", value).delete_before_replace(true);
            [a, res("b").deleted_with("a").protect(true)]
        };
        world.up(&program("1")).succeeded();
        world.cloud.take_calls();
        world.up(&program("2")).failed("marked for protection");
        assert!(world.cloud.take_changes().is_empty());
    });
}

/// DWREPL-01: a provider that goes along goes after what it provides for.
#[test]
fn a_provider_that_goes_along_is_there_for_its_own() {
    let before = |value: &str| {
        let a = res("a").with("replace", value).delete_before_replace(true);
        let p = provider("p").deleted_with("a");
        [a, p, res("d").provider("p"), res("e").uses("x", "d")]
    };
    for_orders(|world| {
        world.up(&before("1")).succeeded();
        let [a, ..] = before("2");
        let mut forgets = world.fork(1);
        for (world, program) in [(world, before("2").to_vec()), (&mut forgets, vec![a])] {
            let ran = world.up(&program);
            ran.succeeded();
            let began = ran.announced();
            let place = |name: &str| began.iter().position(|step| step == name);
            assert!(place("delete-replaced d").is_some(), "{began:?}");
            assert!(
                place("delete-replaced d") < place("delete-replaced p"),
                "{began:?}"
            );
        }
    });
}
