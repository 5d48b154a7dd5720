//! States in the history, pruning, and removed stacks.

use std::fmt::Write as _;

use super::{World, options, record, resources, stack};
use crate::backend::{Backend, RemoveOptions};
use crate::error::BackendError;
use crate::file_backend::FileBackend;
use crate::history::UpdateRecord;
use crate::store::StoreOptions;

fn update_record(message: &str) -> UpdateRecord {
    UpdateRecord {
        kind: "update".to_owned(),
        start_time: 1,
        message: message.to_owned(),
        environment: std::collections::BTreeMap::new(),
        config: serde_json::Map::new(),
        version: 0,
        result: "succeeded".to_owned(),
        end_time: 2,
        resource_changes: None,
    }
}

/// Text that does not compress well, different for each number.
fn noise(number: u64, length: usize) -> String {
    let mut text = String::new();
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while text.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let _ = write!(text, "{state:016x}");
    }
    text
}

/// State file of about this many bytes, in which a few resources differ between versions.
fn state(version: u64, bytes: usize) -> String {
    let count = bytes / 1000;
    let resources: Vec<String> = (0..count)
        .map(|at| {
            let number = if (at as u64) % 997 == version % 997 { version } else { 0 };
            let value = noise(number * 100_000 + at as u64, 800);
            format!(r#"{{"urn":"urn:pulumi:dev::proj::a:b:C::r{at}","custom":false,"type":"a:b:C","outputs":{{"v":"{value}"}}}}"#)
        })
        .collect();
    format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/proj/dev","latest":{{"manifest":{{"time":"2025-01-02T03:04:05Z","magic":"7dff0d166258e7f1d265e8e044021ea087795d58a0c6415ab6fe8b7c790e447f","version":"v3.260.0"}},"metadata":{{"version":"{version}"}},"resources":[{}]}}}}}}"#,
        resources.join(",")
    )
}

/// Ends an update with this state.
fn update_to(backend: &FileBackend, text: &str, message: &str) {
    let dev = stack("dev");
    backend.store().save_text(&dev, text, None).unwrap();
    let state = backend.store().state_file(&dev).unwrap();
    let store = backend.store();
    let kept = store.kept_form(&dev, &state).unwrap();
    store
        .add_history(&dev, &state, &kept, &update_record(message))
        .unwrap();
    store.add_backup(&dev, &state, &kept).unwrap();
}

fn size_of(world: &World, folder: &str) -> u64 {
    let names = world.names(folder);
    let sizes = names.iter().map(|name| {
        let path = world.path(&format!("{folder}/{name}"));
        path.metadata().unwrap().len()
    });
    sizes.sum()
}

const HISTORY: &str = ".pulumi/history/proj/dev";
const BACKUPS: &str = ".pulumi/backups/proj/dev";

#[test]
fn many_versions_of_a_large_state_take_little_room() {
    let bytes = 400_000;
    let world = World::new();
    let backend = world.backend();
    backend.create_stack(&stack("dev"), None).unwrap();
    let mut naive = 0;
    for version in 1..=100 {
        let text = state(version, bytes);
        naive += text.len() as u64;
        update_to(&backend, &text, &version.to_string());
    }
    let taken = size_of(&world, HISTORY);
    let backups = size_of(&world, BACKUPS);
    assert!(taken * 20 < naive, "{taken} of {naive}");
    assert!(backups * 20 < naive, "{backups} of {naive}");
    for version in [1, 2, 24, 25, 26, 50, 99, 100] {
        let past = backend.past(&stack("dev"), version).unwrap().unwrap();
        assert_eq!(past.record.message, version.to_string());
        let expected = state(version, bytes);
        let expected = plumb_state::file::parse_checkpoint(expected.as_bytes()).unwrap();
        let found = past.state.unwrap();
        assert_eq!(
            found.opaque().resources,
            expected.latest.unwrap().opaque().resources
        );
    }
}

#[test]
fn a_lost_version_takes_those_that_build_on_it_and_no_others() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    for version in 1..=3 {
        update_to(&backend, &state(version, 100_000), "");
    }
    let is_kept = |version| {
        backend
            .past(&dev, version)
            .unwrap()
            .unwrap()
            .state
            .is_some()
    };
    let second = &deltas(&world)[0];
    world.write(&format!("{HISTORY}/{second}"), "torn");
    assert!(is_kept(1) && !is_kept(2) && !is_kept(3));
    // If the newest version is damaged or unknown, a new chain begins with a full version.
    update_to(&backend, &state(4, 100_000), "");
    assert!(!is_kept(4), "it builds on what was lost");
    world.write(&format!("{HISTORY}/{}", newest_delta(&world)), "torn");
    update_to(&backend, &state(5, 100_000), "");
    assert!(is_kept(5));
}

fn deltas(world: &World) -> Vec<String> {
    let mut names = world.names(HISTORY);
    names.retain(|name| name.contains(".checkpoint.delta"));
    names
}

fn newest_delta(world: &World) -> String {
    deltas(world).pop().unwrap()
}

#[test]
fn pruning_keeps_what_newer_states_build_on() {
    let world = World::new();
    let backend = world.backend_with(StoreOptions {
        kept_states: Some(3),
        ..options()
    });
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    for version in 1..=30 {
        update_to(&backend, &state(version, 100_000), "");
    }
    // One version in 25 is full: 26 is, and so 26 to 30 are kept.
    let kept: Vec<u64> = (1..=30)
        .filter(|version| {
            let past = backend.past(&dev, *version).unwrap().unwrap();
            past.state.is_some()
        })
        .collect();
    assert_eq!(kept, [26, 27, 28, 29, 30]);
    assert_eq!(backend.history(&dev, None).unwrap().len(), 30);
    assert_eq!(backend.prune_history(&dev, 1).unwrap(), 0);
}

#[test]
fn a_removed_stack_is_restored_with_its_history_and_tags() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    let update = backend.begin_update(&dev, "u1").unwrap();
    record(&update, &["a"]);
    update.finish(None, Some(&update_record("first"))).unwrap();
    let tags = [("owner".to_owned(), "team".to_owned())].into();
    backend.set_tags(&dev, &tags).unwrap();
    let force = RemoveOptions {
        force: true,
        ..RemoveOptions::default()
    };
    backend.remove_stack(&dev, force).unwrap();
    assert!(!backend.stack_exists(&dev).unwrap());
    assert!(backend.history(&dev, None).unwrap().is_empty());
    backend.restore_stack(&dev).unwrap();
    assert_eq!(resources(&backend, &dev), ["a"]);
    assert_eq!(backend.tags(&dev).unwrap(), tags);
    assert_eq!(backend.history(&dev, None).unwrap()[0].message, "first");
    assert!(backend.past(&dev, 1).unwrap().unwrap().state.is_some());
    assert!(matches!(
        backend.restore_stack(&dev),
        Err(BackendError::StackExists { .. })
    ));
    let for_good = RemoveOptions {
        force: true,
        remove_backups: true,
    };
    backend.remove_stack(&dev, for_good).unwrap();
    assert!(matches!(
        backend.restore_stack(&dev),
        Err(BackendError::NotRemoved { .. })
    ));
}
