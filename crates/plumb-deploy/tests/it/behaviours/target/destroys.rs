//! Deletion of some resources.

use plumb_deploy::setup::{Operation, Options, Phase};

use super::{graph_1, graph_2, subsets, with_dependents, world_of};
use crate::world::{Fault, Ran, Res, World, for_orders, res};

fn destroy(world: &mut World, names: &[&str], dependents: bool) -> Ran {
    let set = world.targets(names);
    world.destroy_with(&[], |options| {
        options.targets = set;
        options.target_dependents = dependents;
    })
}

/// Destroys `names`: with dependents exactly they and what needs them go; without, nothing does if anything else needs them.
fn check_destroys(program: &[Res], sets: &[Vec<&str>]) {
    let world = world_of(program);
    for (seed, names) in (0..).zip(sets) {
        let expected = with_dependents(program, names);
        let is_whole = expected.len() == names.len();
        for dependents in [true, false] {
            let mut world = world.fork(seed);
            let before = world.contents();
            let ran = destroy(&mut world, names, dependents);
            if dependents || is_whole {
                ran.succeeded();
                let is_there = |item: &Res| !world.states(&item.name).is_empty();
                let stays = |item: &Res| !expected.contains(item.name.as_str());
                for item in program {
                    assert_eq!(is_there(item), stays(item), "{} for {names:?}", item.name);
                }
            } else {
                ran.failed("will be destroyed but was not specified in --target list");
                assert_eq!(world.contents(), before, "{names:?}");
            }
        }
    }
}

/// TARGET-02, TARGET-30: A is at the root of everything.
#[test]
fn exactly_targets_and_their_dependents_are_destroyed() {
    let program = graph_1("1");
    check_destroys(&program, &subsets(&program, 3));
    let mut world = world_of(&program);
    destroy(&mut world, &["A"], true).succeeded();
    assert!(world.names().is_empty());
}

/// TARGET-30: a preview shows everything that would be deleted, and fails at its end; a destroy does nothing.
#[test]
fn a_preview_shows_deletions_that_the_destroy_refuses() {
    let world = world_of(&[res("a"), res("b").depends_on("a"), res("c")]);
    for (phase, steps) in [
        (Phase::Preview, &["delete b", "delete a"][..]),
        (Phase::Execute, &[]),
    ] {
        let mut world = world.fork(0);
        let options = Options {
            targets: world.targets(&["a"]),
            ..Options::new(phase)
        };
        let ran = world.run(Operation::Destroy, &[], options);
        ran.failed("will be destroyed but was not specified in --target list");
        let mut announced = ran.announced();
        announced.retain(|step| step.starts_with("delete"));
        assert_eq!(announced, steps);
        assert_eq!(world.names(), ["a", "b", "c"]);
    }
}

/// TARGET-22, TARGET-31
#[test]
fn children_of_targets_are_destroyed_with_them() {
    let program = graph_2();
    check_destroys(&program, &subsets(&program, 2));
    let mut world = world_of(&program);
    destroy(&mut world, &["A"], true).succeeded();
    assert_eq!(world.names(), ["B", "C", "E", "F", "J", "L", "M"]);
}

/// TARGET-32, TARGET-33, TARGET-34: what cannot be deleted stays, with everything that it needs.
#[test]
fn a_failed_delete_keeps_what_it_needs() {
    type Link = fn(Res) -> Res;
    let links: [Link; 2] = [|res| res.depends_on("a"), |res| res.parent("a")];
    for link in links {
        for_orders(|world| {
            world.up(&[res("a"), link(res("b")), res("c")]).succeeded();
            let before = world.contents();
            world.cloud.fail("delete", "b", Fault::Clean);
            world.cloud.take_calls();
            destroy(world, &["a"], true).failed("delete of b failed");
            assert_eq!(world.cloud.take_calls(), ["delete b"]);
            assert_eq!(world.contents(), before);
            world.cloud.behave();
            destroy(world, &["a"], true).succeeded();
            assert_eq!(world.names(), ["c"]);
        });
    }
}

/// That an old copy goes with a target says nothing about what depends on the live one.
#[test]
fn an_old_copy_drags_nothing_along() {
    for_orders(|world| {
        let program = [res("t"), res("a").after("t"), res("b").depends_on("a")];
        world.up(&program).succeeded();
        world.add_old_copy("a");
        let target = world.state("t").urn.clone();
        world.edit("a", |state| {
            if state.delete {
                state.dependencies.push(target.clone());
            }
        });
        destroy(world, &["t"], true).succeeded();
        assert_eq!(world.names(), ["a", "b"]);
    });
}
