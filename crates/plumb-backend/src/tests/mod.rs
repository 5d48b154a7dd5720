//! Tests of the file backend.

mod crashes;
mod journal;
mod readers;
mod recovery;
mod rescue;
mod sample;
mod segments;
mod store;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plumb_project::{ProjectName, StackReference};
use plumb_state::journal::{EncryptedEntry, parse_entry};
use tempfile::TempDir;

use crate::backend::Backend;
use crate::file_backend::FileBackend;
use crate::local::LocalBucket;
use crate::store::{Owner, StoreOptions};
use crate::update::Update;

/// A store in a temporary folder.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        // Use memory if possible, because the tests sync thousands of times.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        World {
            folder: folder.unwrap(),
        }
    }

    fn copy(&self) -> Self {
        let copy = World::new();
        copy_folder(&self.path(".pulumi"), &copy.path(".pulumi"));
        copy
    }

    /// A copy of the sample store.
    fn sample() -> Self {
        let world = World::new();
        let vectors = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/data/vectors/diy-sample/dot-pulumi");
        copy_folder(&vectors, &world.path(".pulumi"));
        world
    }

    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.folder.path().join(key)
    }

    fn read(&self, key: &str) -> String {
        fs::read_to_string(self.path(key)).unwrap()
    }

    fn write(&self, key: &str, text: &str) {
        fs::create_dir_all(self.path(key).parent().unwrap()).unwrap();
        fs::write(self.path(key), text).unwrap();
    }

    fn exists(&self, key: &str) -> bool {
        self.path(key).exists()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn backend(&self) -> FileBackend {
        self.backend_with(options())
    }

    fn backend_with(&self, options: StoreOptions) -> FileBackend {
        let bucket = Arc::new(LocalBucket::new(self.folder.path().to_owned()));
        FileBackend::open_bucket(bucket, "file:///store", owner(), options)
            .unwrap()
            .0
    }
}

pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        write_retries: 0,
        lease_time: Duration::from_mins(1),
        ..StoreOptions::new("v0.1.0")
    }
}

pub(crate) fn owner() -> Owner {
    Owner {
        pid: std::process::id(),
        username: "alice".to_owned(),
        hostname: "here".to_owned(),
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            // `fs::copy` would also copy read-only permissions.
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

pub(crate) fn stack(name: &str) -> StackReference {
    StackReference::parse(name, Some(&ProjectName::parse("proj").unwrap())).unwrap()
}

/// Entry for the creation of component `name`.
fn created(name: &str) -> EncryptedEntry {
    let json = format!(
        r#"{{"version":1,"kind":1,"sequenceID":1,"operationID":{},"removeOld":null,"removeNew":null,"state":{{"urn":"urn:pulumi:dev::proj::a:b:C::{name}","custom":false,"type":"a:b:C"}}}}"#,
        name.len() + 1
    );
    parse_entry(&json).unwrap().1
}

/// Names of the resources in the loaded state of a stack.
pub(crate) fn resources(backend: &FileBackend, stack: &StackReference) -> Vec<String> {
    let names = |snapshot: &plumb_state::Snapshot| {
        snapshot
            .resources
            .iter()
            .map(|resource| resource.urn.name().to_owned())
            .collect()
    };
    backend
        .load(stack)
        .unwrap()
        .opaque()
        .map_or_else(Vec::new, names)
}

/// Records the entries and waits until they are durable.
pub(crate) fn record(update: &Update, names: &[&str]) {
    let last = update
        .record(names.iter().map(|name| created(name)).collect())
        .unwrap();
    block_on(update.wait(last)).unwrap();
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

/// Ends an update like a crash: nothing is saved, the lock and the journal stay, the process is dead.
fn crash(world: &World, update: Update) {
    let before = tempfile::tempdir().unwrap();
    copy_folder(&world.path(".pulumi"), before.path());
    drop(update);
    fs::remove_dir_all(world.path(".pulumi")).unwrap();
    copy_folder(before.path(), &world.path(".pulumi"));
    let dead = ended_process().pid;
    visit(&world.path(".pulumi/locks"), &|path| {
        let text = fs::read_to_string(path).unwrap();
        let own = format!("\"pid\":{}", std::process::id());
        fs::write(path, text.replace(&own, &format!("\"pid\":{dead}"))).unwrap();
    });
}

fn visit(folder: &Path, action: &dyn Fn(&Path)) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, action);
        } else {
            action(&path);
        }
    }
}

/// Identity of a process that has ended.
fn ended_process() -> crate::ProcessIdentity {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    crate::ProcessIdentity {
        pid: child.id(),
        ..crate::ProcessIdentity::own().unwrap()
    }
}

#[test]
fn buckets_conform() {
    let world = World::new();
    crate::conformance::check(&LocalBucket::new(world.folder.path().to_owned()));
    crate::conformance::check(&crate::MemoryBucket::default());
}
