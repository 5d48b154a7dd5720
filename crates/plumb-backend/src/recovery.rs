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
//!
//! Journals in [segments](crate::segments) are sealed first. An owner that lost the stack may be at its end then, and
//! replace the checkpoint itself. Of two who replace it one is refused, and starts from the beginning with what is there.

use jiff::Timestamp;
use plumb_project::StackReference;
use plumb_state::file::Checkpoint;
use plumb_state::journal::disk::{self, CheckpointDigest, Journal, Tail};
use plumb_state::journal::{EncryptedEntry, EntryKind, replay};
use plumb_state::{EncryptedSnapshot, Snapshot};

use crate::error::BackendError;
use crate::keys;
use crate::lock::TakenOver;
use crate::segments::{self, Content, JOURNAL, Keep, Segments};
use crate::state_file::StateFile;
use crate::store::Store;

const FOLDED: &str = ".folded";

/// What was found and done when a stack was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The lock of a process that has died on this machine was taken away.
    DeadLock {
        /// The lock, for people.
        lock: String,
    },
    /// The lock of a run that did not renew its lease was taken away.
    ExpiredLock {
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
    /// Look again: its owner is removing it.
    Moving,
    /// Keep what is left of it until nobody can meet it any more.
    Seals,
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

/// A journal as the store has it.
pub(crate) enum Stored {
    /// One file.
    File(String),
    /// A folder of segments.
    Segments(Segments),
}

impl Stored {
    /// The journal with this key.
    pub(crate) fn find(
        store: &Store,
        stack: &StackReference,
        key: &str,
    ) -> Result<Option<Self>, BackendError> {
        if store.bucket.files().is_some() {
            return Ok(Some(Stored::File(key.to_owned())));
        }
        let found = segments::journals(store, stack)?;
        let own = found.into_iter().find(|segments| segments.journal == key);
        Ok(own.map(Stored::Segments))
    }

    fn key(&self) -> &str {
        match self {
            Stored::File(key) => key,
            Stored::Segments(segments) => &segments.journal,
        }
    }

    /// Its content, if it can be read.
    pub(crate) fn journal(&self, store: &Store) -> Result<Option<Journal>, BackendError> {
        match self {
            Stored::File(key) => {
                let bytes = store.bucket.get(key)?;
                Ok(bytes.and_then(|bytes| disk::read(&bytes).ok()))
            }
            Stored::Segments(segments) => match segments.read(store)? {
                Content::Journal(journal) => Ok(Some(journal)),
                Content::Moving | Content::Seals | Content::Unreadable => Ok(None),
            },
        }
    }

    /// Notes that it is about to be folded into a checkpoint with this text.
    pub(crate) fn note_folded(&mut self, store: &Store, text: &str) -> Result<(), BackendError> {
        let digest = CheckpointDigest::of(text.as_bytes()).to_string();
        match self {
            Stored::File(key) => Ok(store.bucket.put(&folded_key(key), digest.as_bytes())?),
            Stored::Segments(segments) => segments.note_folded(store, &digest),
        }
    }

    /// Removes a journal whose work is done.
    pub(crate) fn remove(&self, store: &Store, keep: Keep) -> Result<(), BackendError> {
        match self {
            Stored::File(key) => {
                store.bucket.delete(key)?;
                store.bucket.delete(&folded_key(key))?;
                Ok(())
            }
            Stored::Segments(segments) => segments.remove(store, keep),
        }
    }

    fn set_aside(&self, store: &Store, reason: SetAsideReason) -> Result<Note, BackendError> {
        let aside = format!("{}.set-aside", self.key());
        match self {
            Stored::File(key) => {
                store.bucket.rename(key, &aside)?;
                store.bucket.delete(&folded_key(key))?;
            }
            Stored::Segments(segments) => segments.set_aside(store, &aside)?,
        }
        Ok(Note::SetAside {
            journal: store.bucket.address(&aside),
            reason,
        })
    }

    /// What to do with it, the state file being `state`.
    fn classify(&self, store: &Store, state: &StateFile) -> Result<Leftover, BackendError> {
        let unreadable = Leftover::Alien(SetAsideReason::Unreadable);
        let present = state.digest().to_string();
        let (journal, folded) = match self {
            // It may be half removed.
            Stored::Segments(segments) if segments.folded.contains(&present) => {
                return Ok(Leftover::Done);
            }
            Stored::File(key) => {
                let Some(bytes) = store.bucket.get(key)? else {
                    return Ok(Leftover::Done);
                };
                let Ok(journal) = disk::read(&bytes) else {
                    return Ok(unreadable);
                };
                let folded = store.bucket.get(&folded_key(key))?;
                let folded = folded.and_then(|digest| String::from_utf8(digest).ok());
                (journal, Vec::from_iter(folded))
            }
            Stored::Segments(segments) => match segments.read(store)? {
                Content::Journal(journal) => (journal, segments.folded.clone()),
                Content::Unreadable => return Ok(unreadable),
                Content::Moving => return Ok(Leftover::Moving),
                Content::Seals => return Ok(Leftover::Seals),
            },
        };
        let Some(header) = journal.header else {
            return Ok(if journal.tail == Tail::Damaged {
                unreadable
            } else {
                Leftover::Done
            });
        };
        if folded.contains(&present) {
            return Ok(Leftover::Done);
        }
        if header.checkpoint == state.digest() {
            return Ok(Leftover::Matching(journal));
        }
        Ok(Leftover::Alien(SetAsideReason::OtherCheckpoint))
    }
}

/// How often recovery starts from the beginning because another run was at its end.
const ROUNDS: usize = 5;

/// Deals with leftover journals. The caller holds the lock.
pub(crate) fn recover(store: &Store, stack: &StackReference) -> Result<Vec<Note>, BackendError> {
    let mut notes = Vec::new();
    for _ in 1..ROUNDS {
        match recover_all(store, stack, &mut notes) {
            Ok(Round::Settled) => return Ok(notes),
            Ok(Round::Moving) | Err(BackendError::Fenced(_)) => {}
            Err(error) => return Err(error),
        }
    }
    recover_all(store, stack, &mut notes)?;
    Ok(notes)
}

/// Whether another run was at work on the journals while they were looked at.
enum Round {
    Settled,
    Moving,
}

fn recover_all(
    store: &Store,
    stack: &StackReference,
    notes: &mut Vec<Note>,
) -> Result<Round, BackendError> {
    let mut round = Round::Settled;
    for mut stored in journals(store, stack)? {
        if let Stored::Segments(segments) = &mut stored {
            segments.seal(store)?;
        }
        let state = store.state_file(stack)?;
        match stored.classify(store, &state)? {
            Leftover::Done => stored.remove(store, Keep::Seal)?,
            Leftover::Alien(reason) => notes.push(stored.set_aside(store, reason)?),
            Leftover::Moving => round = Round::Moving,
            Leftover::Seals => {
                if let Stored::Segments(segments) = &stored {
                    segments.remove_old_seals(store)?;
                }
            }
            Leftover::Matching(journal) => {
                replay_and_save(store, stack, &mut stored, &state, journal, notes)?;
            }
        }
    }
    Ok(round)
}

fn replay_and_save(
    store: &Store,
    stack: &StackReference,
    stored: &mut Stored,
    state: &StateFile,
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
        store.save_text(stack, &text, Some(&state.former()))?;
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

/// The present state: the checkpoint, with a journal that builds on it folded in. Writes nothing.
pub(crate) fn present(
    store: &Store,
    stack: &StackReference,
    state: &StateFile,
) -> Result<Option<EncryptedSnapshot>, BackendError> {
    for stored in journals(store, stack)? {
        if let Leftover::Matching(journal) = stored.classify(store, state)?
            && !journal.entries.is_empty()
        {
            return match fold(store, stack, stored.key(), state.parse()?, journal) {
                Err(error @ (BackendError::Replay { .. } | BackendError::Fold { .. })) => {
                    tracing::warn!(key = %stored.key(), %error, "a leftover journal does not fit");
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

fn journals(store: &Store, stack: &StackReference) -> Result<Vec<Stored>, BackendError> {
    let folder = keys::journals(stack);
    let listed = store.bucket.list(&folder)?;
    let is_file = |key: &str| {
        let name = key
            .strip_prefix(&folder)
            .and_then(|it| it.strip_prefix('/'));
        name.is_some_and(|name| !name.contains('/') && name.ends_with(JOURNAL))
    };
    let files: Vec<Stored> = listed
        .iter()
        .filter(|entry| is_file(&entry.key))
        .map(|entry| Stored::File(entry.key.clone()))
        .collect();
    let segments = segments::group(listed).into_iter().map(Stored::Segments);
    Ok(files.into_iter().chain(segments).collect())
}
