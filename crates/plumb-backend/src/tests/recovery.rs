//! Crashes: durable records are recovered, and nothing is dropped silently.

use std::fs;
use std::path::PathBuf;

use plumb_state::journal::{disk, parse_entry};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{World, crash, created, ended_process, record, resources, stack};
use crate::backend::{Backend, LoadedRoot};
use crate::recovery::{Note, SetAsideReason};

const JOURNAL: &str = ".pulumi/journals/proj/dev/u1.journal";
const STATE: &str = ".pulumi/stacks/proj/dev.json";

/// Store whose stack `dev` was being updated when the process died; the journal holds these entries, a record each.
fn crashed(names: &[&str]) -> World {
    let world = World::new();
    let backend = world.backend();
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    for name in names {
        record(&update, &[name]);
    }
    crash(&world, update);
    world
}

fn journal_of(world: &World) -> Vec<u8> {
    fs::read(world.path(JOURNAL)).unwrap()
}

/// Lengths of the journal after each record, starting with the header.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    (0..=bytes.len())
        .filter(|cut| *cut > 0 && disk::read(&bytes[..*cut]).unwrap().good == *cut)
        .collect()
}

#[test]
fn the_next_run_takes_over_the_lock_and_replays_the_journal() {
    let world = crashed(&["a", "bb"]);
    let backend = world.backend();
    assert_eq!(
        resources(&backend, &stack("dev")),
        ["a", "bb"],
        "reading sees the journal before it is folded"
    );
    assert!(world.exists(JOURNAL), "reading changes nothing");
    let update = backend.begin_update(&stack("dev"), "u2").unwrap();
    let [Note::DeadLock { lock }, Note::Replayed { entries: 2, .. }] = update.notes() else {
        panic!("{:?}", update.notes())
    };
    assert!(lock.contains("alice@here"));
    assert_eq!(
        update
            .base()
            .latest
            .as_ref()
            .unwrap()
            .opaque()
            .resources
            .len(),
        2
    );
    update.finish(None, None).unwrap();
    assert!(world.names(".pulumi/journals/proj/dev").is_empty());
    assert_eq!(resources(&backend, &stack("dev")), ["a", "bb"]);
}

