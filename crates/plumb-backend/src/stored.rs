//! Journals in both of their stored forms: a file, or segments.

use plumb_project::StackReference;
use plumb_state::journal::disk::{self, CheckpointDigest, Journal, Tail};

use crate::error::BackendError;
use crate::keys;
use crate::recovery::{Note, SetAsideReason};
use crate::rescue;
use crate::segments::{self, Content, JOURNAL, Keep, Segments};
use crate::state_file::StateFile;
use crate::store::Store;

const FOLDED: &str = ".folded";

/// Classification of a leftover journal, which decides its treatment.
pub(crate) enum Leftover {
    /// Its records are in the state: delete it.
    Done,
    /// Replay it.
    Matching(Journal),
    /// The journal does not match the state: set it aside.
    Alien(SetAsideReason),
    /// Its owner is removing it, or has removed it: look again.
    Moving,
    /// Only seals are left: keep them until no writer can meet them.
    Seals,
}

/// Notes that the own journal is about to be folded into a checkpoint with this text.
pub(crate) fn note_folded(store: &Store, journal: &str, text: &str) -> Result<(), BackendError> {
    if store.bucket.files().is_some() {
        return note_folded_file(store, journal, &digest_of(text));
    }
    segments::note_folded(store, journal, &digest_of(text))
}

fn note_folded_file(store: &Store, journal: &str, digest: &str) -> Result<(), BackendError> {
    Ok(store.bucket.put(&folded_key(journal), digest.as_bytes())?)
}

fn digest_of(text: &str) -> String {
    CheckpointDigest::of(text.as_bytes()).to_string()
}

fn folded_key(journal: &str) -> String {
    format!(
        "{}{FOLDED}",
        journal.strip_suffix(JOURNAL).unwrap_or(journal)
    )
}

/// Whether the object with this key only says what became of a journal.
pub(crate) fn is_marker(key: &str) -> bool {
    key.ends_with(FOLDED) || segments::is_marker(key)
}

/// A journal in a store.
pub(crate) enum Stored {
    /// One file.
    File(String),
    /// A folder of segments.
    Segments(Segments),
}

impl Stored {
    /// Journal with this key.
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

    /// Key of the journal.
    pub(crate) fn key(&self) -> &str {
        match self {
            Stored::File(key) => key,
            Stored::Segments(segments) => &segments.journal,
        }
    }

    /// Content; `None` if it cannot be read.
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

    /// Notes that the journal is about to be folded into a checkpoint with this text.
    pub(crate) fn note_folded(&mut self, store: &Store, text: &str) -> Result<(), BackendError> {
        match self {
            Stored::File(key) => note_folded_file(store, key, &digest_of(text)),
            Stored::Segments(segments) => segments.note_folded(store, &digest_of(text)),
        }
    }

    /// Deletes a journal that is in the state.
    pub(crate) fn remove(&self, store: &Store, keep: Keep) -> Result<(), BackendError> {
        rescue::remove(store, self.key());
        match self {
            // The note must outlast the journal: if the journal reappears after a crash, it must still count as folded.
            Stored::File(key) => {
                store.bucket.delete(key)?;
                store.bucket.settle(keys::folder_of(key))?;
                store.bucket.delete(&folded_key(key))?;
                Ok(())
            }
            Stored::Segments(segments) => segments.remove(store, keep),
        }
    }

    /// Renames the journal.
    pub(crate) fn set_aside(
        &self,
        store: &Store,
        reason: SetAsideReason,
    ) -> Result<Note, BackendError> {
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

    /// Classifies the journal against the state file `state`.
    pub(crate) fn classify(
        &self,
        store: &Store,
        state: &StateFile,
    ) -> Result<Leftover, BackendError> {
        let unreadable = Leftover::Alien(SetAsideReason::Unreadable);
        let present = state.digest().to_string();
        let (journal, folded) = match self {
            // The journal may be half deleted.
            Stored::Segments(segments) if segments.folded.contains(&present) => {
                return Ok(Leftover::Done);
            }
            Stored::File(key) => {
                let Some(bytes) = store.bucket.get(key)? else {
                    return Ok(Leftover::Moving);
                };
                let Ok(journal) = disk::read(&bytes) else {
                    return Ok(unreadable);
                };
                let journal = rescue::continued(store, key, journal)?;
                let folded = store.bucket.get(&folded_key(key))?;
                let folded = folded.and_then(|digest| String::from_utf8(digest).ok());
                (journal, Vec::from_iter(folded))
            }
            Stored::Segments(segments) => match segments.read(store)? {
                Content::Journal(journal) => (
                    rescue::continued(store, &segments.journal, journal)?,
                    segments.folded.clone(),
                ),
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
        // An empty journal loses nothing. Its writer was stopped at the beginning.
        if journal.entries.is_empty() && journal.tail != Tail::Damaged {
            return Ok(Leftover::Done);
        }
        Ok(Leftover::Alien(SetAsideReason::OtherCheckpoint))
    }
}

/// Journals of a stack.
pub(crate) fn journals(store: &Store, stack: &StackReference) -> Result<Vec<Stored>, BackendError> {
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
