//! Targets that come to need what is left out, while that still needs them.

use crate::world::{World, for_many_orders, for_orders, res, targets, urn};

/// TARGET-14: what is left out goes on referring to the target, which therefore must not refer to it.
#[test]
fn a_target_does_not_come_to_depend_on_what_needs_it_still() {
    for_orders(|world| {
        world.up(&[res("d"), res("g").uses("x", "d")]).succeeded();
        let turned = [res("g"), res("d").uses("x", "g")];
        let ran = world.up_with(&turned, |options| options.targets = targets(&["d"]));
        ran.failed("which depends on it in turn and is left as it is");
        assert_eq!(world.state("g").dependencies, [urn("d")]);
        assert!(world.state("d").dependencies.is_empty());
        let both = |world: &mut World| {
            world.up_with(&turned, |options| options.targets = targets(&["d", "g"]))
        };
        both(world).succeeded();
        assert_eq!(world.state("d").dependencies, [urn("g")]);
    });
}

/// TARGET-14: a target that the run has not got to still refers to what it referred to so far, and does so for good if it
/// fails.
#[test]
fn a_target_that_fails_closes_no_circle() {
    for_many_orders(100, |world| {
        let before = [
            res("d"),
            res("a").uses("x", "d"),
            res("e").uses("x", "a"),
            res("g").uses("x", "e"),
        ];
        world.up(&before).succeeded();
        let after = [
            res("new"),
            res("g"),
            res("a").depends_on("new"),
            res("d").uses("x", "g"),
        ];
        let ran = world.up_with(&after, |options| options.targets = targets(&["a", "d"]));
        ran.failed("");
        assert!(world.state("d").dependencies.is_empty());
        assert_eq!(world.state("a").dependencies, [urn("d")]);
    });
}
