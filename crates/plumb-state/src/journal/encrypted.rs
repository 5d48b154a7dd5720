//! Encrypted entries, and their replay without the secrets manager.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Entry, EntryKind, Fold, FoldError};
use crate::encrypted::{decrypt_snapshot, has_bytes};
use crate::{CiphertextCache, EncryptedSnapshot, SecretCodec, SecretsError, Snapshot};

/// An entry with encrypted secrets: the only form that can be written.
#[derive(Clone, Debug, PartialEq)]
pub struct EncryptedEntry {
    pub(super) inner: Entry,
    /// Whether any value, also inside secrets, holds a byte string.
    pub(super) requires_byte_string: bool,
}

impl EncryptedEntry {
    /// Encrypts the secrets of several entries with as few calls of `codec` as possible; none if there is no secret.
    pub fn encrypt_all(
        entries: &[Entry],
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Vec<EncryptedEntry>, SecretsError> {
        let states = entries.iter().filter_map(|entry| entry.kind.state());
        let sealed = Snapshot {
            resources: states.cloned().collect(),
            ..Snapshot::default()
        }
        .encrypt(codec, cache)?;
        let mut sealed = sealed.inner.resources.into_iter();
        let mut encrypted = Vec::with_capacity(entries.len());
        for entry in entries {
            let mut requires_byte_string = states_hold_bytes(&entry.kind);
            let mut kind = entry
                .kind
                .clone()
                .map_state(|_| sealed.next().expect("as many as were collected"));
            if let EntryKind::Write(snapshot) = &entry.kind {
                let snapshot = snapshot.encrypt(codec, cache)?;
                requires_byte_string = snapshot.has_byte_strings;
                kind = EntryKind::Write(Arc::new(snapshot.inner));
            }
            encrypted.push(EncryptedEntry {
                inner: Entry {
                    operation: entry.operation,
                    kind,
                },
                requires_byte_string,
            });
        }
        Ok(encrypted)
    }

    /// Decrypts the secrets of the entry. Calls `codec` only if there is one.
    pub fn decrypt(
        &self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Entry, SecretsError> {
        let operation = self.inner.operation;
        if let EntryKind::Write(snapshot) = &self.inner.kind {
            let kind = EntryKind::Write(Arc::new(decrypt_snapshot(snapshot, codec, cache)?));
            return Ok(Entry { operation, kind });
        }
        let opened = decrypt_snapshot(&states_of(&self.inner.kind), codec, cache)?;
        let mut opened = opened.resources.into_iter();
        let kind = self
            .inner
            .kind
            .clone()
            .map_state(|_| opened.next().expect("as many as were collected"));
        Ok(Entry { operation, kind })
    }

    /// The entry with opaque secrets, which hold only their ciphertext.
    pub fn opaque(&self) -> &Entry {
        &self.inner
    }
}

/// Snapshot with only the states of an entry.
pub(super) fn states_of(kind: &EntryKind) -> Snapshot {
    Snapshot {
        resources: kind.state().cloned().into_iter().collect(),
        ..Snapshot::default()
    }
}

fn states_hold_bytes(kind: &EntryKind) -> bool {
    has_bytes(&states_of(kind))
}

/// A [`Fold`] of encrypted entries, which recovers a stack without its secrets manager.
#[derive(Clone, Debug, Default)]
pub struct EncryptedFold {
    fold: Fold,
    has_byte_strings: bool,
}

impl EncryptedFold {
    /// Starts with `base`, the default snapshot for a stack without state.
    pub fn new(base: EncryptedSnapshot) -> Self {
        EncryptedFold {
            fold: Fold::new(base.inner),
            has_byte_strings: base.has_byte_strings,
        }
    }

    /// Applies the next entry of the journal. An error leaves the fold unchanged.
    pub fn apply(&mut self, entry: EncryptedEntry) -> Result<(), FoldError> {
        self.fold.apply(entry.inner)?;
        self.has_byte_strings |= entry.requires_byte_string;
        Ok(())
    }

    /// Current snapshot, with a manifest of time `now` and this program version.
    pub fn snapshot(&self, now: Timestamp, version: &str) -> Result<EncryptedSnapshot, FoldError> {
        let inner = self.fold.snapshot(now, version)?;
        Ok(EncryptedSnapshot {
            inner,
            has_byte_strings: self.has_byte_strings,
        })
    }
}

/// Error in the entries of a journal.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// Entries are missing.
    #[error("the journal has no entry between number {before} and number {after}")]
    Gap {
        /// Number of the last entry before the gap.
        before: u64,
        /// Number of the first entry after the gap.
        after: u64,
    },
    /// Two different entries have the same number.
    #[error("the journal has two entries with number {sequence}")]
    Conflict {
        /// Number of the entries.
        sequence: u64,
    },
    /// An entry does not match the state.
    #[error("entry number {sequence} of the journal does not fit")]
    Entry {
        /// Number of the entry.
        sequence: u64,
        /// Cause.
        #[source]
        source: FoldError,
    },
}

/// Replays entries over `base`, in the order of their numbers. Duplicates are applied once.
pub fn replay(
    base: EncryptedSnapshot,
    entries: impl IntoIterator<Item = (u64, EncryptedEntry)>,
) -> Result<EncryptedFold, ReplayError> {
    let mut ordered: BTreeMap<u64, EncryptedEntry> = BTreeMap::new();
    for (sequence, entry) in entries {
        match ordered.get(&sequence) {
            Some(present) if *present != entry => return Err(ReplayError::Conflict { sequence }),
            Some(_) => {}
            None => {
                ordered.insert(sequence, entry);
            }
        }
    }
    let mut fold = EncryptedFold::new(base);
    let mut previous = None;
    for (sequence, entry) in ordered {
        if let Some(before) = previous
            .replace(sequence)
            .filter(|before| before + 1 != sequence)
        {
            return Err(ReplayError::Gap {
                before,
                after: sequence,
            });
        }
        fold.apply(entry)
            .map_err(|source| ReplayError::Entry { sequence, source })?;
    }
    Ok(fold)
}
