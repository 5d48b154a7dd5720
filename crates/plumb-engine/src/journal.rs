//! The journal of a run: entries of the core become durable records, and the snapshot at the end.

mod lossy;

use std::sync::Arc;

use jiff::Timestamp;
use lossy::Lossy;
use plumb_backend::{Seq, Update};
use plumb_resource::Urn;
use plumb_state::journal::{EncryptedEntry, Entry, EntryKind, Fold, FoldError, OperationId};
use plumb_state::{CiphertextCache, SecretCodec, SecretsError, SecretsProvider, Snapshot};

/// Why the journal cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Secrets cannot be encrypted.
    #[error("could not encrypt the secrets of the state")]
    Secrets(#[from] SecretsError),
    /// The same, and providers had returned some that are lost.
    #[error(
        "could not encrypt the secrets of the state, so what {} returned is recorded without them, to be read again by the next update",
        list(resources)
    )]
    SecretsLost {
        /// Resources whose objects are marked to be read.
        resources: Vec<Urn>,
        /// Why.
        source: SecretsError,
    },
    /// The journal is closed.
    #[error(transparent)]
    Write(#[from] plumb_backend::JournalError),
    /// An entry contradicts the state: a fault of the engine.
    #[error("the journal contradicts the state; this is a bug, please report it")]
    Fold(#[from] FoldError),
}

/// How many entries are collected at most before they are handed to the update's journal.
const BATCH: usize = 64;

/// Folds the entries of a run, and writes them to the journal of an update. Previews have none.
///
/// Entries are collected while there is something else to do at once, so that they share a sync. Whoever records calls
/// [`RunJournal::flush`] before waiting for anything.
pub struct RunJournal {
    fold: Fold,
    update: Option<Arc<Update>>,
    codec: Arc<dyn SecretCodec + Send + Sync>,
    cache: CiphertextCache,
    collected: Vec<EncryptedEntry>,
    /// What the state, with the entries so far, says of its encryption.
    provider: Option<SecretsProvider>,
    /// Entries that are not the core's, which does not count them.
    uncounted: u64,
}

impl RunJournal {
    /// Starts from `base`. `cache` knows the ciphertexts that the base was read from.
    pub fn new(
        base: Snapshot,
        update: Option<Arc<Update>>,
        codec: Arc<dyn SecretCodec + Send + Sync>,
        cache: CiphertextCache,
    ) -> Self {
        RunJournal {
            provider: base.secrets_provider.clone(),
            uncounted: 0,
            fold: Fold::new(base),
            update,
            codec,
            cache,
            collected: Vec::new(),
        }
    }

    /// Begins with another state than the base. It comes before the entries of the core.
    pub fn begin_with(&mut self, state: Snapshot) -> Result<(), JournalError> {
        self.provider.clone_from(&state.secrets_provider);
        self.uncounted += 1;
        self.record(vec![Entry {
            operation: OperationId::NONE,
            kind: EntryKind::Write(Arc::new(state)),
        }])
    }

    /// Takes entries in order. They are durable when the update's journal says so, some time after a flush.
    ///
    /// When secrets cannot be encrypted the run cannot go on, but what providers have returned must not be lost: the
    /// entries are recorded without these secrets, and then the error is returned. An object that is not whole for that
    /// reason is marked to be read by the next run.
    pub fn record(&mut self, entries: Vec<Entry>) -> Result<(), JournalError> {
        match self.write(&entries) {
            Ok(()) => self.fold(entries),
            Err(JournalError::Secrets(source)) => {
                let mut lossy = Lossy::new(&self.cache);
                let left: Vec<Entry> = entries.into_iter().map(|it| lossy.entry(it)).collect();
                let resources = lossy.incomplete;
                self.write(&left)?;
                self.fold(left)?;
                Err(if resources.is_empty() {
                    source.into()
                } else {
                    JournalError::SecretsLost { resources, source }
                })
            }
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        if self.update.is_none() {
            return Ok(());
        }
        let encrypted = EncryptedEntry::encrypt_all(entries, self.codec.as_ref(), &mut self.cache)?;
        self.name_provider()?;
        self.collected.extend(encrypted);
        if self.collected.len() >= BATCH {
            self.flush()?;
        }
        Ok(())
    }

    /// Says who encrypts what follows, where that has just been decided: else nobody could read it after a crash.
    fn name_provider(&mut self) -> Result<(), JournalError> {
        let provider = self.codec.provider();
        if let Some(provider) = provider.filter(|it| Some(it) != self.provider.as_ref()) {
            self.provider = Some(provider.clone());
            self.uncounted += 1;
            let entry = Entry {
                operation: OperationId::NONE,
                kind: EntryKind::SecretsManager(provider),
            };
            let codec = self.codec.as_ref();
            let encrypted = EncryptedEntry::encrypt_all(&[entry], codec, &mut self.cache)?;
            self.collected.extend(encrypted);
        }
        Ok(())
    }

    /// How many entries of the core are durable at least, when `all` are.
    pub(crate) fn counted(&self, all: Seq) -> u64 {
        all.0.saturating_sub(self.uncounted)
    }

    /// Whether entries wait to be flushed.
    pub(crate) fn has_collected(&self) -> bool {
        !self.collected.is_empty()
    }

    /// Hands what was collected to the journal of the update.
    pub(crate) fn flush(&mut self) -> Result<(), JournalError> {
        let collected = std::mem::take(&mut self.collected);
        if let (Some(update), false) = (&self.update, collected.is_empty()) {
            update.record(collected)?;
        }
        Ok(())
    }

    fn fold(&mut self, entries: Vec<Entry>) -> Result<(), JournalError> {
        for entry in entries {
            self.fold.apply(entry)?;
        }
        Ok(())
    }

    /// Notes that a resource of the base was visited and is unchanged.
    pub(crate) fn touch(&mut self, base: u32) -> Result<(), JournalError> {
        Ok(self.fold.touch(base)?)
    }

    pub(crate) fn durable(
        &self,
    ) -> Option<tokio::sync::watch::Receiver<Result<Seq, plumb_backend::JournalError>>> {
        self.update
            .as_ref()?
            .journal()
            .ok()
            .map(plumb_backend::JournalWriter::durable)
    }

    /// What the stack is at the end, and the ciphertexts that are still good.
    pub fn finish(
        mut self,
        now: Timestamp,
        version: &str,
    ) -> Result<(Snapshot, CiphertextCache), JournalError> {
        self.flush()?;
        let snapshot = self.fold.snapshot(now, version)?;
        Ok((snapshot, std::mem::take(&mut self.cache)))
    }
}

impl Drop for RunJournal {
    /// What was recorded must not be lost, however the run ends.
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::error!(%error, "the journal was not written to its end");
        }
    }
}

fn list(resources: &[Urn]) -> String {
    let names: Vec<String> = resources.iter().map(|urn| format!("'{urn}'")).collect();
    names.join(", ")
}
