//! Exhaustive crash tests of random processes on a file store.
//!
//! A history is a series of processes on one store. Each creates, updates, renames, removes, replaces and cancels
//! stacks at random, on a [disk](simulated) that logs its writes. Then, for each point of that log:
//!
//! 1. The [states](states) that a crash can leave are computed: that of a killed process, and those of a power failure,
//!    which may lose every write without a sync.
//! 2. The next process opens the store in each of these states, and [recovers](check) it.
//! 3. The [model] says which contents are legal: **nothing that was acknowledged is lost, nothing else appears, no id
//!    of an object is lost, the state passes the integrity check**, and a crash alone is never reported as damage.
//!
//! The history continues from one of these states, so crashes during recovery are covered. Sometimes a process turns the
//! encryption of a whole state on or off, so stores have both kinds of states, and crashes in between.
//!
//! Not covered: expiry of leases (see [`histories`](crate::histories)), and media that lose synced writes.

mod check;
mod model;
mod session;
mod simulated;
mod states;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plumb_project::{ProjectName, StackReference};
use plumb_resource::OperationType;
use plumb_state::journal::{EncryptedEntry, parse_entry};
use plumb_state::{EncryptedSnapshot, Snapshot};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::backend::{Backend, Loaded};
use crate::disk::Disk;
use crate::encryption;
use crate::error::BackendError;
use crate::file_backend::FileBackend;
use crate::history::UpdateRecord;
use crate::local::LocalBucket;
use crate::recovery;
use crate::store::{Owner, StoreOptions};

use model::{Known, Model, Stacks, State};
use session::Session;
use simulated::{Access, Image, SimulatedDisk};
use states::{Crash, Written};

/// Names of stacks. There are few, so that names are reused.
const NAMES: [&str; 3] = ["dev", "prod", "test"];

/// Counts of a history.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Processes.
    pub processes: u64,
    /// Accesses to the disk.
    pub accesses: u64,
    /// Computed crashes: the sum over all points of logs of the states that a crash can leave there.
    pub crashes: u64,
    /// Checked crashes: equal stores after equal events are checked only once.
    pub checked: u64,
    /// Crashes that need a `cancel`, because a lock is unreadable.
    pub cancelled: u64,
    /// Classes of syncs, by the data that they make durable.
    pub syncs: BTreeSet<String>,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.processes += other.processes;
        self.accesses += other.accesses;
        self.crashes += other.crashes;
        self.checked += other.checked;
        self.cancelled += other.cancelled;
        self.syncs.extend(other.syncs);
    }
}

/// Part of a history that is checked.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'s> {
    /// Sampling rate: one crash in this many is checked, at random; 1 for all.
    pub one_in: u32,
    /// Class of syncs that the disk omits, to prove that they are needed.
    pub omitted: Option<&'s str>,
}

/// Runs the history of `seed`, and checks its crashes. An error names the violation and its crash.
pub fn run(seed: u64, scope: Scope<'_>) -> Result<Counts, String> {
    let mut chance = StdRng::seed_from_u64(seed);
    let mut counts = Counts::default();
    let mut image = Image::default();
    image.folders.extend(["/", "/store"].map(PathBuf::from));
    let mut stacks = Stacks::new();
    let mut names = 0;
    for _ in 0..chance.random_range(2..5) {
        let disk = SimulatedDisk::new(&image, scope.omitted);
        let acted = live(&disk, stacks.clone(), &mut names, &mut chance);
        let (log, syncs) = disk.take_log();
        acted.map_err(|error| format!("a process cannot go on: {error}"))?;
        counts.processes += 1;
        counts.syncs.extend(syncs);
        let crash = check_all(&image, stacks, &log, scope.one_in, &mut chance, &mut counts)?;
        let found = check::check(&crash.0, &crash.1)?;
        image = check::without_processes(&crash.0.image);
        stacks = found
            .stacks
            .into_iter()
            .map(|(name, state, updates)| (name, Known::of(state, updates)))
            .collect();
    }
    Ok(counts)
}

/// Runs the actions of a process, which is killed after them.
fn live(
    disk: &SimulatedDisk,
    stacks: Stacks,
    names: &mut usize,
    chance: &mut StdRng,
) -> Result<(), BackendError> {
    let mut session = Session::new(disk, stacks, names)?;
    for _ in 0..chance.random_range(1..4) {
        match session.act(chance) {
            // A power failure may have left an unreadable lock.
            Err(BackendError::Locked { locks }) if locks.iter().all(|it| it.content.is_none()) => {
                session.cancel_all()?;
            }
            acted => acted?,
        }
    }
    disk.stop();
    Ok(())
}

