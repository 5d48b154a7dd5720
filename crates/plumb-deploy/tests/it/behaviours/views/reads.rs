//! Parts as Read finds them.

use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_resource::provider::{ProviderReply, ReadResponse};
use plumb_resource::{ResourceId, ViewStatus};

use super::{value_of, with_part};
use crate::world::{Ran, Res, World, for_orders, part, read, res};

/// Has the owner read before each change from here on.
fn reads_before_update(world: &mut World) {
    world.edit("a", |state| state.refresh_before_update = true);
}

fn a(value: &str) -> [Res; 1] {
    [res("a").with("value", value)]
}

/// VIEW-04
#[test]
fn a_refresh_finds_a_part_as_it_was() {
    for_orders(|world| {
        with_part(world);
        let before = world.state("part").clone();
        world
            .cloud
            .tells("read", "a", &[part("same", "part").from("1").to("1")]);
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 2)]);
        assert_eq!(ran.steps("part"), ["refresh"]);
        assert_eq!(ran.found("part"), ["same"]);
        let told = [("part".to_owned(), "1".to_owned())];
        assert_eq!(world.cloud.old_views("read", "a"), told);
        assert_eq!(*world.state("part"), before);
    });
}

/// VIEW-05
#[test]
fn an_update_finds_a_part_as_it_was() {
    for_orders(|world| {
        with_part(world);
        reads_before_update(world);
        world
            .cloud
            .tells("read", "a", &[part("same", "part").from("1").to("1")]);
        let ran = world.up(&a("1"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 2)]);
        assert_eq!(ran.steps("part"), ["refresh", "same"]);
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
    });
}

/// VIEW-06
#[test]
fn a_refresh_finds_a_part_changed() {
    for_orders(|world| {
        with_part(world);
        world
            .cloud
            .tells("read", "a", &[part("update", "part").from("1").to("2")]);
        let preview = world.run(Operation::Refresh, &[], Options::new(Phase::Preview));
        assert_eq!(preview.counts(), [("same", 1), ("update", 1)]);
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 1), ("update", 1)]);
        assert_eq!(value_of(world, "part").as_deref(), Some("2"));
    });
}

/// VIEW-07: the provider is told later of the part as it was found.
#[test]
fn an_update_finds_a_part_changed() {
    for_orders(|world| {
        with_part(world);
        reads_before_update(world);
        world
            .cloud
            .tells("read", "a", &[part("update", "part").from("1").to("2")]);
        let ran = world.up(&a("1"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 2)]);
        assert_eq!(value_of(world, "part").as_deref(), Some("2"));
        reads_before_update(world);
        world
            .cloud
            .tells("read", "a", &[part("update", "part").from("2").to("3")]);
        world.cloud.take_calls();
        world.up(&a("2")).succeeded();
        let told = [("part".to_owned(), "3".to_owned())];
        assert_eq!(world.cloud.old_views("update", "a"), told);
    });
}

/// VIEW-08
#[test]
fn a_refresh_finds_a_part_gone() {
    for_orders(|world| {
        with_part(world);
        world
            .cloud
            .tells("read", "a", &[part("delete", "part").from("1")]);
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.counts(), [("delete", 1), ("same", 1)]);
        assert_eq!(world.names(), ["a"]);
    });
}

/// VIEW-09
#[test]
fn an_update_finds_a_part_gone() {
    for_orders(|world| {
        with_part(world);
        reads_before_update(world);
        world
            .cloud
            .tells("read", "a", &[part("delete", "part").from("1")]);
        let ran = world.up(&a("1"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 1)]);
        assert_eq!(ran.steps("part"), ["refresh"]);
        assert_eq!(world.names(), ["a"]);
    });
}

/// A part that is gone when its owner is read, and made again by the update of the owner.
fn made_again(up: impl Fn(&mut World) -> Ran) {
    for_orders(|world| {
        with_part(world);
        world
            .cloud
            .tells("read", "a", &[part("delete", "part").from("1")]);
        world
            .cloud
            .tells("update", "a", &[part("create", "part").to("2")]);
        let ran = up(world);
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 1), ("update", 1)]);
        assert_eq!(ran.steps("part"), ["refresh", "create"]);
        assert!(world.cloud.old_views("update", "a").is_empty());
        assert_eq!(value_of(world, "part").as_deref(), Some("2"));
        assert!(ran.untold.is_empty());
    });
}

