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
use plumb_state::journal::{EncryptedEntry, Entry, EntryKind, OperationId};
use plumb_state::{CiphertextCache, CodecError, PendingOperation, Plaintext, SecretCodec};
use plumb_value::{PropertyMap, Value};

/// Leaves out of entries the secrets whose ciphertexts are not known.
pub(super) struct Lossy<'c> {
    cache: &'c mut CiphertextCache,
    /// Resources whose objects are not whole.
    pub(super) incomplete: Vec<Urn>,
}

impl<'c> Lossy<'c> {
    pub(super) fn new(cache: &'c mut CiphertextCache) -> Self {
        Lossy {
            cache,
            incomplete: Vec::new(),
        }
    }

    /// The entry with nothing in it that would have to be encrypted.
    pub(super) fn entry(&mut self, entry: Entry) -> Entry {
        let kind = match entry.kind {
            EntryKind::Begin { operation } => EntryKind::Begin {
                operation: operation.map(|pending| PendingOperation {
                    resource: Arc::new(self.state(&pending.resource)),
                    ..pending
                }),
            },
            EntryKind::Success {
                state,
                remove,
                delete,
                pending_replacement,
                is_refresh,
                owner,
            } => EntryKind::Success {
                state: state.map(|state| self.recorded(&state)),
                remove,
                delete,
                pending_replacement,
                is_refresh,
                owner,
            },
            EntryKind::RefreshSuccess { slot, state } => EntryKind::RefreshSuccess {
                slot,
                state: state.map(|state| self.recorded(&state)),
            },
            // The program says them again.
            EntryKind::Outputs { slot, state } => EntryKind::Outputs {
                slot,
                state: Arc::new(self.state(&state)),
            },
            other => other,
        };
        Entry { kind, ..entry }
    }

    fn recorded(&mut self, state: &Arc<ResourceState>) -> Arc<ResourceState> {
        let mut recorded = self.state(state);
        let is_whole = recorded.inputs == state.inputs && recorded.outputs == state.outputs;
        if !is_whole && has_object(state) {
            recorded.refresh_before_update = true;
            self.incomplete.push(state.urn.clone());
        }
        Arc::new(recorded)
    }

    fn state(&mut self, state: &ResourceState) -> ResourceState {
        let inputs = self.known(state, &state.inputs, |bare, part| bare.inputs = part);
        let outputs = self.known(state, &state.outputs, |bare, part| bare.outputs = part);
        let trigger = &state.replacement_trigger;
        let is_known = !trigger.contains_secrets()
            || self.is_known(ResourceState {
                replacement_trigger: trigger.clone(),
                ..bare(state)
            });
        ResourceState {
            inputs,
            outputs,
            replacement_trigger: if is_known {
                trigger.clone()
            } else {
                Value::Null
            },
            ..state.clone()
        }
    }

    /// The properties without those that hold a secret whose ciphertext is not known.
    fn known(
        &mut self,
        state: &ResourceState,
        properties: &Arc<PropertyMap>,
        put: fn(&mut ResourceState, Arc<PropertyMap>),
    ) -> Arc<PropertyMap> {
        if !properties.contains_secrets() {
            return properties.clone();
        }
        let mut known = properties.as_ref().clone();
        known.retain(|key, value| {
            if !value.contains_secrets() {
                return true;
            }
            let mut probe = bare(state);
            let mut part = PropertyMap::new();
            part.insert(key.clone(), value.clone());
            put(&mut probe, Arc::new(part));
            self.is_known(probe)
        });
        Arc::new(known)
    }

    fn is_known(&mut self, probe: ResourceState) -> bool {
        let entry = Entry {
            operation: OperationId::NONE,
            kind: EntryKind::Success {
                state: Some(Arc::new(probe)),
                remove: None,
                delete: None,
                pending_replacement: None,
                is_refresh: false,
                owner: None,
            },
        };
        EncryptedEntry::encrypt_all(&[entry], &NoCodec, self.cache).is_ok()
    }
}

/// The resource with no values at all.
fn bare(state: &ResourceState) -> ResourceState {
    ResourceState {
        inputs: Arc::default(),
        outputs: Arc::default(),
        replacement_trigger: Value::Null,
        ..state.clone()
    }
}

/// Whether the outputs are those of an object that a provider keeps for this resource.
fn has_object(state: &ResourceState) -> bool {
    state.provider.is_some() && !state.external && state.view_of.is_none()
}

/// Encrypts nothing: it is asked only for what a cache does not know.
struct NoCodec;

impl SecretCodec for NoCodec {
    fn encrypt_batch(&self, _: &[&Plaintext]) -> Result<Vec<String>, CodecError> {
        Err(CodecError::new("the ciphertext is not known"))
    }

    fn decrypt_batch(&self, _: &[&str]) -> Result<Vec<Plaintext>, CodecError> {
        Err(CodecError::new("nothing is decrypted here"))
    }
}
