//! Journal of a run: makes the entries of the core durable, and folds them into the final snapshot.

mod lossy;

use std::sync::Arc;

use jiff::Timestamp;
use lossy::Lossy;
use plumb_backend::{Seq, Update};
use plumb_resource::Urn;
use plumb_state::journal::{EncryptedEntry, Entry, EntryKind, Fold, FoldError, OperationId};
use plumb_state::{CiphertextCache, SecretCodec, SecretsError, SecretsProvider, Snapshot};

/// Errors of the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Secrets cannot be encrypted.
    #[error("could not encrypt the secrets of the state")]
    Secrets(#[from] SecretsError),
    /// Secrets cannot be encrypted, and secrets returned by providers are lost.
    #[error(
        "could not encrypt the secrets of the state, so what {} returned is recorded without them, to be read again by the next update",
        list(resources)
    )]
    SecretsLost {
        /// Resources that are marked to be read by the next run.
        resources: Vec<Urn>,
        /// Cause.
        source: SecretsError,
    },
    /// The journal cannot be written.
    #[error(transparent)]
    Write(#[from] plumb_backend::JournalError),
    /// An entry contradicts the state, which is a bug of the engine.
    #[error("the journal contradicts the state; this is a bug, please report it")]
    Fold(#[from] FoldError),
}

/// Maximum number of entries that are collected before they are passed to the update's journal.
const BATCH: usize = 64;

/// Folds the entries of a run, and writes them to the journal of an update. Previews have no journal.
///
/// Entries are collected while more work is ready, so that they share a sync. The caller must call [`RunJournal::flush`]
/// before it waits for anything.
pub struct RunJournal {
    fold: Fold,
    update: Option<Arc<Update>>,
    codec: Arc<dyn SecretCodec + Send + Sync>,
    cache: CiphertextCache,
    collected: Vec<EncryptedEntry>,
    /// Secrets provider in the state, with the entries so far.
    provider: Option<SecretsProvider>,
    /// Number of entries written by the journal itself, which the core does not count.
    uncounted: u64,
}

impl RunJournal {
    /// A journal that starts from `base`. `cache` holds the ciphertexts in the base.
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

    /// Replaces the base by another state. Must be called before the core records entries.
    pub fn begin_with(&mut self, state: Snapshot) -> Result<(), JournalError> {
        self.provider.clone_from(&state.secrets_provider);
        self.uncounted += 1;
        self.record(vec![Entry {
            operation: OperationId::NONE,
            kind: EntryKind::Write(Arc::new(state)),
        }])
    }

    /// Records entries in order. They are durable when the update's journal says so, some time after a flush.
    ///
    /// If secrets cannot be encrypted the run cannot continue, but results of providers must not be lost: the entries are
    /// recorded without these secrets, and then the error is returned. Incomplete objects are marked to be read by the next
    /// run.
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

    /// Records the secrets provider if it was just chosen, because otherwise the entries that follow could not be decrypted
    /// after a crash.
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

    /// Number of the core's entries that are certainly durable once the journal is durable up to `all`.
    pub(crate) fn counted(&self, all: Seq) -> u64 {
        all.0.saturating_sub(self.uncounted)
    }

    /// Whether entries wait for a flush.
    pub(crate) fn has_collected(&self) -> bool {
        !self.collected.is_empty()
    }

    /// Passes the collected entries to the journal of the update. Returns the number of the last one, if there are any.
    pub(crate) fn flush(&mut self) -> Result<Option<Seq>, JournalError> {
        let collected = std::mem::take(&mut self.collected);
        match &self.update {
            Some(update) if !collected.is_empty() => Ok(Some(update.record(collected)?)),
            _ => Ok(None),
        }
    }

    fn fold(&mut self, entries: Vec<Entry>) -> Result<(), JournalError> {
        for entry in entries {
            self.fold.apply(entry)?;
        }
        Ok(())
    }

    /// Records that a resource of the base was visited and is unchanged.
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

    /// The final snapshot, and the ciphertexts that are still valid.
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
    /// Flushes the journal, because entries must not be lost however the run ends.
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
