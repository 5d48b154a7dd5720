//! Writers that use [`FileBackend`].

use std::sync::Arc;

use plumb_state::Snapshot;
use plumb_state::journal::{EncryptedEntry, parse_entry};
use rand::RngExt;

use super::link::Link;
use super::{World, backend, is_set_aside, lock, stack};
use crate::backend::Backend;
use crate::error::BackendError;
use crate::file_backend::FileBackend;
use crate::update::Update;

/// A series of processes that work on the stack; a killed process is replaced by the next one.
pub(super) struct Writer {
    number: usize,
    /// Number of updates begun.
    updates: usize,
    link: Arc<Link>,
    backend: FileBackend,
    update: Option<Held>,
}

struct Held {
    update: Update,
    name: String,
    entries: usize,
}

impl Writer {
    pub(super) fn new(number: usize, world: &Arc<World>) -> Self {
        let link = Arc::new(Link::new(world));
        Writer {
            number,
            updates: 0,
            backend: backend_over(&link, number),
            link,
            update: None,
        }
    }

    /// Performs one action, and may die during it.
    pub(super) fn act(&mut self, world: &Arc<World>) {
        if world.has_faults && world.chance().random_ratio(1, 6) {
            let requests = world.chance().random_range(1..20);
            self.link.die_in(requests);
        }
        match self.update.take() {
            None if world.chance().random_ratio(1, 8) => self.cancel(world),
            None => self.begin(world),
            Some(held) if world.chance().random_ratio(1, 3) => Self::finish(world, held),
            Some(held) => self.record(world, held),
        }
        if self.link.is_cut() {
            world.model().counts.killed += 1;
            self.kill(world);
        } else {
            self.link.die_in(0);
        }
    }

    /// Kills the process and starts the next one.
    pub(super) fn kill(&mut self, world: &Arc<World>) {
        self.link.cut();
        world.model().note(&format!("w{} is killed", self.number));
        self.update = None;
        self.link = Arc::new(Link::new(world));
        self.backend = backend_over(&self.link, self.number);
    }

    fn begin(&mut self, world: &Arc<World>) {
        self.updates += 1;
        let name = format!("w{}u{}", self.number, self.updates);
        let since = world.model().now;
        world.model().note(&format!("{name} is about to begin"));
        let begun = self.backend.begin_update(&stack(), &name);
        let begun = begun.and_then(|update| {
            block_on(update.begun())?;
            Ok(update)
        });
        match begun {
            Ok(update) => {
                let mut model = world.model();
                model.note(&format!("{name} has begun: {:?}", update.notes()));
                model.holds(&name, since, true);
                if let Some(note) = update.notes().iter().find(|it| is_set_aside(it)) {
                    model.violate(&note.to_string());
                }
                drop(model);
                self.update = Some(Held {
                    update,
                    name,
                    entries: 0,
                });
            }
            Err(error) => world
                .model()
                .note(&format!("{name} does not begin: {error}")),
        }
    }

    fn record(&mut self, world: &Arc<World>, mut held: Held) {
        let many = world.chance().random_range(1..=3);
        let names: Vec<String> = (0..many).map(|_| world.model().new_name()).collect();
        let about = format!("{} records {names:?}", held.name);
        world.model().note(&format!("{about} …"));
        let entries = names.iter().map(|name| {
            held.entries += 1;
            created(name, held.entries)
        });
        let recorded = held.update.record(entries.collect());
        let durable = recorded.and_then(|seq| block_on(held.update.wait(seq)));
        let mut model = world.model();
        match durable {
            Ok(()) => {
                model.recorded(&names);
                model.note(&about);
                drop(model);
                self.update = Some(held);
            }
            // A run whose journal failed ends, as in the engine.
            Err(error) => {
                model.note(&format!("{about}: {error}"));
                drop(model);
                Self::finish(world, held);
            }
        }
    }

    fn finish(world: &World, held: Held) {
        let Held { update, name, .. } = held;
        world.model().ends(&name);
        world.model().note(&format!("{name} is about to end"));
        let finished = update.finish(None, None);
        let mut model = world.model();
        model.lets_go(&name);
        match finished {
            Ok(_) => model.note(&format!("{name} has ended")),
            Err(error) => model.note(&format!("{name} does not end: {error}")),
        }
    }

    /// Cancels the running update, which may belong to a sleeping writer.
    fn cancel(&mut self, world: &Arc<World>) {
        // Skip this while the upstream writer holds the stack, because it has no lease and cannot be fenced.
        let Some(upstream) = lock(&world.upstream).take_if(|it| !it.holds()) else {
            return;
        };
        world.model().cancelling += 1;
        world.model().note(&format!("w{} cancels …", self.number));
        let cancelled = self.backend.cancel(&stack());
        let mut model = world.model();
        model.note(&format!("w{} cancels: {cancelled:?}", self.number));
        if let Ok(cancelled) = &cancelled
            && let Some(note) = cancelled.notes.iter().find(|it| is_set_aside(it))
        {
            model.violate(&note.to_string());
        }
        model.cancelling -= 1;
        model.cancelled();
        drop(model);
        *lock(&world.upstream) = Some(upstream);
    }
}

fn backend_over(link: &Arc<Link>, number: usize) -> FileBackend {
    let bucket: Arc<Link> = link.clone();
    let opened = backend(bucket, u32::try_from(number).unwrap_or_default() + 1);
    link.open();
    opened
}

/// Names of the resources of the stack.
pub(super) fn names_in(backend: &FileBackend) -> Result<Vec<String>, String> {
    let loaded = backend.load(&stack());
    let loaded = loaded.map_err(|error: BackendError| error.to_string())?;
    let names = |snapshot: &Snapshot| {
        let resources = snapshot.resources.iter();
        resources
            .map(|resource| resource.urn.name().to_owned())
            .collect()
    };
    Ok(loaded.opaque().map_or_else(Vec::new, names))
}

/// Entry for the creation of component `name` by the `number`-th operation.
fn created(name: &str, number: usize) -> EncryptedEntry {
    let json = format!(
        r#"{{"version":1,"kind":1,"sequenceID":1,"operationID":{number},"removeOld":null,"removeNew":null,"state":{{"urn":"urn:pulumi:dev::proj::a:b:C::{name}","custom":false,"type":"a:b:C"}}}}"#,
    );
    parse_entry(&json).expect("it is an entry").1
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("it can be built").block_on(future)
}
