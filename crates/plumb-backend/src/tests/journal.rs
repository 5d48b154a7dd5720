//! The journal writer: group commit, failures, fencing.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{World, block_on, created, options, record, resources, stack};
use crate::backend::{Backend, RemoveOptions};
use crate::bucket::JournalFile;
use crate::error::{BackendError, Fenced, JournalError};
use crate::journal::{FileLog, JournalWriter, Seq};
use crate::lease::{CancelProgress, CancelRequest};
use crate::recovery::Note;
use crate::rescue::Rescue;
use crate::store::StoreOptions;

/// A file whose syncs block until permitted.
struct SlowFile {
    content: Arc<Mutex<Vec<u8>>>,
    syncs: Arc<AtomicUsize>,
    started: Sender<()>,
    go: Receiver<io::Result<()>>,
}

impl JournalFile for SlowFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        self.content.lock().unwrap().extend(content);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        let _ = self.started.send(());
        self.go.recv().unwrap_or(Ok(()))
    }
}

struct Slow {
    content: Arc<Mutex<Vec<u8>>>,
    syncs: Arc<AtomicUsize>,
    started: Receiver<()>,
    go: Sender<io::Result<()>>,
}

fn slow_file() -> (Box<SlowFile>, Slow) {
    let (content, syncs) = (Arc::default(), Arc::default());
    let (started, started_rx) = mpsc::channel();
    let (go_tx, go) = mpsc::channel();
    let file = SlowFile {
        content: Arc::clone(&content),
        syncs: Arc::clone(&syncs),
        started,
        go,
    };
    (
        Box::new(file),
        Slow {
            content,
            syncs,
            started: started_rx,
            go: go_tx,
        },
    )
}

#[test]
fn records_that_wait_together_share_one_sync() {
    let (file, slow) = slow_file();
    let journal = JournalWriter::start(
        Box::new(FileLog::new(file, Box::new(|| Ok(()))).unwrap()),
        Rescue::none(),
    )
    .unwrap();
    assert_eq!(journal.append(b"a".to_vec()), Seq(1));
    slow.started.recv().unwrap();
    for number in 2..=50_u64 {
        assert_eq!(
            journal.append_all(1, |seq| vec![b'0' + (seq.0 % 10) as u8]),
            Seq(number)
        );
    }
    assert_eq!(
        *journal.durable().borrow().as_ref().unwrap(),
        Seq(0),
        "nothing is durable before the sync"
    );
    slow.go.send(Ok(())).unwrap();
    block_on(journal.wait(Seq(1))).unwrap();
    slow.go.send(Ok(())).unwrap();
    block_on(journal.wait(Seq(50))).unwrap();
    assert_eq!(slow.syncs.load(Ordering::SeqCst), 2);
    assert_eq!(slow.content.lock().unwrap().len(), 50);
    assert_eq!(journal.close().unwrap(), Seq(50));
}

#[test]
fn a_failed_sync_reaches_every_waiter_and_ends_the_journal() {
    let (file, slow) = slow_file();
    let journal = JournalWriter::start(
        Box::new(FileLog::new(file, Box::new(|| Ok(()))).unwrap()),
        Rescue::none(),
    )
    .unwrap();
    let first = journal.append(b"a".to_vec());
    slow.go.send(Err(io::Error::other("disk full"))).unwrap();
    assert!(matches!(
        block_on(journal.wait(first)),
        Err(JournalError::Io { .. })
    ));
    let later = journal.append(b"b".to_vec());
    assert!(block_on(journal.wait(later)).is_err());
    assert_eq!(
        slow.content.lock().unwrap().as_slice(),
        b"a",
        "nothing is written after the failure"
    );
    assert!(journal.close().is_err());
}

#[test]
fn a_record_does_not_count_when_the_stack_was_lost_during_its_sync() {
    let (file, slow) = slow_file();
    let lost = Arc::new(AtomicBool::new(false));
    let guard = Arc::clone(&lost);
    let check = move || {
        let is_lost = guard.load(Ordering::SeqCst);
        if is_lost {
            Err(Fenced {
                reason: "test".to_owned(),
            })
        } else {
            Ok(())
        }
    };
    let journal = JournalWriter::start(
        Box::new(FileLog::new(file, Box::new(check)).unwrap()),
        Rescue::none(),
    )
    .unwrap();
    let seq = journal.append(b"a".to_vec());
    slow.started.recv().unwrap();
    lost.store(true, Ordering::SeqCst);
    slow.go.send(Ok(())).unwrap();
    assert!(matches!(
        block_on(journal.wait(seq)),
        Err(JournalError::Fenced(_))
    ));
}

#[test]
fn of_two_writers_the_one_that_was_cancelled_stops() {
    let world = World::new();
    let (first, second) = (world.backend(), world.backend());
    let dev = stack("dev");
    first.create_stack(&dev, None).unwrap();
    let stale = first.begin_update(&dev, "u1").unwrap();
    record(&stale, &["a"]);
    assert!(matches!(
        second.begin_update(&dev, "u2"),
        Err(BackendError::Locked { .. })
    ));
    let cancelled = second.cancel(&dev).unwrap();
    assert_eq!(cancelled.locks.len(), 1);
    assert!(
        matches!(cancelled.notes[..], [Note::Replayed { entries: 1, .. }]),
        "what the first one recorded is not lost"
    );
    assert_eq!(resources(&second, &dev), ["a"]);
    let update = second.begin_update(&dev, "u2").unwrap();
    assert!(update.notes().is_empty());
    let seq = stale.record(vec![created("bb")]).unwrap();
    assert!(matches!(
        block_on(stale.wait(seq)),
        Err(JournalError::Fenced(_))
    ));
    assert!(matches!(
        stale.finish(None, None),
        Err(BackendError::Journal(JournalError::Fenced(_)))
    ));
    record(&update, &["ccc"]);
    update.finish(None, None).unwrap();
    assert_eq!(resources(&second, &dev), ["ccc", "a"]);
    assert!(
        world
            .names(".pulumi/locks/organization/proj/dev")
            .is_empty()
    );
    assert!(world.names(".pulumi/journals/proj/dev").is_empty());
    assert_eq!(world.names(".pulumi/leases/proj/dev").len(), 1);
}

