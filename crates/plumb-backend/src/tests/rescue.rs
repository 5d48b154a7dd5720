//! Full disks and lost stores: results of providers are kept.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plumb_state::journal::{EncryptedEntry, parse_entry};
use tempfile::TempDir;

use super::{World, block_on, options, owner, record, resources, stack};
use crate::backend::Backend;
use crate::bucket::Bucket;
use crate::disk::{Disk, DiskFile, Found, RealDisk};
use crate::error::BackendError;
use crate::file_backend::FileBackend;
use crate::local::LocalBucket;
use crate::memory::{Fault, MemoryBucket};
use crate::recovery::Note;
use crate::rescue::RescuedObject;
use crate::store::StoreOptions;
use crate::update::Update;

/// A disk with this number of free bytes.
#[derive(Debug, Clone)]
struct SmallDisk(Arc<AtomicU64>);

struct SmallFile {
    file: Box<dyn DiskFile>,
    left: Arc<AtomicU64>,
    reserved: u64,
}

impl SmallFile {
    fn take(&mut self, bytes: u64) -> io::Result<()> {
        let from_reserve = bytes.min(self.reserved);
        let rest = bytes - from_reserve;
        let left = self.left.load(Ordering::SeqCst);
        if rest > left {
            return Err(ErrorKind::StorageFull.into());
        }
        self.reserved -= from_reserve;
        self.left.store(left - rest, Ordering::SeqCst);
        Ok(())
    }
}

impl DiskFile for SmallFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        self.take(content.len() as u64)?;
        self.file.append(content)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reserve(&mut self, room: u64) -> io::Result<()> {
        let more = room.saturating_sub(self.reserved);
        let left = self.left.load(Ordering::SeqCst);
        if more > left {
            return Err(ErrorKind::StorageFull.into());
        }
        self.left.store(left - more, Ordering::SeqCst);
        self.reserved += more;
        Ok(())
    }
}

