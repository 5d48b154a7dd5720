//! What happens to the journal of an update that did not end in order.
//!
//! A journal names the checkpoint that it builds on by digest. Before the folded checkpoint is written, its digest is
//! noted beside the journal (`<id>.folded`). So a leftover journal is one of:
//!
//! 1. without a whole header: no record was ever durable, it is removed;
//! 2. noted as folded into the present checkpoint: its work is done, it is removed;
//! 3. built on the present checkpoint: it is replayed, the checkpoint saved, the journal removed. If records in its
//!    middle are damaged, a copy is set aside;
//! 4. anything else: it is set aside under another name and reported. **No journal is ever dropped silently.**

use jiff::Timestamp;
use plumb_project::StackReference;
use plumb_state::file::Checkpoint;
use plumb_state::journal::disk::{self, CheckpointDigest, Journal, Tail};
use plumb_state::journal::{EncryptedEntry, EntryKind, replay};
use plumb_state::{EncryptedSnapshot, Snapshot};

use crate::error::BackendError;
use crate::keys;
use crate::state_file::StateFile;
use crate::store::Store;

const JOURNAL: &str = ".journal";
const FOLDED: &str = ".folded";

/// What was found and done when a stack was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The lock of a process that has died on this machine was taken away.
    DeadLock {
        /// The lock, for people.
        lock: String,
    },
    /// The journal of an interrupted update was replayed.
    Replayed {
        /// The journal.
        journal: String,
        /// How many entries it had.
        entries: usize,
    },
    /// A journal could not be used, or not fully, and was kept under another name.
    SetAside {
        /// Where it is now.
        journal: String,
        /// Why.
        reason: SetAsideReason,
    },
}

