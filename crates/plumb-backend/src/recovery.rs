//! Recovery of journals of interrupted updates.
//!
//! A journal names the checkpoint that it builds on by its digest. Before the folded checkpoint is written, its digest
//! is noted beside the journal (`<id>.folded`). A leftover journal is therefore one of:
//!
//! 1. without a complete header: no record was durable, so the journal is deleted;
//! 2. noted as folded into the current checkpoint: the journal is deleted;
//! 3. based on the current checkpoint: the journal is replayed, the checkpoint saved, the journal deleted. If records
//!    in its middle are damaged, a copy is set aside;
//! 4. anything else: the journal is renamed (set aside) and reported. **No journal is ever dropped silently.**
//!
//! Journals in [segments](crate::segments) are sealed first. An owner that has lost the stack may be finishing at that
//! time, and replace the checkpoint itself. Of two such replacements one fails, and starts again with the new
//! checkpoint.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use plumb_project::StackReference;
use plumb_state::file::Checkpoint;
use plumb_state::journal::disk::{Journal, Tail};
use plumb_state::journal::{EncryptedEntry, EntryKind, replay};
use plumb_state::{EncryptedSnapshot, Snapshot};

use crate::error::BackendError;
use crate::keys;
use crate::lock::TakenOver;
use crate::rescue::{self, Rescued};
use crate::segments::{JOURNAL, Keep};
use crate::state_file::{Former, StateFile};
use crate::store::Store;
use crate::stored::{Leftover, Stored, journals};

/// Finding or action when a stack was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Only a lock keeps two updates apart, because the store has no conditional writes.
    LockOnly {
        /// Address of the store.
        url: String,
    },
    /// The lock of a process that died on this machine was removed.
    DeadLock {
        /// The lock, as text for the user.
        lock: String,
    },
    /// The lock of a run that did not renew its lease was removed.
    ExpiredLock {
        /// The lock, as text for the user.
        lock: String,
    },
    /// The journal of an interrupted update was replayed.
    Replayed {
        /// Address of the journal.
        journal: String,
        /// Number of its entries.
        entries: usize,
    },
    /// A journal was unusable in whole or in part, and was kept under another name.
    SetAside {
        /// Address of the renamed journal.
        journal: String,
        /// Reason.
        reason: SetAsideReason,
    },
    /// A recovery file belongs to no journal of its stack, and was kept under another name.
    Orphaned(Rescued),
}

impl Note {
    /// Note about a store without conditional writes.
    pub(crate) fn of_store(store: &Store) -> Option<Self> {
        store.has_lock_only().then(|| Note::LockOnly {
            url: store.bucket.address(""),
        })
    }
}

impl From<TakenOver> for Note {
    fn from(taken_over: TakenOver) -> Self {
        match taken_over {
            TakenOver::Dead(lock) => Note::DeadLock {
                lock: lock.to_string(),
            },
            TakenOver::Expired(lock) => Note::ExpiredLock {
                lock: lock.to_string(),
            },
        }
    }
}

/// Reason why a journal was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetAsideReason {
    /// The journal builds on another checkpoint than the current one.
    OtherCheckpoint,
    /// The journal cannot be read.
    Unreadable,
    /// Valid records follow invalid ones; those before were replayed.
    Damaged,
    /// The entries do not match the checkpoint.
    DoesNotFit,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Note::LockOnly { url } => write!(
                f,
                "the store {url} has no conditional writes, so only a lock keeps two updates apart, as with Pulumi; the \
                 stack of a run that was killed on another machine stays locked until `plumb cancel`"
            ),
            Note::DeadLock { lock } => {
                write!(f, "took over the lock of a process that has ended: {lock}")
            }
            Note::ExpiredLock { lock } => {
                write!(
                    f,
                    "took over the lock of a run that stopped renewing its lease: {lock}"
                )
            }
            Note::Replayed { journal, entries } => {
                write!(
                    f,
                    "an update was interrupted; its {entries} journal entries were recovered from {journal}"
                )
            }
            Note::Orphaned(rescued) => {
                let file = rescued.file.as_deref().unwrap_or(Path::new(""));
                write!(
                    f,
                    "the recovery file of an interrupted update was set aside at {}, because its journal was recovered \
                     without it; check these objects, and import those that the state does not have:",
                    file.display()
                )?;
                for object in &rescued.objects {
                    write!(f, "\n  {}  {}", object.id, object.urn)?;
                }
                Ok(())
            }
            Note::SetAside { journal, reason } => {
                let reason = match reason {
                    SetAsideReason::OtherCheckpoint => {
                        "it builds on another checkpoint than the present one"
                    }
                    SetAsideReason::Unreadable => "it cannot be read",
                    SetAsideReason::Damaged => {
                        "it is damaged in its middle; the part before was recovered"
                    }
                    SetAsideReason::DoesNotFit => "its entries do not fit the checkpoint",
                };
                write!(
                    f,
                    "the journal of an interrupted update was set aside at {journal}: {reason}"
                )
            }
        }
    }
}

