//! Stores: opening, creation, renaming, removal, upgrade.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_project::{ProjectName, StackName, StackReference};
use plumb_state::EncryptedSnapshot;

use super::{World, options, owner, record, resources, stack};
use crate::backend::{Backend, RemoveOptions};
use crate::bucket::Bucket;
use crate::compression::Compression;
use crate::error::{BackendError, BucketError};
use crate::file_backend::{FileBackend, OpenWarning};
use crate::history::{Page, UpdateRecord};
use crate::keys::StoreLayout;
use crate::local::LocalBucket;
use crate::store::StoreOptions;
use crate::url::FileUrl;

fn open(
    world: &World,
    options: StoreOptions,
) -> Result<(FileBackend, Option<OpenWarning>), BackendError> {
    let url = FileUrl {
        url: "file:///x".to_owned(),
        path: world.folder.path().to_owned(),
        create_dir: false,
    };
    FileBackend::open(&url, owner(), options)
}

fn update_record(message: &str) -> UpdateRecord {
    UpdateRecord {
        kind: "update".to_owned(),
        start_time: 1,
        message: message.to_owned(),
        environment: BTreeMap::new(),
        config: serde_json::Map::new(),
        version: 0,
        result: "succeeded".to_owned(),
        end_time: 2,
        resource_changes: None,
    }
}

#[test]
fn opening_decides_about_the_layout() {
    let world = World::new();
    assert_eq!(
        open(&world, options()).unwrap().0.layout(),
        StoreLayout::Project
    );
    assert_eq!(world.read(".pulumi/meta.yaml"), "version: 1\n");

    let world = World::new();
    world.write(".pulumi/stacks/old.json", "{}");
    assert!(matches!(
        open(&world, options()),
        Err(BackendError::LegacyLayout)
    ));
    let ignore = StoreOptions {
        ignore_deprecation_error: true,
        ..options()
    };
    assert_eq!(
        open(&world, ignore).unwrap().0.layout(),
        StoreLayout::Legacy
    );
    assert!(!world.exists(".pulumi/meta.yaml"));
    world.write(".pulumi/meta.yaml", "version: 1\n");
    let warning = open(&world, options()).unwrap().1;
    assert_eq!(
        warning,
        Some(OpenWarning::LegacyStacks {
            stacks: vec!["old".to_owned()]
        })
    );
    world.write(".pulumi/meta.yaml", "version: 7\n");
    assert!(matches!(
        open(&world, options()),
        Err(BackendError::UnsupportedMeta { version: 7 })
    ));
    world.write(".pulumi/meta.yaml", "x: 1\n");
    assert!(matches!(
        open(&world, options()),
        Err(BackendError::CorruptMeta { .. })
    ));

    let nowhere = FileUrl {
        url: "file:///x".to_owned(),
        path: world.path("missing"),
        create_dir: false,
    };
    assert!(matches!(
        FileBackend::open(&nowhere, owner(), options()),
        Err(BackendError::NoFolder { .. })
    ));
    assert!(
        FileBackend::open(
            &FileUrl {
                create_dir: true,
                ..nowhere
            },
            owner(),
            options()
        )
        .is_ok()
    );
}

#[test]
fn a_stack_lives_and_dies() {
    let world = World::new();
    let backend = world.backend_with(StoreOptions {
        compression: Compression::Gzip,
        retain_checkpoints: true,
        ..options()
    });
    let dev = stack("dev");
    backend
        .create_stack(&dev, Some(&EncryptedSnapshot::default()))
        .unwrap();
    assert!(matches!(
        backend.create_stack(&dev, None),
        Err(BackendError::StackExists { .. })
    ));
    for (id, name) in [("u1", "a"), ("u2", "bb")] {
        let update = backend.begin_update(&dev, id).unwrap();
        record(&update, &[name]);
        let finished = update.finish(None, Some(&update_record(id))).unwrap();
        assert!(finished.history.is_none() && finished.backup.is_none());
    }
    assert_eq!(resources(&backend, &dev), ["bb", "a"]);
    let messages = |page| -> Vec<String> {
        backend
            .history(&dev, page)
            .unwrap()
            .into_iter()
            .map(|record| record.message)
            .collect()
    };
    assert_eq!(messages(None), ["u2", "u1"]);
    assert_eq!(messages(Some(Page { size: 1, number: 2 })), ["u1"]);
    let backups = world.names(".pulumi/backups/proj/dev");
    assert_eq!(backups.len(), 2);
    assert!(backups[0].ends_with(".json.gz"));
    assert_eq!(
        world
            .names(".pulumi/stacks/proj")
            .iter()
            .filter(|n| n.starts_with("dev.json.gz.1"))
            .count(),
        3
    );

    let tags = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
    backend.set_tags(&dev, &tags).unwrap();
    assert_eq!(
        world.read(".pulumi/stacks/proj/dev.pulumi-tags"),
        r#"{"version":1,"tags":{"k":"v"}}"#
    );
    assert!(matches!(
        backend.remove_stack(&dev, RemoveOptions::default()),
        Err(BackendError::HasResources { .. })
    ));
    backend
        .remove_stack(
            &dev,
            RemoveOptions {
                force: true,
                remove_backups: false,
            },
        )
        .unwrap();
    assert!(!backend.stack_exists(&dev).unwrap());
    assert!(world.exists(".pulumi/stacks/proj/dev.json.gz.bak"));
    assert!(!world.exists(".pulumi/stacks/proj/dev.pulumi-tags"));
    assert_eq!(world.names(".pulumi/backups/proj/dev").len(), 2);
    assert!(world.names(".pulumi/history/proj/dev").is_empty());
}

