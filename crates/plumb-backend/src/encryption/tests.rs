//! Tests of encrypted states.

use std::sync::Arc;

use plumb_project::StackReference;
use plumb_secrets::Base64Manager;
use plumb_state::EncryptedSnapshot;

use super::log::LogHead;
use super::{EncryptedBucket, LogEncoder, StackKey, unprotected};
use crate::backend::{Backend, RemoveOptions};
use crate::bucket::Bucket;
use crate::compression::Compression;
use crate::conformance;
use crate::error::{BackendError, BucketError};
use crate::file_backend::FileBackend;
use crate::history::UpdateRecord;
use crate::local::LocalBucket;
use crate::memory::MemoryBucket;
use crate::store::StoreOptions;
use crate::summary::StackFilter;
use crate::tests::{World, options, owner, record, resources, stack};

fn key() -> StackKey {
    StackKey::create(&Base64Manager).unwrap()
}

fn with_keys(options: StoreOptions) -> StoreOptions {
    StoreOptions {
        state_keys: Some(Arc::new(unprotected)),
        ..options
    }
}

fn memory() -> (Arc<MemoryBucket>, FileBackend) {
    let bucket = Arc::new(MemoryBucket::default());
    let backend = open(&bucket, with_keys(options()));
    (bucket, backend)
}

fn open(bucket: &Arc<MemoryBucket>, options: StoreOptions) -> FileBackend {
    let bucket: Arc<dyn Bucket> = bucket.clone();
    FileBackend::open_bucket(bucket, "memory://", owner(), options)
        .unwrap()
        .0
}

fn history_record() -> UpdateRecord {
    serde_json::from_value(serde_json::json!({
        "kind": "update", "startTime": 1, "result": "succeeded", "endTime": 2,
    }))
    .unwrap()
}

/// An update that makes components with these names.
fn update(backend: &FileBackend, stack: &StackReference, id: &str, names: &[&str]) {
    let update = backend.begin_update(stack, id).unwrap();
    record(&update, names);
    let finished = update.finish(None, Some(&history_record())).unwrap();
    assert!(finished.history.is_none() && finished.backup.is_none());
}

/// Stored bytes of all objects.
fn stored(bucket: &dyn Bucket) -> Vec<(String, Vec<u8>)> {
    let listed = bucket.list(".pulumi").unwrap();
    let objects = listed.into_iter().map(|entry| {
        let content = bucket.get(&entry.key).unwrap().unwrap();
        let content = crate::compression::unpack(content.clone()).unwrap_or(content);
        (entry.key, content)
    });
    objects.collect()
}