pub(crate) fn journal_key(stack: &StackReference, id: &str) -> String {
    format!("{}/{id}{JOURNAL}", keys::journals(stack))
}

/// Maximum number of restarts because another run was finishing.
const ROUNDS: usize = 5;

/// Recovers leftover journals. The caller holds the lock.
pub(crate) fn recover(store: &Store, stack: &StackReference) -> Result<Vec<Note>, BackendError> {
    recover_listed(store, stack, journals(store, stack)?)
}

/// Recovers leftover journals that the caller has listed.
pub(crate) fn recover_listed(
    store: &Store,
    stack: &StackReference,
    mut listed: Vec<Stored>,
) -> Result<Vec<Note>, BackendError> {
    let mut recovery = Recovery {
        store,
        stack,
        suspects: BTreeSet::new(),
        notes: Vec::new(),
    };
    for _ in 1..ROUNDS {
        match recovery.round(listed) {
            Ok(Round::Settled) => return Ok(recovery.end()),
            Ok(Round::Moving) | Err(BackendError::Fenced(_)) => {}
            Err(error) => return Err(error),
        }
        listed = journals(store, stack)?;
    }
    recovery.round(listed)?;
    Ok(recovery.end())
}

/// Whether another run changed the journals during the recovery.
enum Round {
    Settled,
    Moving,
}

/// Recovery of the journals of a stack, in rounds.
struct Recovery<'s> {
    store: &'s Store,
    stack: &'s StackReference,
    /// Keys of journals that did not match the state in an earlier round.
    suspects: BTreeSet<String>,
    notes: Vec<Note>,
}

impl Recovery<'_> {
    fn round(&mut self, listed: Vec<Stored>) -> Result<Round, BackendError> {
        let (store, mut round) = (self.store, Round::Settled);
        for mut stored in listed {
            if let Stored::Segments(segments) = &mut stored {
                segments.seal(store)?;
            }
            let (state, former) = store.state_to_replace(self.stack)?;
            match stored.classify(store, &state)? {
                Leftover::Done => stored.remove(store, Keep::Seal)?,
                Leftover::Alien(_) if self.may_be_folding(&stored) => round = Round::Moving,
                Leftover::Alien(reason) => self.notes.push(stored.set_aside(store, reason)?),
                Leftover::Moving => round = Round::Moving,
                Leftover::Seals => {
                    if let Stored::Segments(segments) = &stored {
                        segments.remove_old_seals(store)?;
                    }
                }
                Leftover::Matching(journal) => {
                    let replaced = (&state, &former);
                    let notes = &mut self.notes;
                    replay_and_save(store, self.stack, &mut stored, replaced, journal, notes)?;
                }
            }
        }
        Ok(round)
    }

    /// Whether a former owner may have folded the journal into the state after the journal was listed, so that the
    /// listing lacks its note. The next round lists the journal again.
    fn may_be_folding(&mut self, stored: &Stored) -> bool {
        matches!(stored, Stored::Segments(_)) && self.suspects.insert(stored.key().to_owned())
    }

    fn end(mut self) -> Vec<Note> {
        let orphans = rescue::set_orphans_aside(self.store, self.stack);
        self.notes.extend(orphans);
        self.notes
    }
}

