//! Random histories of several writers on one stack of an object store, with their invariants.
//!
//! Writers begin updates, record, finish, sleep, and are killed and cancelled. Each request of a writer passes through
//! its [`Link`](link::Link), which sometimes lets other writers act first, sometimes returns an error, repeats a
//! request or is down for a while, and sometimes is cut for good, as by `kill -9`. Writers can thus interrupt each other between any two requests, although all actions
//! are sequential and determined by the seed.
//!
//! Invariants of each history:
//!
//! 1. **No lost updates**: an entry whose recording was acknowledged stays in the state.
//! 2. The state contains only entries that a writer tried to record.
//! 3. **One writer at a time**: no update begins during the lease of another one, or while a writer of the upstream
//!    protocol holds its lock.
//! 4. No journal is set aside, because nothing damages a journal.
//! 5. After all writers are killed, the next run takes over without help, and leaves no lock behind.

mod link;
mod model;
mod place;
mod upstream;
mod writer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plumb_project::{ProjectName, StackReference};
use plumb_secrets::Base64Manager;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::backend::Backend;
use crate::bucket::Bucket;
use crate::encryption::{self, StackKey};
use crate::file_backend::FileBackend;
use crate::keys;
use crate::recovery::Note;
use crate::store::{Owner, StoreOptions};

use link::{Direct, Link};
use model::Model;
use place::Place;
use upstream::Upstream;
use writer::Writer;

/// Duration of leases in histories, long enough that none is renewed.
const LEASE: Duration = Duration::from_hours(3);
/// Maximum depth of nested actions.
const DEPTH: usize = 3;

/// Counts of events in histories.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Updates that began.
    pub begun: u64,
    /// Entries recorded durably.
    pub recorded: u64,
    /// Writers killed during an action.
    pub killed: u64,
    /// Updates that took the stack over from another one.
    pub taken_over: u64,
    /// Actions between two requests of another writer.
    pub nested: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.begun += other.begun;
        self.recorded += other.recorded;
        self.killed += other.killed;
        self.taken_over += other.taken_over;
        self.nested += other.nested;
    }
}

/// Limits of a history.
struct Depth {
    /// Current number of nested actions.
    under_way: usize,
    /// Number of actions that may still begin.
    left: usize,
}

/// State shared by all writers of a history.
struct World {
    bucket: Place,
    /// All writers; the slot of an acting writer is empty.
    writers: Vec<Mutex<Option<Writer>>>,
    upstream: Mutex<Option<Upstream>>,
    model: Mutex<Model>,
    chance: Mutex<StdRng>,
    depth: Mutex<Depth>,
    /// Whether requests fail and writers die.
    has_faults: bool,
}

/// Runs the history of `seed` in memory. An error names the violated invariant and lists the preceding events.
pub fn run(seed: u64) -> Result<Counts, String> {
    run_in(Place::in_memory(), seed)
}

/// Runs the history of `seed` in an empty folder of a bucket. Only the clock is moved, and requests fail, by pretence.
pub fn run_on(bucket: Arc<dyn Bucket>, folder: &str, seed: u64) -> Result<Counts, String> {
    run_in(Place::within(bucket, &format!("{folder}/")), seed)
}

fn run_in(bucket: Place, seed: u64) -> Result<Counts, String> {
    let mut chance = StdRng::seed_from_u64(seed);
    let actions = chance.random_range(4..40);
    let world = Arc::new(World {
        bucket,
        writers: (0..chance.random_range(2..=5))
            .map(|_| Mutex::default())
            .collect(),
        upstream: Mutex::new(Some(Upstream::default())),
        model: Mutex::default(),
        has_faults: chance.random_bool(0.7),
        chance: Mutex::new(chance),
        depth: Mutex::new(Depth {
            under_way: 0,
            left: actions,
        }),
    });
    let reader = world.reader(99);
    // In one of three histories the state is encrypted as a whole.
    if seed.is_multiple_of(3) {
        let key = StackKey::create(&Base64Manager).map_err(|error| error.to_string())?;
        let set = reader.set_stack_key(&stack(), Some(key));
        set.map_err(|error| error.to_string())?;
    }
    let created = reader.create_stack(&stack(), None);
    created.map_err(|error| error.to_string())?;
    for (number, place) in world.writers.iter().enumerate() {
        *lock(place) = Some(Writer::new(number, &world));
    }
    while world.act() {}
    world.end();
    let mut model = world.model();
    match model.violation.take() {
        Some(violation) => Err(format!("{violation}\n{}", model.log.join("\n"))),
        None => Ok(model.counts),
    }
}

