//! Stores without files: journals in segments, expiring leases, conditional replacement of the state.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plumb_state::EncryptedSnapshot;

use super::{block_on, created, options, owner, record, resources, stack};
use crate::backend::{Backend, RemoveOptions};
use crate::bucket::Bucket;
use crate::error::{BackendError, JournalError};
use crate::file_backend::FileBackend;
use crate::memory::{Fault, MemoryBucket};
use crate::recovery::{Note, SetAsideReason};
use crate::store::{Owner, StoreOptions};
use crate::summary::StackFilter;
use crate::update::Update;

const JOURNALS: &str = ".pulumi/journals/proj/dev";
const STATE: &str = ".pulumi/stacks/proj/dev.json";
/// Longer than a lease.
const LONG: Duration = Duration::from_mins(2);

fn backend(bucket: &Arc<MemoryBucket>) -> FileBackend {
    backend_with(bucket, options())
}

fn backend_with(bucket: &Arc<MemoryBucket>, options: StoreOptions) -> FileBackend {
    let bucket: Arc<dyn Bucket> = bucket.clone();
    FileBackend::open_bucket(bucket, "memory://", owner(), options)
        .unwrap()
        .0
}

/// A store with the stack `dev`.
fn store() -> (Arc<MemoryBucket>, FileBackend) {
    let bucket = Arc::new(MemoryBucket::default());
    let backend = backend(&bucket);
    backend.create_stack(&stack("dev"), None).unwrap();
    (bucket, backend)
}

fn begin(backend: &FileBackend, id: &str) -> Update {
    let update = backend.begin_update(&stack("dev"), id).unwrap();
    block_on(update.begun()).unwrap();
    update
}

fn keys(bucket: &MemoryBucket, folder: &str) -> Vec<String> {
    let listed = bucket.list(folder).unwrap();
    listed.into_iter().map(|entry| entry.key).collect()
}

fn is_locked(backend: &FileBackend) -> bool {
    let begun = backend.begin_update(&stack("dev"), "other");
    matches!(begun, Err(BackendError::Locked { .. }))
}

/// Store for the next run, some time after this update was killed.
fn killed(bucket: &MemoryBucket, update: Update) -> Arc<MemoryBucket> {
    let after = bucket.fork();
    drop(update);
    after.advance(LONG);
    Arc::new(after)
}

#[test]
fn an_update_leaves_no_journal_and_no_lock() {
    let (bucket, backend) = store();
    let update = begin(&backend, "u1");
    record(&update, &["a"]);
    record(&update, &["bb"]);
    assert_eq!(
        keys(&bucket, JOURNALS),
        ["0000000000", "0000000001", "0000000002"]
            .map(|it| format!("{JOURNALS}/u1.journal/1-{it}"))
    );
    update.finish(None, None).unwrap();
    assert_eq!(resources(&backend, &stack("dev")), ["a", "bb"]);
    assert!(keys(&bucket, JOURNALS).is_empty());
    assert!(keys(&bucket, ".pulumi/locks").is_empty());
}

#[test]
fn a_commit_is_one_request() {
    let (bucket, backend) = store();
    let update = begin(&backend, "u1");
    let before = bucket.requests();
    for _ in 0..20 {
        record(&update, &["a"]);
    }
    assert_eq!(bucket.requests() - before, 20);
}

/// Each of 256 workers records an intent, waits, records an outcome, and waits, like independent resources.
#[test]
fn commits_adapt_to_the_latency_of_the_store() {
    const CREATES: usize = 3000;
    let bucket = Arc::new(MemoryBucket::with_latency(Duration::from_millis(20)));
    let backend = backend(&bucket);
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = begin(&backend, "u1");
    let before = bucket.requests();
    let left = AtomicUsize::new(CREATES);
    std::thread::scope(|scope| {
        for _ in 0..256 {
            scope.spawn(|| {
                let take = |left: usize| left.checked_sub(1);
                while left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take)
                    .is_ok()
                {
                    record(&update, &["a"]);
                    record(&update, &["a"]);
                }
            });
        }
    });
    let commits = bucket.requests() - before;
    assert!(commits <= 2 + CREATES / 50, "{commits} requests");
}