fn replay_and_save(
    store: &Store,
    stack: &StackReference,
    stored: &mut Stored,
    (state, former): (&StateFile, &Former),
    journal: Journal,
    notes: &mut Vec<Note>,
) -> Result<(), BackendError> {
    let (entries, tail) = (journal.entries.len(), journal.tail);
    if entries > 0 {
        let snapshot = match fold(store, stack, stored.key(), state.parse()?, journal) {
            Err(error @ (BackendError::Replay { .. } | BackendError::Fold { .. })) => {
                tracing::warn!(key = %stored.key(), %error, "a leftover journal does not fit");
                notes.push(stored.set_aside(store, SetAsideReason::DoesNotFit)?);
                return Ok(());
            }
            other => other?,
        };
        let text = snapshot.checkpoint(&stack.qualified());
        stored.note_folded(store, &text)?;
        store.save_text(stack, &text, Some(former))?;
        notes.push(Note::Replayed {
            journal: store.bucket.address(stored.key()),
            entries,
        });
    }
    if tail == Tail::Damaged {
        notes.push(stored.set_aside(store, SetAsideReason::Damaged)?);
        return Ok(());
    }
    stored.remove(store, Keep::Seal)
}

/// State that was read without taking the stack.
pub(crate) enum Present {
    /// The checkpoint.
    Checkpoint(StateFile),
    /// The checkpoint, with a journal that builds on it folded in.
    Folded(Box<EncryptedSnapshot>),
}

/// Current state. Writes nothing.
///
/// A run writes the state before it removes its journal. So the journals are listed before the state is read: in the
/// other order, both could lack the same records.
pub(crate) fn present(store: &Store, stack: &StackReference) -> Result<Present, BackendError> {
    for _ in 1..ROUNDS {
        if let Some(present) = present_unless_moving(store, stack)? {
            return Ok(present);
        }
    }
    // The journals that were removed meanwhile are in the state by now. Only records of still later runs may be missing.
    store.state_file(stack).map(Present::Checkpoint)
}

/// Current state; `None` if a journal was removed while it was read.
fn present_unless_moving(
    store: &Store,
    stack: &StackReference,
) -> Result<Option<Present>, BackendError> {
    let (listed, key) = store.join(|| journals(store, stack), || store.state_key(stack));
    let listed = listed?;
    let state = store.state_file_at(stack, key?)?;
    for stored in listed {
        match stored.classify(store, &state)? {
            Leftover::Matching(journal) if !journal.entries.is_empty() => {
                return match fold(store, stack, stored.key(), state.parse()?, journal) {
                    Err(error @ (BackendError::Replay { .. } | BackendError::Fold { .. })) => {
                        tracing::warn!(key = %stored.key(), %error, "a leftover journal does not fit");
                        Ok(Some(Present::Checkpoint(state)))
                    }
                    folded => Ok(Some(Present::Folded(Box::new(folded?)))),
                };
            }
            Leftover::Moving => return Ok(None),
            Leftover::Matching(_) | Leftover::Done | Leftover::Alien(_) | Leftover::Seals => {}
        }
    }
    Ok(Some(Present::Checkpoint(state)))
}

/// Folds a journal into the checkpoint that it builds on.
pub(crate) fn fold(
    store: &Store,
    stack: &StackReference,
    key: &str,
    checkpoint: Checkpoint,
    journal: Journal,
) -> Result<EncryptedSnapshot, BackendError> {
    // A journal that replaces the whole base does not need the old one, so a state with plaintext secrets can be
    // replaced.
    let replaces_base =
        |(_, entry): &(u64, EncryptedEntry)| matches!(entry.opaque().kind, EntryKind::Write(_));
    let base = if journal.entries.iter().any(replaces_base) {
        encrypted(stack, checkpoint).unwrap_or_default()
    } else {
        encrypted(stack, checkpoint)?
    };
    let fold = replay(base, journal.entries).map_err(|source| BackendError::Replay {
        key: key.to_owned(),
        source: Box::new(source),
    })?;
    fold.snapshot(Timestamp::now(), &store.options.version)
        .map_err(|source| BackendError::Fold {
            key: key.to_owned(),
            source: Box::new(source),
        })
}

/// Snapshot of a checkpoint without plaintext secrets; empty for a new stack.
pub(crate) fn encrypted(
    stack: &StackReference,
    checkpoint: Checkpoint,
) -> Result<EncryptedSnapshot, BackendError> {
    match checkpoint.latest {
        None => Ok(EncryptedSnapshot::default()),
        Some(latest) => latest
            .try_into_encrypted()
            .map_err(|_| BackendError::Plaintext {
                stack: stack.qualified(),
            }),
    }
}

/// Whether a snapshot has resources other than the root stack resource.
pub(crate) fn has_resources(snapshot: &Snapshot) -> bool {
    snapshot
        .resources
        .iter()
        .any(|resource| !resource.urn.is_root_stack())
}