/// Outputs are read from the beginning of the state file, unless a journal may say otherwise.
#[test]
fn the_root_is_read_alone_if_there_is_no_journal() {
    let root = json!({"urn": "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev", "custom": false,
        "type": "pulumi:pulumi:Stack", "outputs": {"a": 1}});
    let state = json!({"version": 3, "checkpoint": {"stack": "organization/proj/dev", "latest": {
        "manifest": {"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""}, "resources": [root]}}});
    let world = World::new();
    let backend = world.backend();
    backend.create_stack(&stack("dev"), None).unwrap();
    world.write(STATE, &state.to_string());
    let read = || backend.load_root(&stack("dev")).unwrap();
    assert!(matches!(read(), LoadedRoot::Alone(_)));
    let count = |root: &LoadedRoot| root.opaque().map(|it| it.resources.len());
    assert_eq!(count(&read()), Some(1));
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    record(&update, &["a"]);
    crash(&world, update);
    assert!(matches!(read(), LoadedRoot::Among(_)));
    assert_eq!(count(&read()), Some(2));
}

#[test]
fn the_lock_of_a_process_on_another_machine_stays() {
    let world = crashed(&["a"]);
    let folder = ".pulumi/locks/organization/proj/dev";
    let lock = format!("{folder}/{}", world.names(folder)[0]);
    let elsewhere = world.read(&lock).replace("\"bootId\":\"", "\"bootId\":\"x");
    world.write(&lock, &elsewhere);
    assert!(world.backend().begin_update(&stack("dev"), "u2").is_err());
    world.write(&lock, "not JSON");
    let error = world
        .backend()
        .begin_update(&stack("dev"), "u2")
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("cannot be read"));
}

#[test]
fn a_journal_cut_at_any_byte_gives_what_was_whole() {
    let names = ["a", "bb", "ccc"];
    let world = crashed(&names);
    let whole = journal_of(&world);
    let ends = boundaries(&whole);
    assert_eq!(ends.len(), names.len() + 1);
    // All ends of records, and all bytes of the header and of the last record.
    let mut cuts: Vec<usize> = (0..=ends[0])
        .chain(ends.clone())
        .chain(ends[2]..=whole.len())
        .collect();
    cuts.dedup();
    for cut in cuts {
        let world = world.copy();
        fs::write(world.path(JOURNAL), &whole[..cut]).unwrap();
        let expected = ends
            .iter()
            .filter(|end| **end <= cut)
            .count()
            .saturating_sub(1);
        let backend = world.backend();
        assert_eq!(
            resources(&backend, &stack("dev")),
            names[..expected],
            "reading, cut at {cut}"
        );
        backend
            .begin_update(&stack("dev"), "u2")
            .unwrap()
            .finish(None, None)
            .unwrap();
        assert_eq!(
            resources(&backend, &stack("dev")),
            names[..expected],
            "cut at {cut}"
        );
        assert!(
            world.names(".pulumi/journals/proj/dev").is_empty(),
            "cut at {cut}"
        );
    }
}

#[test]
fn a_journal_of_another_checkpoint_is_set_aside() {
    let world = crashed(&["a"]);
    world.write(STATE, &format!("{} ", world.read(STATE)));
    let journal = journal_of(&world);
    let update = world.backend().begin_update(&stack("dev"), "u2").unwrap();
    assert!(matches!(
        update.notes()[1],
        Note::SetAside {
            reason: SetAsideReason::OtherCheckpoint,
            ..
        }
    ));
    update.finish(None, None).unwrap();
    assert_eq!(
        world.names(".pulumi/journals/proj/dev"),
        ["u1.journal.set-aside"]
    );
    assert_eq!(
        fs::read(world.path(".pulumi/journals/proj/dev/u1.journal.set-aside")).unwrap(),
        journal
    );
    let again = world.backend().begin_update(&stack("dev"), "u3").unwrap();
    assert!(again.notes().is_empty(), "it is reported once");
}

#[test]
fn damage_in_the_middle_keeps_a_copy() {
    let world = crashed(&["a", "bb", "ccc"]);
    let mut bytes = journal_of(&world);
    let ends = boundaries(&bytes);
    bytes[ends[1] + 20] ^= 1;
    fs::write(world.path(JOURNAL), &bytes).unwrap();
    let backend = world.backend();
    let update = backend.begin_update(&stack("dev"), "u2").unwrap();
    assert!(
        matches!(
            update.notes()[2],
            Note::SetAside {
                reason: SetAsideReason::Damaged,
                ..
            }
        ),
        "{:?}",
        update.notes()
    );
    update.finish(None, None).unwrap();
    assert_eq!(resources(&backend, &stack("dev")), ["a"]);

    let world = crashed(&["a"]);
    let mut text = journal_of(&world);
    let length = text.len();
    text[0] ^= 1;
    fs::write(world.path(JOURNAL), &text).unwrap();
    let update = world.backend().begin_update(&stack("dev"), "u2").unwrap();
    assert!(matches!(
        update.notes()[1],
        Note::SetAside {
            reason: SetAsideReason::Unreadable,
            ..
        }
    ));
    drop(update);
    let aside = fs::read(world.path(".pulumi/journals/proj/dev/u1.journal.set-aside")).unwrap();
    assert_eq!(aside.len(), length);
}

#[test]
fn a_crash_between_saving_and_removing_the_journal_is_no_second_run() {
    let world = crashed(&["a"]);
    let (journal, lock_folder) = (journal_of(&world), ".pulumi/locks/organization/proj/dev");
    let update = world.backend().begin_update(&stack("dev"), "u2").unwrap();
    drop(update);
    // Simulate a stop directly after the checkpoint was saved.
    fs::write(world.path(JOURNAL), &journal).unwrap();
    let digest = disk::read(&journal).unwrap().header.unwrap().checkpoint;
    let state = world.read(STATE);
    let present = disk::CheckpointDigest::of(state.as_bytes());
    assert_ne!(digest, present);
    world.write(".pulumi/journals/proj/dev/u1.folded", &present.to_string());
    let dead = serde_json::to_string(&ended_process()).unwrap();
    world.write(
        &format!("{lock_folder}/x.json"),
        &format!(r#"{{"pid":1,"username":"u","hostname":"there","timestamp":"2025-01-02T03:04:05Z","process":{dead}}}"#),
    );
    let update = world.backend().begin_update(&stack("dev"), "u3").unwrap();
    assert_eq!(update.notes().len(), 1, "{:?}", update.notes());
    drop(update);
    assert_eq!(world.read(STATE), state);
    assert!(world.names(".pulumi/journals/proj/dev").is_empty());
}

/// Containers share host names, and have process ids of their own.
#[test]
fn host_name_and_process_id_are_no_proof_of_death() {
    let ended = ended_process();
    let elsewhere = crate::ProcessIdentity {
        pid_namespace: "pid:[1]".to_owned(),
        ..ended.clone()
    };
    for process in [None, Some(elsewhere)] {
        let world = World::new();
        let backend = world.backend();
        backend.create_stack(&stack("dev"), None).unwrap();
        let content = crate::LockContent {
            owner: crate::Owner {
                pid: ended.pid,
                username: "u".to_owned(),
                hostname: "here".to_owned(),
            },
            timestamp: "2025-01-02T03:04:05Z".to_owned(),
            process,
            lease: None,
            by_hand: None,
        };
        let text = serde_json::to_string(&content).unwrap();
        world.write(".pulumi/locks/organization/proj/dev/x.json", &text);
        let begun = backend.begin_update(&stack("dev"), "u1");
        assert!(matches!(begun, Err(crate::BackendError::Locked { .. })));
        assert_eq!(
            world.names(".pulumi/locks/organization/proj/dev"),
            ["x.json"]
        );
    }
}

#[test]
fn an_update_that_is_dropped_keeps_what_it_recorded() {
    let world = World::new();
    let backend = world.backend();
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    record(&update, &["a"]);
    // Not awaited: the record is written at the latest when the update ends.
    update.record(vec![created("bb")]).unwrap();
    drop(update);
    assert_eq!(resources(&backend, &stack("dev")), ["a", "bb"]);
    assert!(
        world
            .names(".pulumi/locks/organization/proj/dev")
            .is_empty()
    );
    assert!(world.names(".pulumi/journals/proj/dev").is_empty());
}

#[test]
fn every_replay_vector_survives_a_crash() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/vectors/journal-replay.json");
    let vectors: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let world = World::new();
        let backend = world.backend();
        backend.create_stack(&stack("dev"), None).unwrap();
        let checkpoint = json!({"stack": "organization/proj/dev", "latest": vectors["base"]});
        world.write(
            STATE,
            &json!({"version": 3, "checkpoint": checkpoint}).to_string(),
        );
        let update = backend.begin_update(&stack("dev"), "u1").unwrap();
        let entries = case["entries"].as_array().unwrap().iter();
        let last = update
            .record(
                entries
                    .map(|entry| parse_entry(&entry.to_string()).unwrap().1)
                    .collect(),
            )
            .unwrap();
        super::block_on(update.wait(last)).unwrap();
        crash(&world, update);
        drop(world.backend().begin_update(&stack("dev"), "u2").unwrap());
        let written: Json = serde_json::from_str(&world.read(STATE)).unwrap();
        let (mut found, mut expected) = (
            written["checkpoint"]["latest"].clone(),
            case["result"]["deployment"].clone(),
        );
        found["manifest"] = Json::Null;
        expected["manifest"] = Json::Null;
        assert_eq!(found, expected, "{}", case["name"]);
        assert_eq!(
            written["version"], case["result"]["version"],
            "{}",
            case["name"]
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Runs, crashes and torn tails in any order: durable records remain, in order, and nothing else appears.
    #[test]
    fn nothing_durable_is_ever_lost(steps in prop::collection::vec((1_usize..4, 0_usize..3, 0_usize..40), 1..5)) {
        let world = World::new();
        let backend = world.backend();
        let dev = stack("dev");
        backend.create_stack(&dev, None).unwrap();
        let mut expected: Vec<String> = Vec::new();
        let mut number = 0;
        for (run, (count, ending, torn)) in steps.into_iter().enumerate() {
            let update = backend.begin_update(&dev, &format!("u{run}")).unwrap();
            let mut added = Vec::new();
            for _ in 0..count {
                number += 1;
                let name = "n".repeat(number);
                record(&update, &[&name]);
                added.push(name);
            }
            match ending {
                0 => { update.finish(None, None).unwrap(); }
                1 => drop(update),
                _ => {
                    crash(&world, update);
                    let path = world.path(&format!(".pulumi/journals/proj/dev/u{run}.journal"));
                    let mut bytes = fs::read(&path).unwrap();
                    // An incomplete record.
                    let half = disk::entry_record(99, &created("half"));
                    bytes.extend(&half[..torn.min(half.len() - 1)]);
                    fs::write(&path, bytes).unwrap();
                }
            }
            added.append(&mut expected);
            expected = added;
            prop_assert_eq!(&resources(&backend, &dev), &expected);
        }
    }
}
