//! A process of a history, with random actions on the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_secrets::Base64Manager;
use plumb_state::EncryptedSnapshot;
use plumb_state::journal::{EncryptedEntry, parse_entry};
use rand::RngExt;
use rand::rngs::StdRng;

use super::model::{Change, Event, Known, Model, Stacks, State};
use super::simulated::SimulatedDisk;
use super::{NAMES, backend, block_on, history_record, kept_snapshot, stack, state_of};
use crate::backend::{Backend, RemoveOptions};
use crate::encryption::StackKey;
use crate::error::BackendError;
use crate::file_backend::FileBackend;
use crate::update::Update;

/// A running process.
pub(super) struct Session<'s> {
    disk: &'s SimulatedDisk,
    backend: FileBackend,
    /// Model of the results of its own actions.
    model: Model,
    names: &'s mut usize,
    /// Former states of stacks.
    former: BTreeMap<String, Vec<EncryptedSnapshot>>,
}

impl<'s> Session<'s> {
    pub(super) fn new(
        disk: &'s SimulatedDisk,
        stacks: Stacks,
        names: &'s mut usize,
    ) -> Result<Self, BackendError> {
        Ok(Session {
            disk,
            backend: backend(Arc::new(disk.clone()))?,
            model: Model::new(stacks),
            names,
            former: BTreeMap::new(),
        })
    }

    fn note(&mut self, event: Event) {
        self.model.apply(&event);
        self.disk.note(event);
    }

    /// Performs one action.
    pub(super) fn act(&mut self, chance: &mut StdRng) -> Result<(), BackendError> {
        let existing: Vec<String> = self.model.stacks.keys().cloned().collect();
        let free: Vec<&str> = NAMES
            .into_iter()
            .filter(|name| !self.model.stacks.contains_key(*name))
            .collect();
        if existing.is_empty() || (!free.is_empty() && chance.random_ratio(1, 8)) {
            return self.create(free[chance.random_range(0..free.len())]);
        }
        let name = existing[chance.random_range(0..existing.len())].clone();
        match chance.random_range(0..16) {
            0 if !free.is_empty() => self.rename(&name, free[chance.random_range(0..free.len())]),
            1 | 2 => self.remove(&name),
            3 => self.backend.cancel(&stack(&name)).map(drop),
            4 | 5 => self.replace(&name, chance),
            6 => self.encrypt(&name),
            _ => self.update(&name, chance),
        }
    }

    /// Cancels the updates of all stacks.
    pub(super) fn cancel_all(&mut self) -> Result<(), BackendError> {
        for name in NAMES {
            if self.backend.stack_exists(&stack(name))? {
                self.backend.cancel(&stack(name))?;
            }
        }
        Ok(())
    }

    fn create(&mut self, name: &str) -> Result<(), BackendError> {
        self.note(Event::Creating(name.to_owned()));
        self.backend.create_stack(&stack(name), None)?;
        self.note(Event::Done);
        Ok(())
    }

    /// Turns the encryption of the whole state on or off, which does not change the state.
    fn encrypt(&mut self, name: &str) -> Result<(), BackendError> {
        let stack = stack(name);
        let key = match self.backend.stack_key(&stack)? {
            Some(_) => None,
            None => StackKey::create(&Base64Manager).ok(),
        };
        self.backend.set_stack_key(&stack, key)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), BackendError> {
        self.note(Event::Renaming(from.to_owned(), to.to_owned()));
        self.backend
            .rename_stack(&stack(from), &stack(to), &mut Ok)?;
        self.note(Event::Done);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<(), BackendError> {
        self.note(Event::Removing(name.to_owned()));
        let options = RemoveOptions {
            force: true,
            ..RemoveOptions::default()
        };
        self.backend.remove_stack(&stack(name), options)?;
        self.former.remove(name);
        self.note(Event::Done);
        Ok(())
    }

    /// Replaces the state by a former one, as the import of an old export does.
    fn replace(&mut self, name: &str, chance: &mut StdRng) -> Result<(), BackendError> {
        let kept = kept_snapshot(&self.backend, name)?;
        let former = self.former.entry(name.to_owned()).or_default();
        former.push(kept);
        let snapshot = former[chance.random_range(0..former.len())].clone();
        let id = self.new_id();
        let update = self.backend.begin_update(&stack(name), &id)?;
        self.note(Event::Replacing(
            name.to_owned(),
            state_of(Some(snapshot.opaque())),
        ));
        update.replace(&snapshot)?;
        self.note(Event::Done);
        Ok(())
    }

    fn new_id(&mut self) -> String {
        *self.names += 1;
        format!("u{}", self.names)
    }

    fn update(&mut self, name: &str, chance: &mut StdRng) -> Result<(), BackendError> {
        let id = self.new_id();
        let update = self.backend.begin_update(&stack(name), &id)?;
        let mut run = Run::new(&update);
        for _ in 0..chance.random_range(0..5) {
            let state = self.state(name);
            let changes = run.choose(&state, chance, self.names);
            if changes.is_empty() {
                continue;
            }
            let entries = changes.iter().map(|change| run.entry(change)).collect();
            self.note(Event::Recording(name.to_owned(), changes));
            let seq = update.record(entries)?;
            if chance.random_ratio(3, 4) {
                block_on(update.wait(seq))?;
                self.note(Event::Recorded(name.to_owned()));
            }
        }
        if chance.random_ratio(1, 6) {
            // The end of an update also writes waiting records.
            drop(update);
            self.note(Event::Recorded(name.to_owned()));
            return Ok(());
        }
        update.finish(None, Some(&history_record()))?;
        self.note(Event::Recorded(name.to_owned()));
        self.note(Event::Ended(name.to_owned()));
        Ok(())
    }

    /// State of the stack after all submitted changes.
    fn state(&self, name: &str) -> State {
        self.model
            .stacks
            .get(name)
            .map(Known::expected)
            .unwrap_or_default()
    }
}

/// Knowledge of an update about its resources.
struct Run {
    base: Vec<String>,
    /// Number of the operation that created each resource of this run.
    operations: BTreeMap<String, usize>,
    last: usize,
}

const PROVIDER: &str = "provider";

impl Run {
    fn new(update: &Update) -> Self {
        let latest = update.base().latest.as_ref();
        let resources = latest.map(|latest| latest.opaque().resources.iter());
        let names = resources.into_iter().flatten();
        Run {
            base: names.map(|it| it.urn.name().to_owned()).collect(),
            operations: BTreeMap::new(),
            last: 0,
        }
    }

