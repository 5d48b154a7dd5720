//! Updates and refreshes of some resources.

use super::{graph_1, subsets, with_dependents, world_of};
use crate::world::{Fault, World, for_orders, options, res, targets, urn};
use plumb_deploy::setup::Operation;
use plumb_deploy::target::UrnSet;

/// TARGET-11, TARGET-24: exactly the targets change; everything else stays to the letter.
#[test]
fn exactly_the_targets_are_updated() {
    let (before, after) = (graph_1("1"), graph_1("2"));
    let world = world_of(&before);
    for (seed, names) in (0..).zip(subsets(&before, 2)) {
        for dependents in [false, true] {
            let mut world = world.fork(seed);
            let old = world.snapshot.clone();
            let set = world.targets(&names);
            let ran = world.up_with(&after, |options| {
                options.targets = set;
                options.target_dependents = dependents;
            });
            ran.succeeded();
            let expected = if dependents {
                with_dependents(&before, &names)
            } else {
                names.iter().copied().collect()
            };
            for state in old.resources.iter().map(AsRef::as_ref) {
                let name = state.urn.name();
                if expected.contains(name) && state.is_custom() && !state.type_token.is_provider() {
                    assert_eq!(ran.steps(name), ["update"], "{name} for {names:?}");
                } else {
                    assert_eq!(world.state(name), state, "{name} for {names:?}");
                }
            }
        }
    }
}

/// TARGET-11
#[test]
fn targets_are_patterns_or_exist() {
    for (pattern, updated) in [
        ("**Thing::[F]", vec![]),
        ("**::F", vec!["F"]),
        (
            "urn:pulumi:dev::proj::test:index:Thing::*",
            vec!["B", "E", "F", "G", "H", "I", "J", "K", "L"],
        ),
        ("**providers**", vec![]),
    ] {
        let mut world = world_of(&graph_1("1"));
        let ran = world.up_with(&graph_1("2"), |options| {
            options.targets = UrnSet::new([pattern.to_owned()]);
        });
        ran.succeeded();
        let changed = ran.counts().into_iter().find(|(op, _)| *op == "update");
        assert_eq!(
            changed.map_or(0, |(_, count)| count) as usize,
            updated.len(),
            "{pattern}"
        );
        for name in updated {
            assert_eq!(ran.steps(name), ["update"], "{pattern}");
        }
    }
    let mut world = world_of(&graph_1("1"));
    let ran = world.up_with(&graph_1("2"), |options| options.targets = targets(&["X"]));
    ran.failed(
        "Target 'urn:pulumi:dev::proj::test:index:Thing::X' could not be found in the stack.",
    );
}

/// TARGET-24: not even Check is asked about what is not targeted.
#[test]
fn an_untargeted_resource_keeps_its_inputs_to_the_letter() {
    for_orders(|world| {
        let program = |x: &str| [res("a").with("x", x), res("b").with("x", x)];
        world.up(&program("1")).succeeded();
        world.cloud.take_calls();
        let old = world.state("a").clone();
        let ran = world.up_with(&program("2"), |options| options.targets = targets(&["b"]));
        ran.succeeded();
        assert_eq!(world.state("a"), &old);
        let calls = world.cloud.take_calls();
        assert!(!calls.iter().any(|call| call.ends_with(" a")), "{calls:?}");
    });
}

fn line() -> [crate::world::Res; 4] {
    [
        res("a"),
        res("b").parent("a"),
        res("c").parent("b"),
        res("d").parent("c"),
    ]
}

fn reads(world: &mut World) -> Vec<String> {
    let mut calls = world.cloud.take_calls();
    calls.retain(|call| call.starts_with("read"));
    calls.sort();
    calls
}

/// TARGET-01
#[test]
fn a_refresh_of_a_target_reads_its_children() {
    for_orders(|world| {
        world.up(&line()).succeeded();
        world.cloud.take_calls();
        let set = world.targets(&["b"]);
        world
            .refresh_with(&[], |options| {
                options.targets = set;
                options.target_dependents = true;
            })
            .succeeded();
        assert_eq!(reads(world), ["read b", "read c", "read d"]);
    });
}

/// TARGET-09, TARGET-10
#[test]
fn a_refresh_leaves_out_what_is_excluded() {
    for (dependents, expected) in [
        (false, vec!["read a", "read c", "read d"]),
        (true, vec!["read a"]),
    ] {
        for_orders(|world| {
            world.up(&line()).succeeded();
            world.cloud.take_calls();
            let set = world.targets(&["b"]);
            world
                .refresh_with(&[], |options| {
                    options.excludes = set;
                    options.exclude_dependents = dependents;
                })
                .succeeded();
            assert_eq!(reads(world), expected);
        });
    }
}

/// TARGET-21, TARGET-25: `--replace` replaces what does not differ, and is not about those alone.
#[test]
fn named_resources_are_replaced_although_nothing_differs() {
    for_orders(|world| {
        world.up(&[res("a"), res("b"), res("c")]).succeeded();
        let ran = world.up_with(&[res("a"), res("b"), res("c"), res("new")], |options| {
            options.replace_targets = targets(&["a", "b"]);
        });
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 1), ("replace", 2), ("same", 1)]);
        for name in ["a", "b"] {
            assert_eq!(
                ran.steps(name),
                ["create-replacement", "replace", "delete-replaced"]
            );
        }
    });
}

/// TARGET-42: a replacement under another name, whose old half cannot be deleted.
#[test]
fn a_failed_delete_of_a_renamed_target_leaves_both_halves() {
    for_orders(|world| {
        world
            .up(&[res("a").with("replace", "1"), res("other")])
            .succeeded();
        world.cloud.fail("delete", "a", Fault::Clean);
        let program = [res("b").alias("a").with("replace", "2"), res("other")];
        let ran = world.up_with(&program, |options| options.targets = targets(&["b"]));
        ran.failed("delete of a failed");
        let halves: Vec<bool> = world.states("b").iter().map(|state| state.delete).collect();
        assert_eq!(halves, [false, true]);
        assert!(world.snapshot.resources.last().unwrap().delete);
        world.cloud.behave();
        world.up(&program).succeeded();
        assert_eq!(world.names(), ["b", "other"]);
    });
}

/// TARGET-46, TARGET-47: what an untargeted resource depended on is passed on with it, and registered later all the same.
#[test]
fn a_former_dependency_that_is_registered_later_is_no_duplicate() {
    for target in ["a", "other"] {
        for_orders(|world| {
            let before = [
                res("a").with("x", "1"),
                res("b").depends_on("a"),
                res("other"),
            ];
            world.up(&before).succeeded();
            let after = [
                res("b"),
                res("a").with("x", "2").after("b"),
                res("other").with("x", "2"),
            ];
            let run = |world: &mut World| {
                world.run(
                    Operation::Update,
                    &after,
                    options(|options| options.targets = targets(&[target])),
                )
            };
            let ran = run(world);
            ran.succeeded();
            assert_eq!(ran.counts(), [("same", 2), ("update", 1)]);
            assert_eq!(ran.steps(target).last(), Some(&"update"));
            assert_eq!(world.state("b").dependencies, [urn("a")]);
            assert_eq!(run(world).counts(), [("same", 3)]);
        });
    }
}