#[test]
fn a_killed_update_is_taken_over_when_its_lease_has_ended() {
    let (bucket, first) = store();
    let update = begin(&first, "u1");
    record(&update, &["a", "bb"]);
    let early = Arc::new(bucket.fork());
    early.advance(Duration::from_secs(50));
    assert!(is_locked(&backend(&early)), "its lease lasts a minute");
    let late = killed(&bucket, update);
    let second = backend(&late);
    assert_eq!(
        resources(&second, &stack("dev")),
        ["a", "bb"],
        "reading sees the journal before it is folded"
    );
    let update = begin(&second, "u2");
    let [
        Note::ExpiredLock { lock },
        Note::Replayed { entries: 2, .. },
    ] = update.notes()
    else {
        panic!("{:?}", update.notes())
    };
    assert!(lock.contains("alice@here"), "{lock}");
    update.finish(None, None).unwrap();
    assert_eq!(resources(&second, &stack("dev")), ["a", "bb"]);
    assert_eq!(
        keys(&late, JOURNALS),
        ["1-0000000002", "removed"].map(|it| format!("{JOURNALS}/u1.journal/{it}")),
        "the seal stays"
    );
    late.advance(Duration::from_hours(24 * 8));
    // The age of a seal is measured by the clock of this machine.
    assert!(begin(&second, "u3").notes().is_empty());
}

#[test]
fn a_live_update_is_never_taken_over() {
    let bucket = Arc::new(MemoryBucket::default());
    let brief = StoreOptions {
        lease_time: Duration::from_millis(300),
        ..options()
    };
    let (first, second) = (
        backend_with(&bucket, brief.clone()),
        backend_with(&bucket, brief),
    );
    first.create_stack(&stack("dev"), None).unwrap();
    let update = begin(&first, "u1");
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_millis(1200) {
        assert!(is_locked(&second));
        std::thread::sleep(Duration::from_millis(20));
    }
    record(&update, &["a"]);
    update.finish(None, None).unwrap();
    assert_eq!(resources(&second, &stack("dev")), ["a"]);
}

#[test]
fn the_lock_of_another_program_is_never_taken_over() {
    let (bucket, backend) = store();
    let lock = ".pulumi/locks/organization/proj/dev/x.json";
    let text = br#"{"pid":1,"username":"u","hostname":"here","timestamp":"2025-01-02T03:04:05Z"}"#;
    bucket.put(lock, text).unwrap();
    bucket.advance(LONG * 1000);
    assert!(is_locked(&backend));
    assert_eq!(keys(&bucket, ".pulumi/locks"), [lock]);
}

/// A run that was suspended for longer than its lease, as on a sleeping laptop, continues.
#[test]
fn an_owner_that_slept_is_fenced() {
    let (bucket, first) = store();
    let stale = begin(&first, "u1");
    record(&stale, &["a"]);
    bucket.advance(LONG);
    let second = backend(&bucket);
    let update = begin(&second, "u2");
    let seq = stale.record(vec![created("bb")]).unwrap();
    assert!(matches!(
        block_on(stale.wait(seq)),
        Err(JournalError::Fenced(_))
    ));
    let ended = stale.finish(Some(&EncryptedSnapshot::default()), None);
    assert!(matches!(
        ended,
        Err(BackendError::Fenced(_) | BackendError::Journal(JournalError::Fenced(_)))
    ));
    record(&update, &["ccc"]);
    update.finish(None, None).unwrap();
    assert_eq!(resources(&second, &stack("dev")), ["ccc", "a"]);
}

#[test]
fn a_cancelled_or_removed_stack_fences_its_owner() {
    for is_removed in [false, true] {
        let (bucket, first) = store();
        let stale = begin(&first, "u1");
        record(&stale, &["a"]);
        let second = backend(&bucket);
        second.cancel(&stack("dev")).unwrap();
        if is_removed {
            let force = RemoveOptions {
                force: true,
                ..RemoveOptions::default()
            };
            second.remove_stack(&stack("dev"), force).unwrap();
            second.create_stack(&stack("dev"), None).unwrap();
        }
        let update = begin(&second, "u2");
        let seq = stale.record(vec![created("bb")]).unwrap();
        assert!(matches!(
            block_on(stale.wait(seq)),
            Err(JournalError::Fenced(_))
        ));
        drop(stale);
        record(&update, &["ccc"]);
        update.finish(None, None).unwrap();
        let found = resources(&second, &stack("dev"));
        let expected: &[&str] = if is_removed { &["ccc"] } else { &["ccc", "a"] };
        assert_eq!(found, expected);
    }
}