/// Why a journal was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetAsideReason {
    /// It builds on another checkpoint than the present one.
    OtherCheckpoint,
    /// It cannot be read.
    Unreadable,
    /// Good records follow bad ones; those before the bad ones were replayed.
    Damaged,
    /// Its entries do not fit the checkpoint.
    DoesNotFit,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Note::DeadLock { lock } => {
                write!(f, "took over the lock of a process that has ended: {lock}")
            }
            Note::Replayed { journal, entries } => {
                write!(
                    f,
                    "an update was interrupted; its {entries} journal entries were recovered from {journal}"
                )
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

/// A leftover journal and what to do with it.
enum Leftover {
    /// Remove it.
    Done,
    /// Replay it.
    Matching(Journal),
    /// Keep it under another name.
    Alien(SetAsideReason),
}

pub(crate) fn journal_key(stack: &StackReference, id: &str) -> String {
    format!("{}/{id}{JOURNAL}", keys::journals(stack))
}

fn folded_key(journal: &str) -> String {
    format!(
        "{}{FOLDED}",
        journal.strip_suffix(JOURNAL).unwrap_or(journal)
    )
}

/// Notes that `journal` is about to be folded into a checkpoint with this text.
pub(crate) fn note_folded(store: &Store, journal: &str, text: &str) -> Result<(), BackendError> {
    let digest = CheckpointDigest::of(text.as_bytes()).to_string();
    Ok(store.bucket.put(&folded_key(journal), digest.as_bytes())?)
}

/// Removes a journal whose work is done.
pub(crate) fn remove_journal(store: &Store, journal: &str) -> Result<(), BackendError> {
    store.bucket.delete(journal)?;
    store.bucket.delete(&folded_key(journal))?;
    Ok(())
}

/// Deals with leftover journals. The caller holds the lock.
pub(crate) fn recover(store: &Store, stack: &StackReference) -> Result<Vec<Note>, BackendError> {
    let mut notes = Vec::new();
    for key in journals(store, stack)? {
        let state = store.state_file(stack)?;
        match classify(store, &key, &state)? {
            Leftover::Done => remove_journal(store, &key)?,
            Leftover::Alien(reason) => notes.push(set_aside(store, &key, reason)?),
            Leftover::Matching(journal) => {
                replay_and_save(store, stack, &key, &state, journal, &mut notes)?;
            }
        }
    }
    Ok(notes)
}

fn replay_and_save(
    store: &Store,
    stack: &StackReference,
    key: &str,
    state: &StateFile,
    journal: Journal,
    notes: &mut Vec<Note>,
) -> Result<(), BackendError> {
    let (entries, tail) = (journal.entries.len(), journal.tail);
    if entries > 0 {
        let snapshot = match fold(store, stack, key, state.parse()?, journal) {
            Err(error @ (BackendError::Replay { .. } | BackendError::Fold { .. })) => {
                tracing::warn!(%key, %error, "a leftover journal does not fit");
                notes.push(set_aside(store, key, SetAsideReason::DoesNotFit)?);
                return Ok(());
            }
            other => other?,
        };
        let text = snapshot.checkpoint(&stack.qualified());
        note_folded(store, key, &text)?;
        store.save_text(stack, &text)?;
        notes.push(Note::Replayed {
            journal: store.bucket.address(key),
            entries,
        });
    }
    if tail == Tail::Damaged {
        notes.push(set_aside(store, key, SetAsideReason::Damaged)?);
        return Ok(());
    }
    remove_journal(store, key)
}

/// The present state: the checkpoint, with a journal that builds on it folded in. Writes nothing.
pub(crate) fn present(
    store: &Store,
    stack: &StackReference,
    state: &StateFile,
) -> Result<Option<EncryptedSnapshot>, BackendError> {
    for key in journals(store, stack)? {
        if let Leftover::Matching(journal) = classify(store, &key, state)?
            && !journal.entries.is_empty()
        {
            return match fold(store, stack, &key, state.parse()?, journal) {
                Err(error @ (BackendError::Replay { .. } | BackendError::Fold { .. })) => {
                    tracing::warn!(%key, %error, "a leftover journal does not fit");
                    Ok(None)
                }
                other => other.map(Some),
            };
        }
    }
    Ok(None)
}

/// Folds a journal over the checkpoint that it builds on.
pub(crate) fn fold(
    store: &Store,
    stack: &StackReference,
    key: &str,
    checkpoint: Checkpoint,
    journal: Journal,
) -> Result<EncryptedSnapshot, BackendError> {
    // A journal that replaces the base as a whole needs no other; so state with secrets in the clear can be replaced.
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

/// The snapshot of a checkpoint, if no secret in it is in the clear; an empty one for a new stack.
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

/// Whether a snapshot holds resources besides the root stack.
pub(crate) fn has_resources(snapshot: &Snapshot) -> bool {
    snapshot
        .resources
        .iter()
        .any(|resource| !resource.urn.is_root_stack())
}

/// Reads a journal that is being closed.
pub(crate) fn read_journal(store: &Store, key: &str) -> Result<Option<Journal>, BackendError> {
    Ok(store
        .bucket
        .get(key)?
        .and_then(|bytes| disk::read(&bytes).ok()))
}

fn journals(store: &Store, stack: &StackReference) -> Result<Vec<String>, BackendError> {
    let listed = store.bucket.list_direct(&keys::journals(stack))?;
    Ok(listed
        .into_iter()
        .map(|entry| entry.key)
        .filter(|key| key.ends_with(JOURNAL))
        .collect())
}

fn classify(store: &Store, key: &str, state: &StateFile) -> Result<Leftover, BackendError> {
    let Some(bytes) = store.bucket.get(key)? else {
        return Ok(Leftover::Done);
    };
    let Ok(journal) = disk::read(&bytes) else {
        return Ok(Leftover::Alien(SetAsideReason::Unreadable));
    };
    let Some(header) = journal.header else {
        let unreadable = Leftover::Alien(SetAsideReason::Unreadable);
        return Ok(if journal.tail == Tail::Damaged {
            unreadable
        } else {
            Leftover::Done
        });
    };
    let present = state.digest();
    let folded = store.bucket.get(&folded_key(key))?;
    if folded.is_some_and(|digest| digest == present.to_string().as_bytes()) {
        return Ok(Leftover::Done);
    }
    if header.checkpoint == present {
        return Ok(Leftover::Matching(journal));
    }
    Ok(Leftover::Alien(SetAsideReason::OtherCheckpoint))
}

fn set_aside(store: &Store, key: &str, reason: SetAsideReason) -> Result<Note, BackendError> {
    let aside = format!("{key}.set-aside");
    store.bucket.rename(key, &aside)?;
    store.bucket.delete(&folded_key(key))?;
    Ok(Note::SetAside {
        journal: store.bucket.address(&aside),
        reason,
    })
}