#[test]
fn a_fenced_writer_cannot_replace_the_checkpoint_either() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    let stale = backend.begin_update(&dev, "u1").unwrap();
    backend.cancel(&dev).unwrap();
    let before = world.read(".pulumi/stacks/proj/dev.json");
    let result = stale.finish(Some(&plumb_state::EncryptedSnapshot::default()), None);
    assert!(matches!(result, Err(BackendError::Fenced(_))));
    assert_eq!(world.read(".pulumi/stacks/proj/dev.json"), before);
}

#[test]
fn a_lease_is_renewed_while_the_update_lasts() {
    let world = World::new();
    let backend = world.backend_with(StoreOptions {
        lease_time: Duration::from_millis(30),
        ..options()
    });
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    let update = backend.begin_update(&dev, "u1").unwrap();
    let lease = || world.read(".pulumi/leases/proj/dev/1.json");
    let first = lease();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while lease() == first {
        assert!(
            std::time::Instant::now() < deadline,
            "the lease was not renewed"
        );
        std::thread::yield_now();
    }
    update.finish(None, None).unwrap();
    backend
        .begin_update(&dev, "u2")
        .unwrap()
        .finish(None, None)
        .unwrap();
    assert_eq!(
        world.names(".pulumi/leases/proj/dev"),
        ["2.json"],
        "epochs grow, and one file stays"
    );
}

#[test]
fn of_many_who_begin_at_once_at_most_one_wins() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (backend, dev, inside) = (&backend, &dev, &inside);
            scope.spawn(move || {
                let Ok(update) = backend.begin_update(dev, &format!("u{number}")) else {
                    return;
                };
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                record(&update, &["a"]);
                inside.fetch_sub(1, Ordering::SeqCst);
                update.finish(None, None).unwrap();
            });
        }
    });
    assert!(
        world
            .names(".pulumi/locks/organization/proj/dev")
            .is_empty()
    );
}

#[test]
fn a_stack_that_was_made_anew_does_not_belong_to_the_old_writer() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    let stale = backend.begin_update(&dev, "u1").unwrap();
    backend.cancel(&dev).unwrap();
    backend
        .remove_stack(&dev, RemoveOptions::default())
        .unwrap();
    backend.create_stack(&dev, None).unwrap();
    let update = backend.begin_update(&dev, "u2").unwrap();
    let seq = stale.record(vec![created("a")]).unwrap();
    assert!(matches!(
        block_on(stale.wait(seq)),
        Err(JournalError::Fenced(_))
    ));
    drop(stale);
    record(&update, &["bb"]);
    update.finish(None, None).unwrap();
    assert_eq!(resources(&backend, &dev), ["bb"]);
}

#[test]
fn an_owner_that_is_asked_ends_in_order() {
    let world = World::new();
    let backend = world.backend();
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    assert!(
        backend.request_cancel(&dev).unwrap().is_none(),
        "nobody is there"
    );
    let update = backend.begin_update(&dev, "u1").unwrap();
    let mut asked = update.asked_to_end().unwrap();
    assert!(!*asked.borrow());
    let mut request = world.backend().request_cancel(&dev).unwrap().unwrap();
    block_on(async { asked.wait_for(|it| *it).await.map(drop) }).unwrap();
    record(&update, &["a"]);
    let progress = |request: &mut CancelRequest| backend.cancel_progress(request).unwrap();
    while progress(&mut request) == CancelProgress::Unseen {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(progress(&mut request), CancelProgress::Ending);
    update.finish(None, None).unwrap();
    assert_eq!(progress(&mut request), CancelProgress::Ended);
    assert_eq!(resources(&backend, &dev), ["a"]);
    // The next owner needs no action by the user.
    let next = backend.begin_update(&dev, "u2").unwrap();
    drop(next);
    assert_eq!(world.names(".pulumi/leases/proj/dev"), ["2.json"]);
}

#[test]
fn an_owner_that_does_not_answer_is_silent_after_its_lease() {
    let world = World::new();
    let backend = world.backend_with(StoreOptions {
        lease_time: Duration::from_millis(50),
        ..options()
    });
    let dev = stack("dev");
    backend.create_stack(&dev, None).unwrap();
    let update = backend.begin_update(&dev, "u1").unwrap();
    let mut request = backend.request_cancel(&dev).unwrap().unwrap();
    // Simulate a stopped process, whose lease is not renewed.
    let lease = ".pulumi/leases/proj/dev/1.json";
    let stopped = world.read(lease);
    let locks = ".pulumi/locks/organization/proj/dev";
    let lock = format!("{locks}/{}", world.names(locks)[0]);
    let content = world.read(&lock);
    drop(update);
    world.write(lease, &stopped);
    world.write(&lock, &content);
    while backend.cancel_progress(&mut request).unwrap() != CancelProgress::Silent {
        std::thread::sleep(Duration::from_millis(10));
    }
}
