//! JSON form of entries (`state.md` 6.2), version 1. `ownerOld` and `ownerNew` are specific to Plumb: the owner of a
//! view.

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::ResourceState;
use serde_json::value::RawValue;

use super::encrypted::states_of;
use super::{EncryptedEntry, Entry, EntryKind, OperationId, Slot};
use crate::encrypted::has_plaintext;
use crate::file::{
    Aliases, ParseError, ResourceError, WireExtension, WireOperation, WireResource,
    WireSecretsProvider, WireSnippet, extension, from_json, operation, parse_body, resource,
    secrets_provider, snippet, wire_object, write_body, write_extension, write_operation,
    write_resource, write_secrets_provider, write_snippet,
};
use crate::json::{Escape, JsonWriter};
use crate::value::Secrets;

const VERSION: i64 = 1;

/// Error in the text of an entry.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The text is not JSON, or has the wrong structure.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The version of the entry is newer than supported.
    #[error("journal entries of version {version} are not supported")]
    Version {
        /// The version.
        version: i64,
    },
    /// The kind of entry is unknown.
    #[error("journal entries of kind {kind} are not supported")]
    Kind {
        /// The kind.
        kind: i64,
    },
    /// A member that the kind requires is missing.
    #[error("a journal entry of kind {kind} has no '{member}'")]
    Missing {
        /// The kind.
        kind: i64,
        /// The missing member.
        member: &'static str,
    },
    /// An entry names a resource twice.
    #[error("a journal entry has both '{old}' and '{new}'")]
    Ambiguous {
        /// The member that refers to the base.
        old: &'static str,
        /// The member that refers to the run.
        new: &'static str,
    },
    /// An entry holds a plaintext secret.
    #[error("a journal entry holds a secret that is not encrypted")]
    Plaintext,
    /// A resource is invalid.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// A part in the form of state files is invalid.
    #[error(transparent)]
    Part(#[from] ParseError),
}

wire_object! {
    WireEntry {
        version: i64 = "version",
        kind: i64 = "kind",
        sequence_id: u64 = "sequenceID",
        operation_id: u64 = "operationID",
        remove_old: Option<u32> = "removeOld",
        remove_new: Option<u64> = "removeNew",
        pending_replacement_old: Option<u32> = "pendingReplacementOld",
        pending_replacement_new: Option<u64> = "pendingReplacementNew",
        delete_old: Option<u32> = "deleteOld",
        delete_new: Option<u64> = "deleteNew",
        state: Option<WireResource<'de>> = "state",
        operation: Option<WireOperation<'de>> = "operation",
        is_refresh: bool = "isRefresh",
        owner_old: Option<u32> = "ownerOld",
        owner_new: Option<u64> = "ownerNew",
        secrets_provider: Option<WireSecretsProvider<'de>> = "secretsProvider",
        snippets: Vec<WireSnippet<'de>> = "snippets",
        new_snapshot: Option<&'de RawValue> = "newSnapshot",
        extension_ref: EcoString = "extensionRef",
        extension: Option<WireExtension<'de>> = "extension",
        requires_byte_string: bool = "requiresByteString",
    }
}

/// Parses one entry and its number.
pub fn parse_entry(text: &str) -> Result<(u64, EncryptedEntry), EntryError> {
    let wire: WireEntry<'_> = from_json(text)?;
    if wire.version != VERSION {
        return Err(EntryError::Version {
            version: wire.version,
        });
    }
    let (sequence, requires_byte_string) = (wire.sequence_id, wire.requires_byte_string);
    let inner = Entry {
        operation: OperationId(wire.operation_id),
        kind: read_kind(wire)?,
    };
    if has_plaintext(&states_of(&inner.kind)) {
        return Err(EntryError::Plaintext);
    }
    Ok((
        sequence,
        EncryptedEntry {
            inner,
            requires_byte_string,
        },
    ))
}