/// VIEW-13
#[test]
fn a_part_is_made_again_after_a_refresh() {
    made_again(|world| world.up_with(&a("2"), |options| options.refresh = true));
}

/// VIEW-14
#[test]
fn a_part_is_made_again_after_a_read() {
    made_again(|world| {
        reads_before_update(world);
        world.up(&a("2"))
    });
}

/// VIEW-15
#[test]
fn a_part_is_made_again_while_the_program_runs() {
    made_again(|world| world.up_with(&a("2"), |it| (it.refresh, it.run_program) = (true, true)));
}

/// A new part that a refresh finds stands behind its owner.
#[test]
fn a_refresh_finds_a_new_part() {
    for_orders(|world| {
        with_part(world);
        world
            .cloud
            .tells("read", "a", &[part("create", "new").to("n")]);
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 1), ("same", 1)]);
        assert_eq!(value_of(world, "new").as_deref(), Some("n"));
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
    });
}

/// Old copies of the owner that wait for their deletion keep their own views.
#[test]
fn a_refresh_finds_new_parts_of_old_copies() {
    for_orders(|world| {
        with_part(world);
        world.add_old_copy("a");
        world.add_old_copy("a");
        for with_program in [false, true] {
            let new = if with_program { "newer" } else { "new" };
            world
                .cloud
                .tells("read", "a", &[part("create", new).to("n")]);
            let ran = if with_program {
                world.refresh_with(&a("1"), |_| {})
            } else {
                world.refresh()
            };
            ran.succeeded();
        }
        let resources = world.snapshot.resources.iter();
        let listed: Vec<(&str, bool)> = resources
            .map(|state| (state.urn.name(), state.delete))
            .filter(|(name, _)| *name != "default")
            .collect();
        let due = ["a", "newer", "new"].map(|name| (name, true));
        let live = ["a", "newer", "new", "part"].map(|name| (name, false));
        assert_eq!(listed, [&live[..], &due, &due].concat());
    });
}

/// Parts of an object that is gone are gone, whatever is said of them.
#[test]
fn a_refresh_forgets_the_parts_of_what_is_gone() {
    for with_program in [false, true] {
        for_orders(|world| {
            with_part(world);
            world.cloud.lose("a");
            let ran = if with_program {
                world.refresh_with(&a("1"), |_| {})
            } else {
                world.refresh()
            };
            ran.succeeded();
            assert_eq!(ran.changes.get("delete"), Some(&2));
            assert_eq!(ran.found("part"), ["delete"]);
            assert!(world.names().is_empty());
        });
    }
}

/// A part that fails when it is read fails the refresh, after everything else was read.
#[test]
fn a_part_that_cannot_be_read_fails_the_refresh() {
    for_orders(|world| {
        with_part(world);
        let failing = part("update", "part").from("1").to("2");
        let failing = failing.failing("unreadable", ViewStatus::Known);
        world.cloud.tells("read", "a", &[failing]);
        world.refresh().failed("unreadable");
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
    });
}

/// An object that the program only reads has parts too; they go when it is not read any more.
#[test]
fn a_read_object_has_parts() {
    for_orders(|world| {
        world
            .cloud
            .put("kept-1", plumb_value::PropertyMap::new().with("value", "1"));
        world
            .cloud
            .tells("read", "x", &[part("create", "part").to("1")]);
        world.up(&[read("x", "kept-1")]).succeeded();
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        world
            .cloud
            .tells("read", "x", &[part("same", "part").from("1").to("1")]);
        world.cloud.take_calls();
        world.up(&[read("x", "kept-1")]).succeeded();
        let told = [("part".to_owned(), "1".to_owned())];
        assert_eq!(world.cloud.old_views("read", "x"), told);
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        world.up(&[]).succeeded();
        assert!(world.names().is_empty());
    });
}

/// A provider that says that nothing is left of an object tells of its parts as well.
#[test]
fn parts_are_told_gone_with_their_object() {
    for_orders(|world| {
        with_part(world);
        world.cloud.lose("a");
        world.cloud.on("read", "a", |_| {
            Some(Ok(ProviderReply::Read(ReadResponse {
                id: ResourceId::None,
                inputs: None,
                outputs: None,
                refresh_before_update: false,
            })))
        });
        world
            .cloud
            .tells("read", "a", &[part("delete", "part").from("1")]);
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.counts(), [("delete", 2)]);
        assert_eq!(ran.steps("part"), ["refresh"]);
        assert!(world.names().is_empty());
    });
}
