//! Operations that leave some resources alone.

use crate::world::{Res, for_orders, provider, res, targets};
use plumb_deploy::target::UrnSet;

fn family(x: &str) -> [Res; 4] {
    [
        res("a").with("x", x),
        res("child").parent("a").with("x", x),
        res("grandchild").parent("child").with("x", x),
        res("other").with("x", x),
    ]
}

/// TARGET-03, TARGET-04: what needs an excluded resource that does not exist must be excluded too.
#[test]
fn excluded_resources_are_not_created() {
    for_orders(|world| {
        let mut up = |excluded: &str, dependents: bool| {
            world.up_with(&family("1"), |options| {
                options.excludes = UrnSet::new([excluded.to_owned()]);
                options.exclude_dependents = dependents;
            })
        };
        up("**::other", false).succeeded();
        up("**::other", false).succeeded();
        assert_eq!(world.names(), ["a", "child", "grandchild"]);
    });
    for_orders(|world| {
        let mut up = |dependents: bool| {
            world.up_with(&family("1"), |options| {
                options.excludes = UrnSet::new(["**::a".to_owned()]);
                options.exclude_dependents = dependents;
            })
        };
        up(false).failed("which is excluded and does not exist yet");
        up(true).succeeded();
        assert_eq!(world.names(), ["other"]);
    });
}

/// TARGET-05, TARGET-06, TARGET-07: what is excluded stays, with what it needs; with dependents, also what needs any of
/// that, as do all users of its provider.
#[test]
fn excluded_resources_are_not_destroyed() {
    for (excluded, dependents, left) in [
        ("other", false, vec!["other"]),
        ("child", false, vec!["a", "child"]),
        ("child", true, vec!["a", "child", "grandchild", "other"]),
        ("a", true, vec!["a", "child", "grandchild", "other"]),
        ("p", false, vec![]),
    ] {
        for_orders(|world| {
            let program: Vec<Res> = std::iter::once(provider("p"))
                .chain(family("1").map(|res| res.provider("p")))
                .collect();
            world.up(&program).succeeded();
            let set = world.targets(&[excluded]);
            world
                .destroy_with(&[], |options| {
                    options.excludes = set;
                    options.exclude_dependents = dependents;
                })
                .succeeded();
            assert_eq!(world.names(), left);
            assert_eq!(world.states("p").len(), 1, "the provider is needed");
        });
    }
}

/// TARGET-06: users of another provider are no dependents.
#[test]
fn users_of_other_providers_are_destroyed() {
    for_orders(|world| {
        let [a, child, grandchild, other] = family("1");
        let family = [a, child, grandchild].map(|res| res.provider("p"));
        let other = other.provider("q");
        let program = [provider("p"), provider("q"), other];
        let program: Vec<Res> = program.into_iter().chain(family).collect();
        world.up(&program).succeeded();
        let set = world.targets(&["child"]);
        world
            .destroy_with(&[], |options| {
                options.excludes = set;
                options.exclude_dependents = true;
            })
            .succeeded();
        assert_eq!(world.names(), ["a", "child", "grandchild"]);
        assert_eq!(world.states("p").len(), 1, "the provider is needed");
        assert!(world.states("q").is_empty());
    });
}

/// TARGET-08: what is excluded stays although the program does not mention it.
#[test]
fn a_pattern_that_excludes_everything_changes_nothing() {
    for_orders(|world| {
        world.up(&family("1")).succeeded();
        let before = world.contents();
        let [a, child, ..] = family("2");
        let ran = world.up_with(&[a, child], |options| {
            options.excludes = UrnSet::new(["**test**".to_owned()]);
        });
        ran.succeeded();
        assert!(!ran.outcome.has_changes);
        assert_eq!(world.contents(), before);
    });
}

/// TARGET-05
#[test]
fn an_excluded_resource_is_not_updated() {
    for_orders(|world| {
        world.up(&family("1")).succeeded();
        let ran = world.up_with(&family("2"), |options| {
            options.excludes = targets(&["other"]);
        });
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 1), ("update", 3)]);
        assert_eq!(ran.steps("other"), ["same"]);
    });
}
