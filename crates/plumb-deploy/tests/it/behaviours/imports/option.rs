//! The import option of a registration.

use super::{object, reads_as};
use crate::world::{Fault, Res, World, for_orders, output, read, res};
use plumb_resource::provider::{DiffChanges, DiffResult, ProviderCall};
use plumb_value::{PropertyMap, Value};

fn imported(value: &str) -> Res {
    res("a").with("value", value).import("ext-1")
}

fn world_with_object(world: &mut World) {
    world.cloud.put("ext-1", object("1"));
}

/// IMPORT-01: what is imported as the program wants it is not touched further.
#[test]
fn an_object_like_the_program_is_imported_and_then_the_same() {
    for_orders(|world| {
        world_with_object(world);
        let ran = world.up(&[imported("1")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["import"]);
        let ProviderCall::Read(request) = world.cloud.request("read", "a") else {
            panic!("not a read");
        };
        assert_eq!(request.inputs, None);
        assert!(request.outputs.is_empty());
        assert_eq!(world.up(&[imported("1")]).steps("a"), ["same"]);
        assert_eq!(world.up(&[imported("2")]).steps("a"), ["update"]);
        world.destroy().succeeded();
        assert!(world.cloud.objects.is_empty());
    });
}

/// IMPORT-01, IMPORT-23: where inputs differ an update follows, and the id that was given is remembered through it.
#[test]
fn an_object_unlike_the_program_is_imported_and_updated() {
    for_orders(|world| {
        world_with_object(world);
        let ran = world.up(&[imported("2")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["import", "update"]);
        assert_eq!(world.cloud.objects["ext-1"], object("2"));
        let state = world.state("a");
        assert_eq!(
            (state.id.as_str(), state.import_id.as_str()),
            ("ext-1", "ext-1")
        );
        assert_eq!(world.up(&[imported("2")]).steps("a"), ["same"]);
    });
}

/// IMPORT-01
#[test]
fn what_still_names_its_id_is_not_replaced() {
    for_orders(|world| {
        world_with_object(world);
        let replacing = |value: &str| imported("1").with("replace", value);
        world.up(&[imported("1")]).succeeded();
        let before = world.state("a").clone();
        let preview = world.preview(&[replacing("2")]);
        preview.succeeded();
        assert!(preview.warnings[0].starts_with("previously-imported resources"));
        world
            .up(&[replacing("2")])
            .failed("previously-imported resources that still specify an ID may not be replaced");
        assert_eq!(world.state("a"), &before);
    });
}

/// IMPORT-01: an id that the resource has already says nothing; another one replaces the resource.
#[test]
fn a_resource_becomes_another_object() {
    for_orders(|world| {
        world.up(&[res("a").with("value", "1")]).succeeded();
        let id = world.state("a").id.as_str().to_owned();
        world
            .up(&[res("a").with("value", "1").import(&id)])
            .succeeded();
        assert_eq!(world.state("a").id.as_str(), id);
        world.cloud.put("ext-1", object("1"));
        let ran = world.up(&[imported("1")]);
        ran.succeeded();
        assert_eq!(
            ran.steps("a"),
            ["import-replacement", "replace", "delete-replaced"]
        );
        assert_eq!(world.state("a").id.as_str(), "ext-1");
        assert!(!world.cloud.objects.contains_key(&id));
    });
}

/// IMPORT-01: the object that was only read so far stays, and becomes ours.
#[test]
fn an_object_that_was_read_is_imported() {
    for_orders(|world| {
        world_with_object(world);
        world.up(&[read("a", "ext-1")]).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&[imported("1")]);
        ran.succeeded();
        assert_eq!(
            ran.steps("a"),
            ["import-replacement", "replace", "discard-replaced"]
        );
        assert!(!world.cloud.take_calls().contains(&"delete a".to_owned()));
        assert!(!world.state("a").external);
        assert_eq!(world.up(&[imported("1")]).steps("a"), ["same"]);
    });
}

/// IMPORT-02, IMPORT-03: the provider knows the object by another id than the one to import it by.
#[test]
fn the_id_to_import_by_need_not_be_the_id() {
    for_orders(|world| {
        world_with_object(world);
        reads_as(world, "a", "ext-1", object("1"), object("1"));
        let program = [res("a").with("value", "1").import("path/to/ext-1")];
        world.up(&program).succeeded();
        let state = world.state("a");
        assert_eq!(state.id.as_str(), "ext-1");
        assert_eq!(state.import_id, "path/to/ext-1");
        assert_eq!(world.up(&program).steps("a"), ["same"]);
    });
}

/// IMPORT-05: a value that becomes a secret is the same value.
#[test]
fn an_imported_value_may_become_a_secret() {
    let secret = Value::secret("1".into());
    for value in [
        secret,
        output(Some("1".into()), true, &[]),
        output(Some("1".into()), false, &[]),
    ] {
        for tells in [DiffChanges::Unknown, DiffChanges::None] {
            for_orders(|world| {
                world_with_object(world);
                world.cloud.diffs("a", DiffResult::of(tells));
                let mut a = imported("1");
                a.replace_on_changes.push("value".to_owned());
                world.up(&[a.clone()]).succeeded();
                let ran = world.up(&[a.with("value", value.clone())]);
                ran.succeeded();
                assert_eq!(ran.steps("a"), ["same"]);
            });
        }
    }
}

/// IMPORT-07
#[test]
fn an_ignored_property_is_taken_as_it_is() {
    for_orders(|world| {
        world_with_object(world);
        let mut a = imported("other");
        a.ignore_changes.push("value".to_owned());
        let ran = world.up(&[a]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["import"]);
        assert_eq!(world.state("a").inputs.as_ref(), &object("1"));
    });
}

/// IMPORT-17: where the provider sees no difference there is none. The state has what was read, and what the program says
/// from the next run on (`engine.md` 4.6).
#[test]
fn inputs_that_make_no_difference_are_the_programs_in_the_next_run() {
    for_orders(|world| {
        world_with_object(world);
        world.cloud.diffs("a", DiffResult::of(DiffChanges::None));
        let ran = world.up(&[imported("2")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["import"]);
        assert_eq!(world.state("a").inputs.as_ref(), &object("1"));
        assert_eq!(world.up(&[imported("2")]).steps("a"), ["same"]);
        let state = world.state("a");
        assert_eq!(state.inputs.as_ref(), &object("2"));
        assert_eq!(state.outputs.as_ref(), &object("1"));
    });
}

/// Properties that the program marks as secret are recorded as secrets after an import.
#[test]
fn what_makes_no_difference_is_secret_at_once() {
    for_orders(|world| {
        world_with_object(world);
        world.cloud.diffs("a", DiffResult::of(DiffChanges::None));
        let program = [res("a")
            .with("value", Value::secret("1".into()))
            .import("ext-1")];
        let ran = world.up(&program);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["import"]);
        let expected = PropertyMap::new().with("value", Value::secret("1".into()));
        assert_eq!(world.state("a").inputs.as_ref(), &expected);
    });
}

/// IMPORT-20: the object is ours although it could not be updated.
#[test]
fn an_import_stands_although_its_update_fails() {
    for_orders(|world| {
        world_with_object(world);
        world.cloud.fail("update", "a", Fault::Clean);
        let ran = world.up(&[imported("2")]);
        ran.failed("update of a failed");
        assert!(!ran.known.has("a"));
        assert_eq!(world.state("a").inputs.as_ref(), &object("1"));
        world.cloud.behave();
        let ran = world.up(&[imported("2")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["update"]);
    });
}

/// IMPORT-22: nothing of the sort can be done to it, which only the update says.
#[test]
fn a_preview_of_an_import_that_would_be_deleted_first() {
    for_orders(|world| {
        world.cloud.put("kept-1", object("1"));
        let diff = DiffResult {
            replace_keys: vec!["value".into()],
            delete_before_replace: true,
            ..DiffResult::of(DiffChanges::Some)
        };
        world.cloud.diffs("a", diff);
        let program = [res("a").with("value", "2").import("kept-1")];
        let preview = world.preview(&program);
        preview.succeeded();
        assert!(preview.warnings[0].starts_with("previously-imported resources"));
        assert!(world.snapshot.resources.is_empty());
    });
}