impl World {
    /// A backend without interference.
    fn reader(self: &Arc<Self>, number: u32) -> FileBackend {
        backend(Arc::new(Direct(self.clone())), number)
    }

    /// Lets an idle writer, a reader or the clock act. Returns false when the limits are reached.
    fn act(self: &Arc<Self>) -> bool {
        {
            let mut depth = lock(&self.depth);
            if depth.under_way >= DEPTH || depth.left == 0 {
                return false;
            }
            depth.under_way += 1;
            depth.left -= 1;
        }
        let what = self.chance().random_range(0..20);
        match what {
            0 => self.pass(LEASE / 2),
            1 | 2 => self.pass(LEASE * 2),
            3 => self.read(),
            4 | 5 => self.let_upstream_act(),
            _ => self.let_a_writer_act(),
        }
        lock(&self.depth).under_way -= 1;
        true
    }

    fn let_a_writer_act(self: &Arc<Self>) {
        let number = self.chance().random_range(0..self.writers.len());
        let place = &self.writers[number];
        let Some(mut writer) = lock(place).take() else {
            return;
        };
        writer.act(self);
        *lock(place) = Some(writer);
    }

    fn let_upstream_act(self: &Arc<Self>) {
        let Some(mut upstream) = lock(&self.upstream).take() else {
            return;
        };
        upstream.act(self);
        *lock(&self.upstream) = Some(upstream);
    }

    /// Reads the state without taking the stack, while others act.
    fn read(self: &Arc<Self>) {
        let certain = self.model().certain.clone();
        let link = Arc::new(Link::new(self));
        let reader = backend(link.clone(), 98);
        link.open();
        self.model().note("somebody reads …");
        let names = writer::names_in(&reader);
        let mut model = self.model();
        model.note("somebody reads");
        if names
            .as_ref()
            .is_err_and(|error| error.starts_with(UNREACHABLE))
        {
            return;
        }
        model.check_state(&certain, names);
    }

    fn pass(&self, time: Duration) {
        self.bucket.advance(time);
        let mut model = self.model();
        model.now += time;
        model.note(&format!("{} s pass", time.as_secs()));
    }

    /// Kills all writers, and lets the next run take over.
    fn end(self: &Arc<Self>) {
        for place in &self.writers {
            let writer = lock(place).take();
            if let Some(mut writer) = writer {
                writer.kill(self);
            }
        }
        if let Some(upstream) = lock(&self.upstream).as_mut() {
            upstream.finish(self);
        }
        self.pass(LEASE * 4);
        if let Err(text) = self.take_over() {
            self.model().violate(&text);
        }
    }

    fn take_over(self: &Arc<Self>) -> Result<(), String> {
        let last = self.reader(97);
        let update = last
            .begin_update(&stack(), "last")
            .map_err(|error| format!("the next run cannot begin: {error}"))?;
        if let Some(note) = update.notes().iter().find(|it| is_set_aside(it)) {
            return Err(note.to_string());
        }
        let ended = update.finish(None, None);
        ended.map_err(|error| format!("the next run cannot end: {error}"))?;
        let certain = self.model().certain.clone();
        let names = writer::names_in(&last);
        self.model().check_state(&certain, names);
        let locks = self.bucket.list(&keys::locks(&stack()));
        match locks.map_err(|error| error.to_string())?.first() {
            Some(entry) => Err(format!("{} is left", entry.key)),
            None => Ok(()),
        }
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        lock(&self.model)
    }

    fn chance(&self) -> MutexGuard<'_, StdRng> {
        lock(&self.chance)
    }
}

/// Start of the text of an error that is due to a missing response.
const UNREACHABLE: &str = "could not reach";

fn is_set_aside(note: &Note) -> bool {
    matches!(note, Note::SetAside { .. })
}

fn stack() -> StackReference {
    let project = ProjectName::parse("proj").expect("it is a name");
    StackReference::parse("dev", Some(&project)).expect("it is a reference")
}

/// Backend of a process.
fn backend(bucket: Arc<dyn Bucket>, number: u32) -> FileBackend {
    let owner = Owner {
        pid: number,
        username: "somebody".to_owned(),
        hostname: format!("host{number}"),
    };
    let options = StoreOptions {
        write_retries: 0,
        lease_time: LEASE,
        disable_backups: true,
        state_keys: Some(Arc::new(encryption::unprotected)),
        ..StoreOptions::new("v0.1.0")
    };
    let opened = FileBackend::open_bucket(bucket, "memory://", owner, options);
    opened.expect("the store can be opened").0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