#[test]
fn a_state_that_was_changed_meanwhile_is_not_overwritten() {
    let (bucket, backend) = store();
    let update = begin(&backend, "u1");
    record(&update, &["a"]);
    let newer = [bucket.get(STATE).unwrap().unwrap(), b" ".to_vec()].concat();
    bucket.put(STATE, &newer).unwrap();
    assert!(matches!(
        update.finish(None, None),
        Err(BackendError::Fenced(_))
    ));
    assert_eq!(bucket.get(STATE).unwrap(), Some(newer));
    bucket.advance(LONG);
    let update = begin(&backend, "u2");
    assert!(
        matches!(
            update.notes().last(),
            Some(Note::SetAside {
                reason: SetAsideReason::OtherCheckpoint,
                ..
            })
        ),
        "{:?}",
        update.notes()
    );
    assert!(!keys(&bucket, &format!("{JOURNALS}/u1.journal.set-aside")).is_empty());
}

#[test]
fn writes_with_an_unknown_outcome_are_settled() {
    for fault in [Fault::Before, Fault::After] {
        let (bucket, backend) = store();
        let mut calls = 0;
        bucket.script(move |action, key| {
            let is_hit = action == "write" && (key.contains(".journal/1-") || key == STATE);
            calls += usize::from(is_hit);
            if is_hit && calls % 2 == 1 {
                fault
            } else {
                Fault::None
            }
        });
        let retrying = backend_with(
            &bucket,
            StoreOptions {
                write_retries: 2,
                ..options()
            },
        );
        let update = begin(&retrying, "u1");
        record(&update, &["a"]);
        record(&update, &["bb"]);
        update.finish(None, None).unwrap();
        bucket.heal();
        assert_eq!(resources(&backend, &stack("dev")), ["a", "bb"], "{fault:?}");
        assert!(keys(&bucket, JOURNALS).is_empty());
    }
}

#[test]
fn a_listing_of_many_stacks_reads_only_those_that_have_changed() {
    let (bucket, backend) = store();
    for number in 0..100 {
        let name = format!("s{number}");
        backend.create_stack(&stack(&name), None).unwrap();
    }
    let listed = || {
        let before = bucket.requests();
        let all = backend.list_stacks(&StackFilter::default()).unwrap();
        let counts = all.iter().map(|it| it.resource_count.unwrap());
        (counts.sum::<usize>(), all.len(), bucket.requests() - before)
    };
    // The list, the cache, each stack, and the new cache.
    assert_eq!(listed(), (0, 101, 104));
    assert_eq!(listed(), (0, 101, 2));
    let update = begin(&backend, "u1");
    record(&update, &["a", "bb"]);
    update.finish(None, None).unwrap();
    assert_eq!(listed(), (2, 101, 4));
    bucket.put(".pulumi/outlines.json", b"{}").unwrap();
    assert_eq!(listed(), (2, 101, 104));
    let removed = backend.remove_stack(&stack("s7"), RemoveOptions::default());
    removed.unwrap();
    assert_eq!(listed(), (2, 100, 2));
}

/// Clients of busy stores repeat requests, although the first one was carried out.
#[test]
fn a_client_may_repeat_every_request() {
    let bucket = Arc::new(MemoryBucket::default());
    bucket.script(|_, _| Fault::Repeated);
    let backend = backend(&bucket);
    assert_eq!(backend.check_capabilities().unwrap(), None);
    backend.create_stack(&stack("dev"), None).unwrap();
    for (id, entry) in [("u1", "a"), ("u2", "bb")] {
        let update = begin(&backend, id);
        record(&update, &[entry]);
        update.finish(None, None).unwrap();
    }
    assert_eq!(resources(&backend, &stack("dev")), ["bb", "a"]);
    assert!(keys(&bucket, JOURNALS).is_empty());
    assert!(!is_locked(&backend));
}

