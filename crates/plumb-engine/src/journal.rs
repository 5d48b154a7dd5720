//! The journal of a run: entries of the core become durable records, and the snapshot at the end.

use std::sync::Arc;

use jiff::Timestamp;
use plumb_backend::{Seq, Update};
use plumb_state::journal::{EncryptedEntry, Entry, Fold, FoldError};
use plumb_state::{CiphertextCache, SecretCodec, SecretsError, Snapshot};

/// Why the journal cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Secrets cannot be encrypted.
    #[error("could not encrypt the secrets of the state")]
    Secrets(#[from] SecretsError),
    /// The journal is closed.
    #[error(transparent)]
    Write(#[from] plumb_backend::JournalError),
    /// An entry contradicts the state: a fault of the engine.
    #[error("the journal contradicts the state; this is a bug, please report it")]
    Fold(#[from] FoldError),
}

/// Folds the entries of a run, and writes them to the journal of an update. Previews have none.
pub struct RunJournal {
    fold: Fold,
    update: Option<Arc<Update>>,
    codec: Arc<dyn SecretCodec + Send + Sync>,
    cache: CiphertextCache,
}

impl RunJournal {
    /// Starts from `base`. `cache` knows the ciphertexts that the base was read from.
    pub fn new(
        base: Snapshot,
        update: Option<Arc<Update>>,
        codec: Arc<dyn SecretCodec + Send + Sync>,
        cache: CiphertextCache,
    ) -> Self {
        RunJournal { fold: Fold::new(base), update, codec, cache }
    }

    /// Takes entries in order. They are durable when the writer says so.
    pub fn record(&mut self, entries: Vec<Entry>) -> Result<(), JournalError> {
        if let Some(update) = &self.update {
            let encrypted = EncryptedEntry::encrypt_all(&entries, self.codec.as_ref(), &mut self.cache)?;
            for entry in &encrypted {
                update.record(entry)?;
            }
        }
        for entry in entries {
            self.fold.apply(entry)?;
        }
        Ok(())
    }

    /// Notes that a resource of the base was visited and is unchanged.
    pub(crate) fn touch(&mut self, base: u32) -> Result<(), JournalError> {
        Ok(self.fold.touch(base)?)
    }

    pub(crate) fn durable(&self) -> Option<tokio::sync::watch::Receiver<Result<Seq, plumb_backend::JournalError>>> {
        self.update.as_ref()?.journal().ok().map(plumb_backend::JournalWriter::durable)
    }

    /// What the stack is at the end, and the ciphertexts that are still good.
    pub fn finish(self, now: Timestamp, version: &str) -> Result<(Snapshot, CiphertextCache), JournalError> {
        let snapshot = self.fold.snapshot(now, version)?;
        Ok((snapshot, self.cache))
    }
}