impl Disk for SmallDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealDisk.read(path)
    }

    fn look(&self, path: &Path) -> io::Result<Found> {
        RealDisk.look(path)
    }

    fn children(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        RealDisk.children(folder)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(SmallFile {
            file: RealDisk.create(path)?,
            left: self.0.clone(),
            reserved: 0,
        }))
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        RealDisk.create_folder(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.link(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        RealDisk.unlink(path)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn hold(&self, folder: &Path) -> io::Result<Box<dyn Send>> {
        RealDisk.hold(folder)
    }
}

/// Entry for an object of a provider, with its id.
fn object(name: &str, number: u64) -> EncryptedEntry {
    let json = format!(
        r#"{{"version":1,"kind":1,"sequenceID":1,"operationID":{number},"removeOld":null,"removeNew":null,"state":{{"urn":"urn:pulumi:dev::proj::pulumi:providers:x::{name}","custom":true,"id":"id-{name}","type":"pulumi:providers:x"}}}}"#
    );
    parse_entry(&json).unwrap().1
}

fn backend_on(bucket: Arc<dyn Bucket>, recovery: Option<&TempDir>) -> FileBackend {
    let options = StoreOptions {
        recovery_folder: recovery.map(|folder| folder.path().join("recovery")),
        ..options()
    };
    FileBackend::open_bucket(bucket, "store", owner(), options)
        .unwrap()
        .0
}

fn files_in(folder: &TempDir) -> Vec<String> {
    let Ok(listed) = fs::read_dir(folder.path().join("recovery")) else {
        return Vec::new();
    };
    listed
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn rescued(object: &str) -> RescuedObject {
    RescuedObject {
        urn: format!("urn:pulumi:dev::proj::pulumi:providers:x::{object}"),
        id: format!("id-{object}"),
    }
}

/// Records an entry that does not become durable.
fn lose(update: &Update, name: &str, number: u64) {
    let seq = update.record(vec![object(name, number)]).unwrap();
    block_on(update.wait(seq)).unwrap_err();
}

#[test]
fn outcomes_are_written_into_the_room_that_was_reserved_for_them() {
    let (world, home) = (World::new(), TempDir::new().unwrap());
    let disk = SmallDisk(Arc::new(AtomicU64::new(1 << 20)));
    let bucket = LocalBucket::on(Arc::new(disk.clone()), world.path(""));
    let backend = backend_on(Arc::new(bucket), Some(&home));
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    record(&update, &["a"]);
    disk.0.store(0, Ordering::SeqCst);
    // Larger than the reserved room.
    let long = "b".repeat(40_000);
    lose(&update, &long, 10);
    lose(&update, "c", 11);
    let error = update.finish(None, None).unwrap_err();
    assert!(!matches!(error, BackendError::Rescued { .. }), "{error}");
    assert_eq!(files_in(&home), [""; 0]);
    disk.0.store(1 << 20, Ordering::SeqCst);
    let held = world.names(".pulumi/locks/organization/proj/dev");
    assert_eq!(
        held.len(),
        1,
        "the stack stays locked until it is recovered"
    );
    backend.cancel(&stack("dev")).unwrap();
    assert_eq!(resources(&backend, &stack("dev")), ["a", &long, "c"]);
}

#[test]
fn what_a_full_disk_does_not_take_is_recovered_from_the_home_folder() {
    let (world, home) = (World::new(), TempDir::new().unwrap());
    let disk = SmallDisk(Arc::new(AtomicU64::new(1 << 20)));
    let bucket = LocalBucket::on(Arc::new(disk.clone()), world.path(""));
    let backend = backend_on(Arc::new(bucket), Some(&home));
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    disk.0.store(1000, Ordering::SeqCst);
    lose(&update, &"a".repeat(2000), 1);
    lose(&update, "b", 2);
    let error = update.finish(None, None).unwrap_err();
    let BackendError::Rescued { rescued: found, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(found.objects[1], rescued("b"));
    assert!(error.to_string().contains("id-b"), "{error}");
    assert_eq!(files_in(&home).len(), 1);
    disk.0.store(1 << 20, Ordering::SeqCst);
    backend.cancel(&stack("dev")).unwrap();
    assert_eq!(
        resources(&backend, &stack("dev")),
        ["a".repeat(2000), "b".to_owned()]
    );
    assert_eq!(files_in(&home), [""; 0]);
}

#[test]
fn what_a_lost_store_does_not_take_is_recovered_from_the_home_folder() {
    let home = TempDir::new().unwrap();
    let bucket = Arc::new(MemoryBucket::default());
    let backend = backend_on(bucket.clone(), Some(&home));
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    record(&update, &["a"]);
    bucket.script(|_, _| Fault::Refused);
    lose(&update, "b", 3);
    let error = update.finish(None, None).unwrap_err();
    assert!(matches!(error, BackendError::Rescued { .. }), "{error}");
    bucket.heal();
    assert_eq!(resources(&backend, &stack("dev")), ["a", "b"]);
    backend.cancel(&stack("dev")).unwrap();
    assert_eq!(resources(&backend, &stack("dev")), ["a", "b"]);
    assert_eq!(files_in(&home), [""; 0]);
}

#[test]
fn a_recovery_file_that_comes_too_late_is_reported_with_its_ids() {
    let home = TempDir::new().unwrap();
    let bucket = Arc::new(MemoryBucket::default());
    let backend = backend_on(bucket.clone(), Some(&home));
    backend.create_stack(&stack("dev"), None).unwrap();
    let update = backend.begin_update(&stack("dev"), "u1").unwrap();
    record(&update, &["a"]);
    bucket.script(|_, _| Fault::Refused);
    lose(&update, "b", 3);
    update.finish(None, None).unwrap_err();
    bucket.heal();
    // Another machine does not have the file.
    backend_on(bucket.clone(), None)
        .cancel(&stack("dev"))
        .unwrap();
    let update = backend.begin_update(&stack("dev"), "u2").unwrap();
    let [Note::Orphaned(found)] = update.notes() else {
        panic!("{:?}", update.notes())
    };
    assert_eq!(found.objects, [rescued("b")]);
    assert!(update.notes()[0].to_string().contains("id-b"));
    drop(update);
    assert!(files_in(&home)[0].ends_with(".set-aside"));
}
