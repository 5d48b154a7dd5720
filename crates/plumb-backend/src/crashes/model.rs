//! Model of a store: the states that its stacks may have after a crash.

use std::collections::{BTreeMap, BTreeSet};

/// Event of a process between two accesses to its disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// The stack is about to be created.
    Creating(String),
    /// The changes are about to be recorded.
    Recording(String, Vec<Change>),
    /// The recorded changes were acknowledged as durable.
    Recorded(String),
    /// The state of the stack is about to be replaced.
    Replacing(String, State),
    /// The stack is about to be renamed.
    Renaming(String, String),
    /// The stack is about to be removed.
    Removing(String),
    /// The last creation, replacement, renaming or removal was acknowledged.
    Done,
    /// An update has ended with a history record.
    Ended(String),
}

/// A change of a state, recorded in one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// The creation of an object is about to be requested.
    Begin(String),
    /// An object was created.
    Create(String),
    /// An object was deleted.
    Delete(String),
}

/// State of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct State {
    /// Names of the resources.
    pub(super) resources: BTreeSet<String>,
    /// Names of pending creations.
    pub(super) pending: BTreeSet<String>,
}

impl State {
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Begin(name) => {
                self.pending.insert(name.clone());
            }
            Change::Create(name) => {
                self.pending.remove(name);
                self.resources.insert(name.clone());
            }
            Change::Delete(name) => {
                self.resources.remove(name);
            }
        }
    }
}

/// Knowledge about a stack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Known {
    pub(super) state: State,
    /// Changes being recorded. A prefix of them may be in the state already.
    under_way: Vec<Change>,
    /// Number of updates in the history, if the process was killed.
    pub(super) updates: usize,
    /// Whether the stack is being removed, so that any of its parts may be missing.
    is_going: bool,
}

impl Known {
    pub(super) fn of(state: State, updates: usize) -> Self {
        Known {
            state,
            updates,
            ..Known::default()
        }
    }

    /// State after all changes being recorded.
    pub(super) fn expected(&self) -> State {
        let mut state = self.state.clone();
        for change in &self.under_way {
            state.apply(change);
        }
        state
    }

    /// Whether the stack may have this state. `updates` is the length of its history if the process was killed.
    pub(super) fn allows(&self, found: &State, updates: Option<usize>) -> bool {
        if self.is_going {
            return found.resources.is_subset(&self.state.resources);
        }
        if updates.is_some_and(|updates| updates < self.updates) {
            return false;
        }
        let mut state = self.state.clone();
        if state == *found {
            return true;
        }
        self.under_way.iter().any(|change| {
            state.apply(change);
            state == *found
        })
    }
}

/// Stacks of a store by name.
pub(super) type Stacks = BTreeMap<String, Known>;

/// Possible stores: only one unless an operation is in progress.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) stacks: Stacks,
    /// States of the stacks whose removal was acknowledged, which can be restored.
    pub(super) removed: BTreeMap<String, State>,
    /// Stack whose removal is in progress.
    removing: Option<String>,
    /// Result of the operation in progress.
    result: Option<Stacks>,
    /// Intermediate states.
    between: Vec<Stacks>,
}

impl Model {
    pub(super) fn new(stacks: Stacks) -> Self {
        Model {
            stacks,
            ..Model::default()
        }
    }

    /// Whether no operation on whole stacks is in progress.
    pub(super) fn is_settled(&self) -> bool {
        self.result.is_none()
    }

    /// Possible contents of the store.
    pub(super) fn possible(&self) -> impl Iterator<Item = &Stacks> {
        let first = std::iter::once(&self.stacks);
        first.chain(&self.between).chain(&self.result)
    }

    pub(super) fn apply(&mut self, event: &Event) {
        let mut next = self.stacks.clone();
        match event {
            Event::Recording(stack, changes) => {
                if let Some(known) = self.stacks.get_mut(stack) {
                    known.under_way.extend(changes.iter().cloned());
                }
                return;
            }
            Event::Recorded(stack) => {
                if let Some(known) = self.stacks.get_mut(stack) {
                    for change in std::mem::take(&mut known.under_way) {
                        known.state.apply(&change);
                    }
                }
                return;
            }
            Event::Ended(stack) => {
                if let Some(known) = self.stacks.get_mut(stack) {
                    known.updates += 1;
                }
                return;
            }
            Event::Done => {
                if let Some(name) = self.removing.take()
                    && let Some(known) = self.stacks.remove(&name)
                {
                    self.removed.insert(name, known.state);
                }
                if let Some(result) = self.result.take() {
                    self.stacks = result;
                }
                self.between.clear();
                return;
            }
            Event::Creating(stack) => {
                next.insert(stack.clone(), Known::default());
            }
            Event::Replacing(stack, state) => {
                let known = next.entry(stack.clone()).or_default();
                known.state = state.clone();
            }
            Event::Renaming(from, to) => {
                let known = next.remove(from).unwrap_or_default();
                next.insert(to.clone(), known.clone());
                let mut both = next.clone();
                both.insert(from.clone(), known);
                self.between.push(both);
            }
            Event::Removing(stack) => {
                let mut going = next.clone();
                going.entry(stack.clone()).or_default().is_going = true;
                self.between.push(going);
                next.remove(stack);
                self.removing = Some(stack.clone());
            }
        }
        self.result = Some(next);
    }
}