fn slot(
    (old_name, old): (&'static str, Option<u32>),
    (new_name, new): (&'static str, Option<u64>),
) -> Result<Option<Slot>, EntryError> {
    match (old, new) {
        (Some(_), Some(_)) => Err(EntryError::Ambiguous {
            old: old_name,
            new: new_name,
        }),
        (Some(index), None) => Ok(Some(Slot::Old(index))),
        (None, Some(operation)) => Ok(Some(Slot::New(OperationId(operation)))),
        (None, None) => Ok(None),
    }
}

fn read_kind(wire: WireEntry<'_>) -> Result<EntryKind, EntryError> {
    let kind = wire.kind;
    let missing = |member| EntryError::Missing { kind, member };
    let remove = slot(
        ("removeOld", wire.remove_old),
        ("removeNew", wire.remove_new),
    )?;
    let state = wire.state.map(resource).transpose()?;
    Ok(match kind {
        0 => EntryKind::Begin {
            operation: wire.operation.map(operation).transpose()?,
        },
        1 => EntryKind::Success {
            state,
            remove,
            delete: slot(
                ("deleteOld", wire.delete_old),
                ("deleteNew", wire.delete_new),
            )?,
            pending_replacement: slot(
                ("pendingReplacementOld", wire.pending_replacement_old),
                ("pendingReplacementNew", wire.pending_replacement_new),
            )?,
            is_refresh: wire.is_refresh,
            owner: slot(("ownerOld", wire.owner_old), ("ownerNew", wire.owner_new))?,
        },
        2 => EntryKind::Failure,
        3 => EntryKind::RefreshSuccess {
            slot: remove,
            state,
        },
        4 => EntryKind::Outputs {
            slot: remove.ok_or(missing("removeOld"))?,
            state: state.ok_or(missing("state"))?,
        },
        5 => {
            let body = wire.new_snapshot.ok_or(missing("newSnapshot"))?;
            let snapshot = parse_body(body.get())?
                .try_into_encrypted()
                .map_err(|_| EntryError::Plaintext)?;
            EntryKind::Write(Arc::new(snapshot.inner))
        }
        6 => EntryKind::SecretsManager(secrets_provider(
            wire.secrets_provider.ok_or(missing("secretsProvider"))?,
        )),
        7 => EntryKind::RebuiltBaseState,
        8 => EntryKind::Extension {
            reference: wire.extension_ref,
            extension: extension(wire.extension.ok_or(missing("extension"))?)?,
        },
        9 => EntryKind::Snippets(
            wire.snippets
                .into_iter()
                .map(snippet)
                .collect::<Result<_, _>>()?,
        ),
        kind => return Err(EntryError::Kind { kind }),
    })
}

impl EncryptedEntry {
    /// JSON of the entry with this number.
    pub fn to_json(&self, sequence: u64) -> String {
        let mut json = JsonWriter::new(Escape::Plain);
        json.object(|json| {
            json.key("version").integer(VERSION as u64);
            json.key("kind").integer(kind_number(&self.inner.kind));
            json.key("sequenceID").integer(sequence);
            json.key("operationID").integer(self.inner.operation.0);
            write_slots(json, &self.inner.kind);
            write_content(json, &self.inner.kind);
            json.flag_member("requiresByteString", self.requires_byte_string);
        });
        json.finish()
    }
}

fn kind_number(kind: &EntryKind) -> u64 {
    match kind {
        EntryKind::Begin { .. } => 0,
        EntryKind::Success { .. } => 1,
        EntryKind::Failure => 2,
        EntryKind::RefreshSuccess { .. } => 3,
        EntryKind::Outputs { .. } => 4,
        EntryKind::Write(_) => 5,
        EntryKind::SecretsManager(_) => 6,
        EntryKind::RebuiltBaseState => 7,
        EntryKind::Extension { .. } => 8,
        EntryKind::Snippets(_) => 9,
    }
}

fn write_slots(json: &mut JsonWriter, kind: &EntryKind) {
    let (remove, pending_replacement, delete) = match kind {
        EntryKind::Success {
            remove,
            pending_replacement,
            delete,
            ..
        } => (*remove, *pending_replacement, *delete),
        EntryKind::RefreshSuccess { slot, .. } => (*slot, None, None),
        EntryKind::Outputs { slot, .. } => (Some(*slot), None, None),
        _ => (None, None, None),
    };
    let (old, new) = parts(remove);
    for (name, number) in [("removeOld", old), ("removeNew", new)] {
        let json = json.key(name);
        match number {
            Some(number) => json.integer(number),
            None => json.null(),
        }
    }
    write_optional_slot(
        json,
        pending_replacement,
        "pendingReplacementOld",
        "pendingReplacementNew",
    );
    write_optional_slot(json, delete, "deleteOld", "deleteNew");
}

fn parts(slot: Option<Slot>) -> (Option<u64>, Option<u64>) {
    match slot {
        Some(Slot::Old(index)) => (Some(u64::from(index)), None),
        Some(Slot::New(operation)) => (None, Some(operation.0)),
        None => (None, None),
    }
}

fn write_optional_slot(json: &mut JsonWriter, slot: Option<Slot>, old_name: &str, new_name: &str) {
    let (old, new) = parts(slot);
    for (name, number) in [(old_name, old), (new_name, new)] {
        if let Some(number) = number {
            json.key(name).integer(number);
        }
    }
}

fn write_content(json: &mut JsonWriter, kind: &EntryKind) {
    match kind {
        EntryKind::Begin { operation } => {
            if let Some(pending) = operation {
                write_operation(json.key("operation"), pending, Secrets::Sealed);
            }
        }
        EntryKind::Success {
            state,
            is_refresh,
            owner,
            ..
        } => {
            write_state(json, state.as_ref());
            json.flag_member("isRefresh", *is_refresh);
            write_optional_slot(json, *owner, "ownerOld", "ownerNew");
        }
        EntryKind::RefreshSuccess { state, .. } => {
            write_state(json, state.as_ref());
            json.flag_member("isRefresh", true);
        }
        EntryKind::Outputs { state, .. } => write_state(json, Some(state)),
        EntryKind::Failure | EntryKind::RebuiltBaseState => {}
        EntryKind::SecretsManager(provider) => {
            write_secrets_provider(json.key("secretsProvider"), provider);
        }
        EntryKind::Snippets(snippets) => json.key("snippets").array(|json| {
            for snippet in snippets {
                write_snippet(json.element(), snippet);
            }
        }),
        EntryKind::Write(snapshot) => {
            write_body(json.key("newSnapshot"), snapshot, Secrets::Sealed);
        }
        EntryKind::Extension {
            reference,
            extension,
        } => {
            json.key("extensionRef").string(reference);
            write_extension(json.key("extension"), extension);
        }
    }
}

/// Writes a resource. Unlike a state file, an entry keeps aliases, because the replay rewrites references with them.
fn write_state(json: &mut JsonWriter, state: Option<&Arc<ResourceState>>) {
    if let Some(state) = state {
        write_resource(
            json.key("state"),
            state,
            Secrets::Sealed,
            Aliases::Keep,
            &[],
        );
    }
}
