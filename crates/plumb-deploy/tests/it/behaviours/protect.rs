//! PROTECT: what the user does not want to lose.

use crate::world::{Fault, component, for_orders, res};

/// PROTECT-01
#[test]
fn every_protected_deletion_is_reported() {
    for_orders(|world| {
        let program = [res("a").protect(true), res("b").protect(true)];
        world.up(&program).succeeded();
        for ran in [world.preview(&[]), world.up(&[])] {
            for name in ["a", "b"] {
                ran.failed(&format!(
                    "::{name}\" cannot be deleted\nbecause it is protected"
                ));
            }
        }
        assert_eq!(world.names(), ["a", "b"]);
    });
}

/// PROTECT-02
#[test]
fn protection_is_inherited_unless_it_is_given() {
    for_orders(|world| {
        let program = [
            component("group").protect(true),
            res("inherits").parent("group"),
            res("free").parent("group").protect(false),
        ];
        world.up(&program).succeeded();
        assert!(world.state("inherits").protect);
        assert!(!world.state("free").protect);
    });
}

/// PROTECT-03
#[test]
fn what_a_protected_resource_needs_stays_and_its_old_copy_goes() {
    for_orders(|world| {
        let program = |value: &str| {
            let user = res("user").depends_on("a").protect(true);
            [res("a").with("replace", value), user]
        };
        world.up(&program("1")).succeeded();
        world.cloud.fail("delete", "a", Fault::Clean);
        world.up(&program("2")).failed("delete of a failed");
        world.cloud.behave();
        let live = world.states("a")[0].clone();
        let ran = world.destroy();
        ran.failed("::user\" cannot be deleted");
        assert_eq!(ran.steps("a"), ["delete-replaced"]);
        assert_eq!(world.state("a"), &live);
    });
}

/// PROTECT-06
#[test]
fn protection_may_be_ignored_along_a_chain_of_replacements() {
    for_orders(|world| {
        let program = |value: &str| {
            let a = res("a").with("rvalue", value).with("value", value);
            let a = a.delete_before_replace(true).protect(true);
            [a, res("user").uses("rvalue", "a").protect(true)]
        };
        world.up(&program("1")).succeeded();
        world.cloud.take_calls();
        let ran = world.up_with(&program("2"), |options| options.ignore_protect = true);
        ran.succeeded();
        assert_eq!(
            world.cloud.take_changes(),
            ["delete user", "delete a", "create a", "create user"]
        );
        assert!(world.state("a").protect && world.state("user").protect);
    });
}
