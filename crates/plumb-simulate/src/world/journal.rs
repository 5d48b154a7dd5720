//! Journal of a run: recorded entries, and how many of them are durable.

use ecow::EcoString;
use jiff::Timestamp;
use plumb_resource::{OperationType, Urn};
use plumb_state::journal::disk::{self, CheckpointDigest, Header};
use plumb_state::journal::{EncryptedEntry, Entry, EntryKind, Fold, OperationId, replay};
use plumb_state::{CiphertextCache, CodecError, Plaintext, SecretCodec, Snapshot};
use rustc_hash::FxHashMap;

use super::Violation;
use crate::dice::Dice;

/// Program version in snapshots.
pub(super) const VERSION: &str = "v0.0.0";

/// The journal.
pub(super) struct Journal {
    base: Snapshot,
    fold: Fold,
    entries: Vec<Entry>,
    pub(super) durable: u64,
    /// Operations without an outcome, with the number of their entry.
    open: FxHashMap<OperationId, (Urn, OperationType, u64)>,
    /// Number of the entry that recorded the current state of a resource.
    recorded: FxHashMap<Urn, u64>,
}

impl Journal {
    pub(super) fn new(base: Snapshot) -> Self {
        Journal {
            fold: Fold::new(base.clone()),
            base,
            entries: Vec::new(),
            durable: 0,
            open: FxHashMap::default(),
            recorded: FxHashMap::default(),
        }
    }

    /// Base snapshot of the run.
    pub(super) fn base(&self) -> &Snapshot {
        &self.base
    }

    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(super) fn touch(&mut self, base: u32) -> Result<(), Violation> {
        self.fold
            .touch(base)
            .map_err(|error| Violation::new("journal", error.to_string()))
    }

    pub(super) fn record(&mut self, entry: Entry) -> Result<(), Violation> {
        let number = self.len() + 1;
        match &entry.kind {
            EntryKind::Begin {
                operation: Some(pending),
            } => {
                let intent = (pending.resource.urn.clone(), pending.operation, number);
                self.open.insert(entry.operation, intent);
            }
            EntryKind::Success { state, .. } => {
                let was_open = self.open.remove(&entry.operation).is_some();
                if let (Some(state), true) = (state, was_open) {
                    self.recorded.insert(state.urn.clone(), number);
                }
            }
            EntryKind::Failure if self.open.remove(&entry.operation).is_none() => {
                let what = format!("a failure of {:?} that never began", entry.operation);
                return Err(Violation::new("journal", what));
            }
            _ => {}
        }
        self.entries.push(entry.clone());
        self.fold
            .apply(entry)
            .map_err(|error| Violation::new("journal", error.to_string()))
    }

    /// Current snapshot.
    pub(super) fn snapshot(&self, now: Timestamp) -> Result<Snapshot, Violation> {
        self.fold
            .snapshot(now, VERSION)
            .map_err(|error| Violation::new("journal", error.to_string()))
    }

    /// Checks that every intermediate state is valid.
    pub(super) fn verify(&self, now: Timestamp) -> Result<(), Violation> {
        let snapshot = self.snapshot(now)?;
        snapshot.verify().map_err(|error| {
            let last = self.entries.last().map(summary).unwrap_or_default();
            Violation::new("integrity", format!("after {last}: {error}"))
        })
    }

    /// Whether an open operation for this call is among the first `fence` entries.
    pub(super) fn has_intent(&self, urn: &Urn, kind: OperationType, fence: u64) -> bool {
        self.open
            .values()
            .any(|(other, other_kind, at)| other == urn && *other_kind == kind && *at <= fence)
    }

    /// Number of the entry that must be durable before a reply about the resource is sent.
    pub(super) fn recorded(&self, urn: &Urn) -> u64 {
        self.recorded.get(urn).copied().unwrap_or(0)
    }

    /// Operations without an outcome.
    pub(super) fn open(&self) -> impl Iterator<Item = &(Urn, OperationType, u64)> {
        self.open.values()
    }