/// The store stops responding after each request in turn. The recorded entries are found afterwards, and no others.
#[test]
fn a_crash_after_any_request_loses_nothing() {
    let mut cut = 0;
    loop {
        let (bucket, first) = store();
        let mut requests = 0;
        bucket.script(move |_, _| {
            requests += 1;
            if requests > cut {
                Fault::Refused
            } else {
                Fault::None
            }
        });
        let mut durable = Vec::new();
        let mut is_done = false;
        if let Ok(update) = first.begin_update(&stack("dev"), "u1") {
            for name in ["a", "bb"] {
                let seq = update.record(vec![created(name)]);
                if seq.is_ok_and(|seq| block_on(update.wait(seq)).is_ok()) {
                    durable.insert(0, name);
                }
            }
            is_done = update.finish(None, None).is_ok();
        }
        let after = Arc::new(bucket.fork());
        after.advance(LONG);
        let second = backend(&after);
        let found = resources(&second, &stack("dev"));
        assert_eq!(
            found.len(),
            durable.len(),
            "reading, cut after {cut}: {found:?}"
        );
        let update = begin(&second, "u2");
        for note in update.notes() {
            assert!(
                !matches!(note, Note::SetAside { .. }),
                "cut after {cut}: {note}"
            );
        }
        record(&update, &["ccc"]);
        update.finish(None, None).unwrap();
        let names = resources(&second, &stack("dev"));
        assert_eq!(names.len(), durable.len() + 1, "cut after {cut}: {names:?}");
        assert!(
            durable
                .iter()
                .all(|name| names.contains(&(*name).to_owned()))
        );
        if is_done {
            assert!(cut > 20, "{cut} requests");
            return;
        }
        cut += 1;
    }
}

/// Another run takes over while the owner replaces the state: the second one starts from the result of the first.
#[test]
fn an_owner_at_its_end_and_the_next_one_agree() {
    let (bucket, first) = store();
    let stale = begin(&first, "u1");
    record(&stale, &["a"]);
    bucket.advance(LONG);
    // The owner has sealed its journal and written its state, but deleted nothing yet.
    bucket.script(|action, key| {
        if action == "remove" && key.contains(".journal/") {
            Fault::Refused
        } else {
            Fault::None
        }
    });
    assert!(stale.finish(None, None).is_err());
    bucket.heal();
    let second = backend(&bucket);
    bucket.advance(LONG);
    let update = begin(&second, "u2");
    assert!(
        !update
            .notes()
            .iter()
            .any(|note| matches!(note, Note::Replayed { .. } | Note::SetAside { .. })),
        "{:?}",
        update.notes()
    );
    update.finish(None, None).unwrap();
    assert_eq!(resources(&second, &stack("dev")), ["a"]);
}

#[test]
fn a_gap_or_damage_keeps_a_copy() {
    for is_gap in [false, true] {
        let (bucket, first) = store();
        let update = begin(&first, "u1");
        for name in ["a", "bb", "ccc"] {
            record(&update, &[name]);
        }
        let after = killed(&bucket, update);
        let second = format!("{JOURNALS}/u1.journal/1-0000000002");
        if is_gap {
            after.delete(&second).unwrap();
        } else {
            let mut bytes = after.get(&second).unwrap().unwrap();
            let last = bytes.len() - 2;
            bytes[last] ^= 1;
            after.put(&second, &bytes).unwrap();
        }
        let backend = backend(&after);
        let update = begin(&backend, "u2");
        assert!(
            matches!(
                update.notes().last(),
                Some(Note::SetAside {
                    reason: SetAsideReason::Damaged,
                    ..
                })
            ),
            "{:?}",
            update.notes()
        );
        update.finish(None, None).unwrap();
        assert_eq!(resources(&backend, &stack("dev")), ["a"]);
        assert!(keys(&after, &format!("{JOURNALS}/u1.journal.set-aside")).len() >= 3);
    }
}

/// A bucket that accepts conditions and ignores them.
struct Careless(Arc<MemoryBucket>);

