//! Entries without their secrets, for a secrets manager that stops working during a run.
//!
//! 1. A secret with a known ciphertext keeps it: the inputs were recorded with the intent of the step, and unchanged outputs
//!    are those of the old state.
//! 2. Any other property that holds secrets is removed. Null would not do, because a provider would take it for a value.
//! 3. An object that is incomplete for that reason needs a refresh: the next run reads it first, with the outputs that
//!    remain. **The object is not replaced**, because nothing is wrong with it.

use std::sync::Arc;

use plumb_resource::{ResourceState, Urn};
use plumb_state::CiphertextCache;
use plumb_state::journal::{Entry, EntryKind};

/// Removes secrets without a known ciphertext from entries.
pub(super) struct Lossy<'c> {
    cache: &'c CiphertextCache,
    /// Resources with incomplete objects.
    pub(super) incomplete: Vec<Urn>,
}

impl<'c> Lossy<'c> {
    pub(super) fn new(cache: &'c CiphertextCache) -> Self {
        Lossy {
            cache,
            incomplete: Vec::new(),
        }
    }

    /// The entry without values that would have to be encrypted.
    pub(super) fn entry(&mut self, entry: Entry) -> Entry {
        // Only results need the mark: interrupted operations are read or repeated anyway, and the program registers its
        // outputs again.
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

    /// `known`, marked to be read by the next run if it lacks parts of an object.
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

/// Whether the outputs are those of an object that a provider manages for this resource.
fn has_object(state: &ResourceState) -> bool {
    state.provider.is_some() && !state.external && state.view_of.is_none()
}