    /// Changes for one commit.
    fn choose(&self, state: &State, chance: &mut StdRng, names: &mut usize) -> Vec<Change> {
        if !state.resources.contains(PROVIDER) {
            return vec![Change::Create(PROVIDER.to_owned())];
        }
        // Only the run that began a creation ends it; creations of interrupted runs stay pending.
        let begun: Vec<&String> = state
            .pending
            .iter()
            .filter(|name| self.operations.contains_key(*name))
            .collect();
        let objects: Vec<&String> = state
            .resources
            .iter()
            .filter(|name| *name != PROVIDER)
            .collect();
        if let (Some(name), true) = (begun.first(), chance.random_ratio(2, 3)) {
            return vec![Change::Create((*name).clone())];
        }
        if !objects.is_empty() && chance.random_ratio(1, 4) {
            let one = objects[chance.random_range(0..objects.len())];
            return vec![Change::Delete(one.clone())];
        }
        let count = chance.random_range(1..4);
        let mut new = |_| {
            *names += 1;
            Change::Begin(format!("r{names}"))
        };
        (0..count).map(&mut new).collect()
    }

    /// Number of the operation that creates an object.
    fn next_operation(&mut self, name: &str) -> usize {
        self.last += 1;
        self.operations.insert(name.to_owned(), self.last);
        self.last
    }

    fn entry(&mut self, change: &Change) -> EncryptedEntry {
        let json = match change {
            Change::Begin(name) => {
                self.next_operation(name);
                let operation = format!(
                    r#""operation":{{"resource":{},"type":"creating"}}"#,
                    Run::resource(name, false)
                );
                entry(0, self.last, "null", "null", &operation)
            }
            Change::Create(name) => {
                let begun = self.operations.get(name).copied();
                let number = begun.unwrap_or_else(|| self.next_operation(name));
                let state = format!(r#""state":{}"#, Run::resource(name, true));
                entry(1, number, "null", "null", &state)
            }
            Change::Delete(name) => {
                self.last += 1;
                let (mut old, mut new) = ("null".to_owned(), "null".to_owned());
                if let Some(operation) = self.operations.get(name) {
                    new = operation.to_string();
                } else if let Some(at) = self.base.iter().position(|it| it == name) {
                    old = at.to_string();
                }
                entry(1, self.last, &old, &new, r#""isRefresh":false"#)
            }
        };
        parse_entry(&json).expect("it is an entry").1
    }

    fn resource(name: &str, is_made: bool) -> String {
        // Renaming a stack does not change these.
        let urn =
            |type_token: &str, name: &str| format!("urn:pulumi:dev::proj::{type_token}::{name}");
        let provider = urn("pulumi:providers:x", PROVIDER);
        let id = if is_made {
            format!(r#","id":"id-{name}""#)
        } else {
            String::new()
        };
        if name == PROVIDER {
            return format!(
                r#"{{"urn":"{provider}","custom":true{id},"type":"pulumi:providers:x"}}"#
            );
        }
        let object = urn("x:index:Object", name);
        format!(
            r#"{{"urn":"{object}","custom":true{id},"type":"x:index:Object","provider":"{provider}::id-{PROVIDER}"}}"#
        )
    }
}

fn entry(kind: u8, operation: usize, old: &str, new: &str, rest: &str) -> String {
    format!(
        r#"{{"version":1,"kind":{kind},"sequenceID":1,"operationID":{operation},"removeOld":{old},"removeNew":{new},{rest}}}"#
    )
}
