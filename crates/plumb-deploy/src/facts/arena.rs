//! Every resource state of a run, old and new, by index.

use std::sync::Arc;

use plumb_resource::{ResourceState, Urn};
use plumb_state::journal::Slot;

use crate::facts::urns::Urns;

/// Index of a state in the [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StateIdx(u32);

/// One state and the place by which the journal knows it.
#[derive(Clone, Debug)]
struct Node {
    state: Arc<ResourceState>,
    slot: Slot,
}

/// All states that a run has to do with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
}

impl Arena {
    /// Adds a state.
    pub(crate) fn push(&mut self, state: Arc<ResourceState>, slot: Slot) -> StateIdx {
        let idx = StateIdx(self.nodes.len() as u32);
        self.nodes.push(Node { state, slot });
        idx
    }

    /// The state as it is now.
    pub(crate) fn state(&self, idx: StateIdx) -> &Arc<ResourceState> {
        &self.nodes[idx.0 as usize].state
    }

    /// The URN of a state.
    pub(crate) fn urn(&self, idx: StateIdx) -> &Urn {
        &self.state(idx).urn
    }

    /// Where the journal has it.
    pub(crate) fn slot(&self, idx: StateIdx) -> Slot {
        self.nodes[idx.0 as usize].slot
    }

    /// Puts another state in place.
    pub(crate) fn put(&mut self, idx: StateIdx, state: Arc<ResourceState>) {
        self.nodes[idx.0 as usize].state = state;
    }

    /// Puts another state in place, which the journal knows by another slot from now on.
    pub(crate) fn move_to(&mut self, idx: StateIdx, state: Arc<ResourceState>, slot: Slot) {
        self.nodes[idx.0 as usize] = Node { state, slot };
    }

    /// Changes a state in place.
    pub(crate) fn update(&mut self, idx: StateIdx, change: impl FnOnce(&mut ResourceState)) {
        change(Arc::make_mut(&mut self.nodes[idx.0 as usize].state));
    }
}

/// The base snapshot of a run: its states in order. [`Urns`] has them by URN.
#[derive(Clone, Debug, Default)]
pub(crate) struct Olds {
    /// Consecutive.
    order: Vec<StateIdx>,
}

/// Two entries that are not pending deletion share a URN.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unexpected duplicate resource '{urn}'")]
pub struct DuplicateResource {
    /// The URN.
    pub urn: Urn,
}

impl Olds {
    /// Takes the states of a base in order.
    pub(crate) fn new(
        arena: &mut Arena,
        urns: &mut Urns,
        states: &[Arc<ResourceState>],
    ) -> Result<Self, DuplicateResource> {
        let count = states.len();
        arena.nodes.reserve(2 * count); // Most of them get a new state in this run.
        let mut olds = Olds {
            order: Vec::with_capacity(count),
        };
        for (index, state) in (0_u32..).zip(states) {
            let idx = arena.push(state.clone(), Slot::Old(index));
            olds.order.push(idx);
            if !state.delete && !urns.set_of_base(&state.urn, idx) {
                return Err(DuplicateResource {
                    urn: state.urn.clone(),
                });
            }
        }
        Ok(olds)
    }

    /// The states in snapshot order.
    pub(crate) fn order(&self) -> &[StateIdx] {
        &self.order
    }

    /// Position in snapshot order, for states of the base.
    pub(crate) fn position(&self, idx: StateIdx) -> Option<usize> {
        let first = self.order.first()?;
        let position = idx.0.checked_sub(first.0)? as usize;
        (position < self.order.len()).then_some(position)
    }
}