    /// State after a crash: a random part of the entries that were not durable yet, a torn record, and the recovery.
    pub(super) fn crash(&self, dice: &mut Dice, now: Timestamp) -> Result<Snapshot, Violation> {
        let loose = self.entries.len() - self.durable as usize;
        let survivors = self.durable as usize + dice.below(loose + 1);
        self.recover(survivors, dice, now)
    }

    /// Recovery of the durable entries.
    pub(super) fn recover_durable(
        &self,
        dice: &mut Dice,
        now: Timestamp,
    ) -> Result<Snapshot, Violation> {
        self.recover(self.durable as usize, dice, now)
    }

    fn recover(
        &self,
        survivors: usize,
        dice: &mut Dice,
        now: Timestamp,
    ) -> Result<Snapshot, Violation> {
        let codec = Rot;
        let mut cache = CiphertextCache::default();
        let broken = |what: String| Violation::new("recovery", what);
        let sealed = EncryptedEntry::encrypt_all(&self.entries, &codec, &mut cache)
            .map_err(|error| broken(error.to_string()))?;
        let mut bytes = disk::header_record(&Header {
            checkpoint: CheckpointDigest::of(b""),
            segment: 0,
        });
        for (number, entry) in (1..).zip(&sealed[..survivors]) {
            bytes.extend(disk::entry_record(number, entry));
        }
        if let Some(torn) = sealed.get(survivors) {
            let record = disk::entry_record(survivors as u64 + 1, torn);
            bytes.extend(&record[..dice.below(record.len())]);
        }
        let journal = disk::read(&bytes).map_err(|error| broken(error.to_string()))?;
        if journal.entries.len() != survivors {
            return Err(broken(format!(
                "{} of {survivors} records were read",
                journal.entries.len()
            )));
        }
        let base = self
            .base
            .encrypt(&codec, &mut cache)
            .map_err(|error| broken(error.to_string()))?;
        let fold = replay(base, journal.entries).map_err(|error| broken(error.to_string()))?;
        let snapshot = fold
            .snapshot(now, VERSION)
            .map_err(|error| broken(error.to_string()))?;
        let snapshot = snapshot
            .decrypt(&codec, &mut cache)
            .map_err(|error| broken(error.to_string()))?;
        snapshot
            .verify()
            .map_err(|error| Violation::new("integrity", format!("after recovery: {error}")))?;
        Ok(snapshot)
    }
}

fn summary(entry: &Entry) -> String {
    let name = |state: &plumb_resource::ResourceState| state.urn.name().to_owned();
    match &entry.kind {
        EntryKind::Begin { operation } => {
            let text = operation
                .as_ref()
                .map(|it| format!("{} {}", it.operation.as_str(), name(&it.resource)));
            format!("begin {}", text.unwrap_or_default())
        }
        EntryKind::Success {
            state,
            remove,
            delete,
            pending_replacement,
            ..
        } => format!(
            "success {} remove {remove:?} delete {delete:?} pending {pending_replacement:?}",
            state.as_ref().map(|state| name(state)).unwrap_or_default()
        ),
        EntryKind::RefreshSuccess { slot, state } => format!(
            "refresh {slot:?} {}",
            state.as_ref().map(|state| name(state)).unwrap_or_default()
        ),
        other => format!("{other:?}").chars().take(80).collect(),
    }
}

/// A secrets manager that keeps nothing secret.
struct Rot;

impl SecretCodec for Rot {
    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, CodecError> {
        Ok(plaintexts
            .iter()
            .map(|text| format!("sealed:{}", text.reveal()))
            .collect())
    }

    fn decrypt_batch(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, CodecError> {
        Ok(ciphertexts
            .iter()
            .map(|text| Plaintext::new(text.trim_start_matches("sealed:").to_owned()))
            .collect())
    }
}

/// Type of pending operation that a call requires.
pub(super) fn intent_of(call: &str) -> OperationType {
    match call {
        "create" => OperationType::Creating,
        "update" => OperationType::Updating,
        _ => OperationType::Deleting,
    }
}

/// Name as a shared text.
pub(super) fn shared(text: &str) -> EcoString {
    text.into()
}