/// Keys of the objects that contain a text.
fn with_text(bucket: &dyn Bucket, text: &str) -> Vec<String> {
    let mut found = stored(bucket);
    found.retain(|(_, content)| {
        content
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    });
    found.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn the_bucket_itself_passes_the_suite_of_all_buckets() {
    let world = World::new();
    let buckets: [Arc<dyn Bucket>; 2] = [
        Arc::new(MemoryBucket::default()),
        Arc::new(LocalBucket::new(world.path(""))),
    ];
    for bucket in buckets {
        conformance::check(&EncryptedBucket::new(bucket, Arc::new(unprotected)));
    }
}

#[test]
fn an_encrypted_stack_leaves_no_readable_state() {
    for compression in Compression::ALL {
        let bucket = Arc::new(MemoryBucket::default());
        let compressed = StoreOptions {
            compression,
            retain_checkpoints: true,
            ..options()
        };
        let backend = open(&bucket, with_keys(compressed.clone()));
        let dev = stack("dev");
        backend.create_stack(&dev, None).unwrap();
        update(&backend, &dev, "u1", &["visible"]);
        let history = backend.history(&dev, None).unwrap();
        assert!(
            with_text(bucket.as_ref(), "visible").len() >= 3,
            "state, history, backup"
        );

        backend.set_stack_key(&dev, Some(key())).unwrap();
        assert_eq!(with_text(bucket.as_ref(), "visible"), [""; 0]);
        update(&backend, &dev, "u2", &["hidden"]);
        let interrupted = backend.begin_update(&dev, "u3").unwrap();
        record(&interrupted, &["pending"]);
        for text in ["visible", "hidden", "pending"] {
            assert_eq!(with_text(bucket.as_ref(), text), [""; 0]);
        }
        drop(interrupted);

        // Another process.
        let backend = open(&bucket, with_keys(compressed.clone()));
        assert_eq!(resources(&backend, &dev), ["pending", "hidden", "visible"]);
        assert_eq!(backend.history(&dev, None).unwrap()[1], history[0]);
        assert_eq!(backend.history(&dev, None).unwrap().len(), 2);
        let past = backend.past(&dev, 1).unwrap().unwrap();
        assert_eq!(past.state.unwrap().opaque().resources.len(), 1);

        backend.set_stack_key(&dev, None).unwrap();
        assert!(with_text(bucket.as_ref(), "hidden").len() >= 3);
        assert_eq!(with_text(bucket.as_ref(), "PLUMB-ENCRYPTED"), [""; 0]);
        let backend = open(&bucket, compressed);
        assert_eq!(resources(&backend, &dev), ["pending", "hidden", "visible"]);
    }
}

#[test]
fn without_its_key_a_stack_is_listed_but_neither_read_nor_changed() {
    let (bucket, backend) = memory();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    update(&backend, &dev, "u1", &["a", "b"]);
    backend.set_stack_key(&dev, Some(key())).unwrap();
    let listed = backend.list_stacks(&StackFilter::default()).unwrap();
    assert_eq!(listed[0].resource_count, Some(2));

    // Leases of failed attempts come and go.
    let states = |bucket: &MemoryBucket| {
        let mut objects = stored(bucket);
        objects.retain(|(key, _)| !key.contains("/leases/"));
        objects
    };
    let before = states(&bucket);
    let refused = |_: &super::KeyRecord| Err("no passphrase".into());
    let locked = open(
        &bucket,
        StoreOptions {
            state_keys: Some(Arc::new(refused)),
            ..options()
        },
    );
    assert_eq!(locked.list_stacks(&StackFilter::default()).unwrap(), listed);
    for failed in [
        locked.load(&dev).map(drop),
        locked.begin_update(&dev, "u2").map(drop),
        locked.set_stack_key(&dev, None),
        locked.remove_stack(&dev, RemoveOptions::default()),
    ] {
        let error = failed.unwrap_err();
        assert!(matches!(
            &error,
            BackendError::Bucket(BucketError::Encrypted { .. })
        ));
    }
    // Without access to keys, the state has a feature that nobody supports.
    let error = open(&bucket, options()).load(&dev).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains(super::envelope::FEATURE), "{cause}");
    assert!(states(&bucket) == before, "nothing was changed");
}

#[test]
fn renamed_and_restored_stacks_stay_encrypted() {
    let (bucket, backend) = memory();
    let (dev, prod) = (stack("dev"), stack("prod"));
    backend.create_stack(&dev, None).unwrap();
    backend.set_stack_key(&dev, Some(key())).unwrap();
    update(&backend, &dev, "u1", &["hidden"]);
    backend.rename_stack(&dev, &prod, &mut Ok).unwrap();
    update(&backend, &prod, "u2", &["more"]);
    assert!(backend.stack_key(&prod).unwrap().is_some());
    let keeping = RemoveOptions {
        force: true,
        remove_backups: false,
    };
    backend.remove_stack(&prod, keeping).unwrap();
    backend.restore_stack(&prod).unwrap();
    backend.remove_stack(&prod, keeping).unwrap();

    let backend = open(&bucket, with_keys(options()));
    backend.restore_stack(&prod).unwrap();
    assert!(backend.stack_key(&prod).unwrap().is_some());
    backend.remove_stack(&prod, keeping).unwrap();
    assert_eq!(with_text(bucket.as_ref(), "hidden"), [""; 0]);

    // A new stack of that name has no key.
    backend.create_stack(&prod, None).unwrap();
    assert!(backend.stack_key(&prod).unwrap().is_none());
}

