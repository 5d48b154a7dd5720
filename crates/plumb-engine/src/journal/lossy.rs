//! Entries as they are recorded when the secrets manager has stopped working in the middle of a run.
//!
//! 1. A secret whose ciphertext is known keeps it: the intent of a step has recorded the inputs already, and outputs that an
//!    update left alone are those of the state before.
//! 2. Every other property that holds secrets is left out. Null in its place would be a value, and a provider would take it
//!    for one.
//! 3. An object that is not whole for that reason asks for a refresh: the next run reads it before anything else, with all
//!    that is left of its outputs. **It is not replaced**, since nothing is wrong with it.

use std::sync::Arc;

use plumb_resource::{ResourceState, Urn};
use plumb_state::CiphertextCache;
use plumb_state::journal::{Entry, EntryKind};

/// Leaves out of entries the secrets whose ciphertexts are not known.
pub(super) struct Lossy<'c> {
    cache: &'c CiphertextCache,
    /// Resources whose objects are not whole.
    pub(super) incomplete: Vec<Urn>,
}

impl<'c> Lossy<'c> {
    pub(super) fn new(cache: &'c CiphertextCache) -> Self {
        Lossy {
            cache,
            incomplete: Vec::new(),
        }
    }

    /// The entry with nothing in it that would have to be encrypted.
    pub(super) fn entry(&mut self, entry: Entry) -> Entry {
        // Interrupted operations are read or repeated anyway, and the program registers its outputs again.
        let is_result = matches!(
            entry.kind,
            EntryKind::Success { .. } | EntryKind::RefreshSuccess { .. }
        );
        let kind = entry.kind.map_state(|state| {
            let known = self.cache.known_part(state);
            if is_result {
                self.marked(state, known)
            } else {
                known
            }
        });
        Entry {
            operation: entry.operation,
            kind,
        }
    }

    /// `known`, marked to be read by the next run where something of an object is missing.
    fn marked(&mut self, whole: &ResourceState, known: Arc<ResourceState>) -> Arc<ResourceState> {
        let is_whole = known.inputs == whole.inputs && known.outputs == whole.outputs;
        if is_whole || !has_object(whole) {
            return known;
        }
        self.incomplete.push(whole.urn.clone());
        Arc::new(ResourceState {
            refresh_before_update: true,
            ..ResourceState::clone(&known)
        })
    }
}

/// Whether the outputs are those of an object that a provider keeps for this resource.
fn has_object(state: &ResourceState) -> bool {
    state.provider.is_some() && !state.external && state.view_of.is_none()
}