#[test]
fn removing_with_backups_leaves_nothing_of_the_stack() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    let update = backend.begin_update(&dev, "u").unwrap();
    update
        .finish(
            Some(&EncryptedSnapshot::default()),
            Some(&update_record("m")),
        )
        .unwrap();
    backend
        .remove_stack(
            &dev,
            RemoveOptions {
                force: false,
                remove_backups: true,
            },
        )
        .unwrap();
    let mut left = Vec::new();
    for folder in [
        "stacks/proj",
        "backups/proj/dev",
        "history/proj/dev",
        "leases/proj/dev",
        "journals/proj/dev",
    ] {
        left.extend(world.names(&format!(".pulumi/{folder}")));
    }
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn renaming_moves_state_history_and_tags() {
    let world = World::new();
    let backend = world.backend();
    let (dev, prod) = (stack("dev"), stack("prod"));
    backend.create_stack(&dev, None).unwrap();
    // A stack whose name has this one as a prefix must keep its history.
    backend.create_stack(&stack("dev-2"), None).unwrap();
    for name in [&dev, &stack("dev-2")] {
        let update = backend.begin_update(name, "u").unwrap();
        record(&update, &["a"]);
        update.finish(None, Some(&update_record("m"))).unwrap();
    }
    backend
        .set_tags(&dev, &BTreeMap::from([("k".to_owned(), "v".to_owned())]))
        .unwrap();
    assert!(matches!(
        backend.rename_stack(&dev, &stack("dev-2"), &mut Ok),
        Err(BackendError::StackExists { .. })
    ));
    let mut called = false;
    backend
        .rename_stack(&dev, &prod, &mut |snapshot| {
            called = true;
            Ok(snapshot)
        })
        .unwrap();
    assert!(called);
    assert_eq!(resources(&backend, &prod), ["a"]);
    assert!(
        world
            .read(".pulumi/stacks/proj/prod.json")
            .contains("\"stack\":\"organization/proj/prod\"")
    );
    assert!(!backend.stack_exists(&dev).unwrap());
    assert!(world.exists(".pulumi/stacks/proj/dev.json.bak"));
    assert_eq!(backend.history(&prod, None).unwrap().len(), 1);
    assert_eq!(backend.history(&stack("dev-2"), None).unwrap().len(), 1);
    assert_eq!(backend.tags(&prod).unwrap()["k"], "v");
    assert!(
        world
            .names(".pulumi/locks/organization/proj/dev")
            .is_empty()
    );
}

#[test]
fn a_legacy_store_is_upgraded() {
    let world = World::new();
    let legacy = StoreOptions {
        legacy_layout: true,
        ..options()
    };
    let mut backend = world.backend_with(legacy);
    let name = |text: &str| StackReference {
        project: None,
        stack: StackName::parse(text).unwrap(),
    };
    for stack in ["dev", "empty"] {
        backend.create_stack(&name(stack), None).unwrap();
    }
    let update = backend.begin_update(&name("dev"), "u").unwrap();
    record(&update, &["a"]);
    update.finish(None, Some(&update_record("m"))).unwrap();
    assert!(world.exists(".pulumi/stacks/dev.json"));
    let left = backend
        .upgrade(
            &mut |_, guess| guess.map(|project| ProjectName::parse(project).unwrap()),
            &mut |_, snapshot| Ok(snapshot),
        )
        .unwrap();
    assert_eq!(left.len(), 1, "no project is known for the empty stack");
    assert_eq!(left[0].stack, name("empty"));
    assert_eq!(resources(&backend, &stack("dev")), ["a"]);
    assert_eq!(backend.history(&stack("dev"), None).unwrap().len(), 1);
    assert_eq!(world.read(".pulumi/meta.yaml"), "version: 1\n");
    assert_eq!(
        open(&world, options()).unwrap().0.layout(),
        StoreLayout::Project
    );
}

#[test]
fn files_of_other_programs_are_not_shown() {
    let world = World::new();
    world.write("s/k", "x");
    world.write("s/k.attrs", "{}");
    world.write("s/k.12ab.tmp", "half");
    let bucket: Arc<dyn Bucket> = Arc::new(LocalBucket::new(world.folder.path().to_owned()));
    assert_eq!(
        bucket.list("s").unwrap().len(),
        1,
        "sidecars and unfinished writes are not shown"
    );
    bucket.delete("s/k").unwrap();
    assert!(!world.exists("s/k.attrs"), "a sidecar goes with its object");
    assert!(matches!(
        bucket.put("a.attrs", b""),
        Err(BucketError::IllegalKey { .. })
    ));
}

#[test]
fn a_stack_that_a_person_has_locked_is_not_taken() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    backend.lock(&dev, Some("we move")).unwrap();
    let told = match backend.begin_update(&dev, "u1") {
        Err(BackendError::Locked { locks }) => locks[0].to_string(),
        _ => panic!("the stack is taken"),
    };
    assert!(told.ends_with("by `plumb stack lock`: we move"), "{told}");
    assert!(matches!(
        backend.lock(&dev, None),
        Err(BackendError::Locked { .. })
    ));
    assert!(backend.cancel(&dev).unwrap().locks.is_empty());
    assert_eq!(backend.unlock(&dev).unwrap().len(), 1);
    assert!(backend.unlock(&dev).unwrap().is_empty());
    drop(backend.begin_update(&dev, "u2").unwrap());
    // The lock of an update is not one set by hand.
    let update = backend.begin_update(&dev, "u3").unwrap();
    assert!(backend.unlock(&dev).unwrap().is_empty());
    assert_eq!(backend.cancel(&dev).unwrap().locks.len(), 1);
    drop(update);
}