#[test]
fn stacks_in_the_legacy_layout_are_renamed_removed_and_restored() {
    let legacy = StoreOptions {
        legacy_layout: true,
        ..with_keys(options())
    };
    let backend = open(&Arc::new(MemoryBucket::default()), legacy);
    let legacy_stack = |name: &str| StackReference {
        project: None,
        ..stack(name)
    };
    let (dev, prod) = (legacy_stack("dev"), legacy_stack("prod"));
    backend.create_stack(&dev, None).unwrap();
    update(&backend, &dev, "u1", &["kept"]);
    backend.rename_stack(&dev, &prod, &mut Ok).unwrap();
    let keeping = RemoveOptions {
        force: true,
        remove_backups: false,
    };
    backend.remove_stack(&prod, keeping).unwrap();
    backend.restore_stack(&prod).unwrap();
    update(&backend, &prod, "u2", &["more"]);
    assert!(backend.stack_key(&prod).unwrap().is_none());
}

#[test]
fn a_stack_can_be_encrypted_from_its_beginning() {
    let (bucket, backend) = memory();
    let dev = stack("dev");
    backend.set_stack_key(&dev, Some(key())).unwrap();
    let snapshot = EncryptedSnapshot::default();
    backend.create_stack(&dev, Some(&snapshot)).unwrap();
    assert!(backend.stack_key(&dev).unwrap().is_some());
    let state = bucket.get(".pulumi/stacks/proj/dev.json").unwrap().unwrap();
    assert!(super::envelope::is_encrypted(&state));
    let legacy = StackReference {
        project: None,
        ..dev
    };
    assert!(matches!(
        backend.set_stack_key(&legacy, Some(key())),
        Err(BackendError::LegacyEncryption)
    ));
}

#[test]
fn objects_that_were_changed_are_refused() {
    let (bucket, backend) = memory();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    backend.set_stack_key(&dev, Some(key())).unwrap();
    let state = ".pulumi/stacks/proj/dev.json";
    let intact = bucket.get(state).unwrap().unwrap();
    for at in 0..intact.len() {
        let mut changed = intact.clone();
        changed[at] ^= 1;
        bucket.put(state, &changed).unwrap();
        let backend = open(&bucket, with_keys(options()));
        assert!(backend.load(&dev).is_err(), "byte {at}");
    }
    bucket.put(state, &intact).unwrap();
    backend.load(&dev).unwrap();
}

/// A journal with three commits, whole and damaged at any byte.
#[test]
fn damage_in_a_journal_is_told_from_a_torn_end() {
    let commits = [&b"one"[..], b"the second", b"3"];
    let key = key();
    let mut encoder = LogEncoder::new(key.clone());
    let frames = commits.map(|commit| encoder.encode(commit).unwrap());
    let bytes = frames.concat();
    let read = |bytes: &[u8]| LogHead::parse(bytes).unwrap().decrypt(&key.key);
    assert_eq!(read(&bytes), commits.concat());
    let ends = [
        frames[0].len(),
        frames[0].len() + frames[1].len(),
        bytes.len(),
    ];
    let head = bytes.len() - LogHead::parse(&bytes).unwrap().frames.len();
    for end in head..bytes.len() {
        let whole = ends.iter().filter(|it| **it <= end).count();
        let expected = commits[..whole].concat();
        let found = read(&bytes[..end]);
        assert!(found.starts_with(&expected));
        let rest = ends[..whole].last().copied().unwrap_or(head);
        assert_eq!(found[expected.len()..], bytes[rest..end], "the torn frame");
    }
    for at in head..ends[1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        let found = read(&damaged);
        let next = usize::from(at >= ends[0]) + 1;
        assert!(found.starts_with(&commits[..next - 1].concat()));
        assert!(found.ends_with(commits[next]), "a commit after the damage");
    }
}