/// Checks every crash of a log, and returns one of them with the knowledge at that point.
fn check_all(
    image: &Image,
    stacks: Stacks,
    log: &[Access],
    one_in: u32,
    chance: &mut StdRng,
    counts: &mut Counts,
) -> Result<(Crash, Model), String> {
    let mut model = Model::new(stacks);
    let mut written = Written::new(image);
    let mut events = 0_usize;
    let mut seen = BTreeSet::new();
    let (mut chosen, mut choices) = (None, 0);
    for (at, access) in log.iter().enumerate() {
        written.apply(access);
        match access {
            // A sync adds no states that a crash can leave.
            Access::Sync { .. } | Access::SyncFolder { .. } => continue,
            Access::Event(event) => {
                model.apply(event);
                events += 1;
            }
            _ => counts.accesses += 1,
        }
        for crash in written.crashes(chance.random()) {
            counts.crashes += 1;
            if one_in > 1 && !chance.random_ratio(1, one_in) {
                continue;
            }
            if !seen.insert(digest(&(
                events,
                crash.is_kill,
                crash.has_gap,
                &crash.image,
            ))) {
                continue;
            }
            counts.checked += 1;
            let found = check::check(&crash, &model).map_err(|violation| {
                let done: Vec<String> = log[..=at].iter().map(shown).collect();
                format!(
                    "{violation}\n  crash: {}\n  {}",
                    crash.about,
                    done.join("\n  ")
                )
            })?;
            counts.cancelled += u64::from(found.is_cancelled);
            choices += 1;
            if chance.random_ratio(1, choices) {
                chosen = Some((crash, model.clone()));
            }
        }
    }
    Ok(chosen.unwrap_or_else(|| (written.crashes(0).swap_remove(0), model)))
}

fn shown(access: &Access) -> String {
    match access {
        Access::Append { inode, content } => {
            format!("Append {{ inode: {inode}, {} bytes }}", content.len())
        }
        other => format!("{other:?}"),
    }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn stack(name: &str) -> StackReference {
    let project = ProjectName::parse("proj").expect("it is a name");
    StackReference::parse(name, Some(&project)).expect("it is a reference")
}

/// Backend of a process.
fn backend(disk: Arc<dyn Disk>) -> Result<FileBackend, BackendError> {
    let owner = Owner {
        pid: std::process::id(),
        username: "somebody".to_owned(),
        hostname: "host".to_owned(),
    };
    let options = StoreOptions {
        write_retries: 0,
        lease_time: Duration::from_hours(3),
        state_keys: Some(Arc::new(encryption::unprotected)),
        ..StoreOptions::new("v0.1.0")
    };
    let bucket = Arc::new(LocalBucket::on(disk, PathBuf::from("/store")));
    Ok(FileBackend::open_bucket(bucket, "file:///store", owner, options)?.0)
}

fn state_of(snapshot: Option<&Snapshot>) -> State {
    let Some(snapshot) = snapshot else {
        return State::default();
    };
    let resources = snapshot.resources.iter();
    let pending = snapshot.pending_operations.iter();
    let creating = pending.filter(|it| it.operation == OperationType::Creating);
    State {
        resources: resources.map(|it| it.urn.name().to_owned()).collect(),
        pending: creating
            .map(|it| it.resource.urn.name().to_owned())
            .collect(),
    }
}

/// Current state, in the writable form.
fn kept_snapshot(backend: &FileBackend, name: &str) -> Result<EncryptedSnapshot, BackendError> {
    match backend.load(&stack(name))? {
        Loaded::Folded(snapshot) => Ok(*snapshot),
        Loaded::Checkpoint(checkpoint) => recovery::encrypted(&stack(name), *checkpoint),
    }
}

/// Entry for the creation of component `name` by an operation of its own.
fn created(name: &str) -> EncryptedEntry {
    let json = format!(
        r#"{{"version":1,"kind":1,"sequenceID":1,"operationID":1,"removeOld":null,"removeNew":null,"state":{{"urn":"urn:pulumi:dev::proj::a:b:C::{name}","custom":false,"type":"a:b:C"}}}}"#,
    );
    parse_entry(&json).expect("it is an entry").1
}

fn history_record() -> UpdateRecord {
    UpdateRecord {
        kind: "update".to_owned(),
        start_time: 1,
        message: String::new(),
        environment: std::collections::BTreeMap::new(),
        config: serde_json::Map::new(),
        version: 0,
        result: "succeeded".to_owned(),
        end_time: 2,
        resource_changes: None,
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("it can be built").block_on(future)
}