impl Bucket for Careless {
    fn get_versioned(&self, key: &str) -> Result<Option<crate::Versioned>, crate::BucketError> {
        self.0.get_versioned(key)
    }
    fn put(&self, key: &str, content: &[u8]) -> Result<(), crate::BucketError> {
        self.0.put(key, content)
    }
    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, crate::BucketError> {
        self.0.put(key, content).map(|()| true)
    }
    fn replace(
        &self,
        key: &str,
        content: &[u8],
        _: Option<&crate::Version>,
    ) -> Result<bool, crate::BucketError> {
        self.0.put(key, content).map(|()| true)
    }
    fn delete(&self, key: &str) -> Result<bool, crate::BucketError> {
        self.0.delete(key)
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), crate::BucketError> {
        self.0.rename(from, to)
    }
    fn list(&self, folder: &str) -> Result<Vec<crate::Entry>, crate::BucketError> {
        self.0.list(folder)
    }
    fn address(&self, key: &str) -> String {
        self.0.address(key)
    }
}

/// A backend of the process with this number on a store that ignores conditions.
fn careless(bucket: &Arc<dyn Bucket>, number: u32) -> FileBackend {
    let owner = Owner {
        pid: number,
        hostname: format!("host{number}"),
        ..owner()
    };
    let opened = FileBackend::open_bucket(bucket.clone(), "memory://", owner, options());
    opened.unwrap().0
}

#[test]
fn a_store_that_ignores_conditions_is_used_with_a_lock_alone() {
    let inner = Arc::new(MemoryBucket::default());
    let bucket: Arc<dyn Bucket> = Arc::new(Careless(inner.clone()));
    let backend = careless(&bucket, 1);
    let note = backend.check_capabilities().unwrap();
    assert!(matches!(note, Some(Note::LockOnly { .. })));
    assert_eq!(bucket.list(".pulumi").unwrap().len(), 2, "a mark, no trial");
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = begin(&backend, "u1");
    assert!(matches!(update.notes(), [Note::LockOnly { .. }]));
    record(&update, &["a"]);
    assert!(is_locked(&careless(&bucket, 2)));
    // The process dies, and its lease ends: the stack is not taken from it, but a cancellation loses nothing.
    let after = Arc::new(inner.fork());
    drop(update);
    after.advance(LONG);
    let bucket: Arc<dyn Bucket> = Arc::new(Careless(after));
    let next = careless(&bucket, 2);
    assert!(is_locked(&next));
    next.cancel(&stack("dev")).unwrap();
    assert_eq!(resources(&next, &stack("dev")), ["a"]);
    let update = begin(&next, "u2");
    record(&update, &["bb"]);
    update.finish(None, None).unwrap();
    assert_eq!(resources(&next, &stack("dev")), ["bb", "a"]);
}

#[test]
fn a_store_that_refuses_conditions_is_used_with_a_lock_alone() {
    let bucket = Arc::new(MemoryBucket::default());
    let mut is_first = true;
    bucket.script(move |action, key| {
        let is_trial = action == "write" && key.contains("conditional-writes-");
        if is_trial && std::mem::take(&mut is_first) {
            Fault::Refused
        } else {
            Fault::None
        }
    });
    let backend = backend(&bucket);
    assert!(backend.check_capabilities().unwrap().is_some());
    // The next login finds that the server is a newer one.
    assert_eq!(
        backend_with(&bucket, options())
            .check_capabilities()
            .unwrap(),
        None
    );
}

#[test]
fn conditions_are_checked_where_the_store_ignores_them() {
    let bucket: Arc<dyn Bucket> = Arc::new(Careless(Arc::default()));
    let backend = careless(&bucket, 1);
    assert!(backend.check_capabilities().unwrap().is_some());
    let store = backend.store();
    assert!(store.put_if_absent("trial/one", b"1").unwrap());
    assert!(!store.put_if_absent("trial/one", b"2").unwrap());
    let first = bucket.get_versioned("trial/one").unwrap().unwrap().version;
    assert!(store.replace("trial/one", b"3", Some(&first)).unwrap());
    assert!(!store.replace("trial/one", b"4", Some(&first)).unwrap());
    assert!(!store.replace("trial/one", b"4", None).unwrap());
    assert!(store.replace("trial/two", b"5", None).unwrap());
    assert!(!store.replace("trial/three", b"6", Some(&first)).unwrap());
    assert_eq!(bucket.get("trial/one").unwrap().unwrap(), b"3");
}

#[test]
fn histories_of_several_writers_lose_nothing() {
    for seed in 0..500 {
        if let Err(text) = crate::histories::run(seed) {
            panic!("seed {seed}: {text}");
        }
    }
}
