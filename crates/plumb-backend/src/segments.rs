//! Journals in stores without support for appending.
//!
//! A journal is a folder of numbered segments, `<id>.journal/<epoch>-<number>`. Each commit creates one segment with
//! put-if-absent; segment 0 has only the header. **A new owner seals the journals of former owners first**: a seal is a
//! segment without entries that takes the next number.
//!
//! 1. A writer whose number is taken by another's segment is fenced, and stops. A commit is therefore a single request,
//!    without a check of the lease.
//! 2. A sealer whose number is taken tries the next one. The existing segment was committed, and recovery replays it.
//! 3. A writer checks its lease after it has created segment 0, and records nothing before that. Either the next owner
//!    lists that segment, or the writer sees the lease of the next owner.
//! 4. After a write with an unknown outcome, the segment is read back. Each writer has a token, so equal content is its
//!    own.
//! 5. When segments are deleted, seals of other writers stay for [`SEAL_DAYS`] days, so that a writer that slept meets
//!    them. A writer that has written nothing for the duration of a lease checks its lease first.
//! 6. Before segments of other writers are deleted, a marker ([`REMOVED`]) says that the journal is in the state.
//!    Segments beside the marker are ignored, because a writer without a response may repeat its write after the
//!    deletion.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use plumb_project::StackReference;
use plumb_state::journal::disk::{
    self, CheckpointDigest, Header, Journal, Packer, SegmentRole, Tail,
};
use uuid::Uuid;

use crate::error::{BackendError, BucketError, Fenced, JournalError};
use crate::journal::{Log, cannot_write, new_packer};
use crate::keys;
use crate::lease::Fence;
use crate::store::Store;

/// Suffix of the names of journals.
pub(crate) const JOURNAL: &str = ".journal";
const FOLDED: &str = "folded-";
/// Name of the marker of a removed journal.
const REMOVED: &str = "removed";
/// Number of days for which seals are kept.
pub(crate) const SEAL_DAYS: u64 = 7;
/// Maximum number of attempts for a write with an unknown outcome.
const TRIES: u32 = 12;
/// Time after which no attempt to write begins, for networks that swallow requests: each attempt waits for its answer
/// then. A server that refuses connections uses up the attempts in half a minute.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// Pause before the second attempt.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Maximum pause between attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// Listing of a journal in segments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segments {
    /// Key of the folder.
    pub(crate) journal: String,
    epoch: u64,
    /// Key and time of the last write of each segment, by number.
    numbers: BTreeMap<u64, (String, SystemTime)>,
    /// Digests of the checkpoints that the journal has been folded into.
    pub(crate) folded: Vec<String>,
    /// Whether the journal was removed, so that remaining segments are ignored.
    is_removed: bool,
}

/// Content of a journal in segments.
#[derive(Debug)]
pub(crate) enum Content {
    /// A segment was deleted while the journal was read.
    Moving,
    /// Only seals.
    Seals,
    /// The entries up to the first gap or damage.
    Journal(Journal),
    /// A segment is invalid.
    Unreadable,
}

/// Groups the keys in a listing of a stack's journals.
pub(crate) fn group(entries: impl IntoIterator<Item = crate::Entry>) -> Vec<Segments> {
    let mut found: BTreeMap<String, Segments> = BTreeMap::new();
    for entry in entries {
        let Some((journal, name)) = entry.key.rsplit_once('/') else {
            continue;
        };
        if !journal.ends_with(JOURNAL) {
            continue;
        }
        let segments = found.entry(journal.to_owned()).or_default();
        journal.clone_into(&mut segments.journal);
        if let Some(digest) = name.strip_prefix(FOLDED) {
            segments.folded.push(digest.to_owned());
        } else if name == REMOVED {
            segments.is_removed = true;
        } else if let Some((epoch, number)) = numbers_of(name) {
            segments.epoch = epoch;
            segments
                .numbers
                .insert(number, (entry.key.clone(), entry.modified));
        }
    }
    found.into_values().collect()
}

/// Journals of a stack that are stored in segments.
pub(crate) fn journals(
    store: &Store,
    stack: &StackReference,
) -> Result<Vec<Segments>, BackendError> {
    Ok(group(store.bucket.list(&keys::journals(stack))?))
}

/// Seals all journals of a stack, so that their writers stop.
pub(crate) fn seal_all(store: &Store, stack: &StackReference) -> Result<(), BackendError> {
    for mut segments in journals(store, stack)? {
        segments.seal(store)?;
    }
    Ok(())
}

/// Deletes all journals of a stack except the seals.
pub(crate) fn remove_all(store: &Store, stack: &StackReference) -> Result<(), BackendError> {
    for mut segments in journals(store, stack)? {
        segments.seal(store)?;
        segments.remove(store, Keep::Seal)?;
    }
    Ok(())
}

/// Parts of a journal that a removal keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Nothing, because the writer itself removes the journal.
    Nothing,
    /// The last segment, which is a seal.
    Seal,
}

impl Segments {
    /// Seals the journal by taking the next number, unless the last segment is a seal.
    pub(crate) fn seal(&mut self, store: &Store) -> Result<(), BackendError> {
        if self.is_removed {
            return Ok(());
        }
        let last = self.numbers.last_key_value();
        if let Some((_, (key, _))) = last
            && is_seal(store.stored(key)?.as_deref())
        {
            return Ok(());
        }
        let mut number = last.map_or(0, |(number, _)| number + 1);
        let writer = Uuid::new_v4().to_string();
        loop {
            let header = Header {
                checkpoint: CheckpointDigest::of(b""),
                segment: number,
            };
            let record = disk::segment_record(&header, &writer, SegmentRole::Seal);
            let key = segment_key(&self.journal, self.epoch, number);
            let is_sealed = claim(store, &key, &record)? || is_seal(store.stored(&key)?.as_deref());
            self.numbers.insert(number, (key, SystemTime::now()));
            if is_sealed {
                return Ok(());
            }
            number += 1;
        }
    }

    /// Reads all segments.
    pub(crate) fn read(&self, store: &Store) -> Result<Content, BackendError> {
        if self.is_removed {
            return Ok(Content::Seals);
        }
        let listed: Vec<String> = self.numbers.values().map(|(key, _)| key.clone()).collect();
        let mut parts = Vec::new();
        let Ok(mut reader) = disk::Reader::new() else {
            return Ok(Content::Unreadable);
        };
        for content in store.bucket.get_all(&listed)? {
            let Some(content) = content else {
                return Ok(Content::Moving);
            };
            parts.push(reader.read(&content).ok());
        }
        Ok(joined(
            &self.numbers.keys().copied().collect::<Vec<_>>(),
            parts,
        ))
    }

    /// Deletes the journal.
    pub(crate) fn remove(&self, store: &Store, keep: Keep) -> Result<(), BackendError> {
        let mut doomed: Vec<String> = self.numbers.values().map(|(key, _)| key.clone()).collect();
        let mark = format!("{}/{REMOVED}", self.journal);
        if keep == Keep::Seal {
            doomed.pop();
            store.bucket.put_relaxed(&mark, b"")?;
        }
        store.bucket.delete_all(&doomed)?;
        let folded = self.folded.iter().map(|it| folded_key(&self.journal, it));
        store.bucket.delete_all(&folded.collect::<Vec<_>>())?;
        if keep == Keep::Nothing && self.is_removed {
            store.bucket.delete(&mark)?;
        }
        Ok(())
    }

    /// Deletes seals that are too old to matter.
    pub(crate) fn remove_old_seals(&self, store: &Store) -> Result<(), BackendError> {
        let age = Duration::from_secs(SEAL_DAYS * 24 * 60 * 60);
        let is_old = |written: &SystemTime| written.elapsed().is_ok_and(|passed| passed > age);
        if self.numbers.values().all(|(_, written)| is_old(written)) {
            self.remove(store, Keep::Nothing)?;
        }
        Ok(())
    }

    /// Copies the journal to `aside`, and deletes it except for its seal.
    pub(crate) fn set_aside(&self, store: &Store, aside: &str) -> Result<(), BackendError> {
        for (key, _) in self.numbers.values() {
            store
                .bucket
                .copy(key, &format!("{aside}/{}", keys::file_name(key)))?;
        }
        self.remove(store, Keep::Seal)
    }

    /// Notes that the journal is about to be folded into a checkpoint with this digest.
    pub(crate) fn note_folded(&mut self, store: &Store, digest: &str) -> Result<(), BackendError> {
        note_folded(store, &self.journal, digest)?;
        self.folded.push(digest.to_owned());
        Ok(())
    }
}

/// Notes that a journal is about to be folded into a checkpoint with this digest.
pub(crate) fn note_folded(store: &Store, journal: &str, digest: &str) -> Result<(), BackendError> {
    let key = folded_key(journal, digest);
    Ok(store.bucket.put(&key, digest.as_bytes())?)
}

/// Joins the segments up to the first gap or damage.
fn joined(numbers: &[u64], parts: Vec<Option<Journal>>) -> Content {
    let are_seals = parts
        .iter()
        .all(|part| part.as_ref().is_some_and(|part| part.is_seal));
    if are_seals {
        return Content::Seals;
    }
    let mut whole: Option<Journal> = None;
    for ((expected, number), part) in (0..).zip(numbers).zip(parts) {
        let fits = |part: &Journal| {
            let header = part.header.as_ref();
            expected == *number
                && part.tail == Tail::Clean
                && header.is_some_and(|header| header.segment == expected)
        };
        match (&mut whole, part.filter(fits)) {
            (None, Some(first)) => whole = Some(first),
            (None, None) => return Content::Unreadable,
            (Some(whole), Some(part)) => whole.entries.extend(part.entries),
            (Some(whole), None) => {
                whole.tail = Tail::Damaged;
                break;
            }
        }
    }
    whole.map_or(Content::Unreadable, Content::Journal)
}

fn is_seal(content: Option<&[u8]>) -> bool {
    content.is_some_and(disk::is_seal)
}

/// Whether the object with this key is a marker of a journal.
pub(crate) fn is_marker(key: &str) -> bool {
    let name = keys::file_name(key);
    name == REMOVED || name.starts_with(FOLDED)
}

fn segment_key(journal: &str, epoch: u64, number: u64) -> String {
    format!("{journal}/{epoch}-{number:010}")
}

fn folded_key(journal: &str, digest: &str) -> String {
    format!("{journal}/{FOLDED}{digest}")
}

/// Epoch and number in the name of a segment.
fn numbers_of(name: &str) -> Option<(u64, u64)> {
    let (epoch, number) = name.split_once('-')?;
    Some((epoch.parse().ok()?, number.parse().ok()?))
}

/// Creates an object whose content is unique to this writer; returns whether the existing object has this content.
/// After a write with an unknown outcome, the object is read back.
pub(crate) fn claim(store: &Store, key: &str, content: &[u8]) -> Result<bool, BucketError> {
    let bucket = store.bucket.as_ref();
    let began = Instant::now();
    let mut wait = FIRST_WAIT;
    for left in (0..TRIES).rev() {
        let may_retry =
            |error: &BucketError| error.is_transient() && left > 0 && began.elapsed() < PATIENCE;
        let failed = match store.put_if_absent(key, content) {
            Ok(true) => return Ok(true),
            // The client may have repeated a request that had its effect.
            Ok(false) => None,
            Err(error) if may_retry(&error) => Some(error),
            Err(error) => return Err(error),
        };
        if let Some(error) = failed {
            tracing::warn!(%key, error = %error.chain(), "the outcome of a write is not known, looking");
            bucket.pause(wait);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        match bucket.get(key) {
            Ok(Some(found)) => return Ok(found == content),
            // Nothing was written, or two writers conflicted.
            Ok(None) => {}
            Err(error) if may_retry(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// A log whose commits are segments.
pub(crate) struct SegmentLog {
    store: Arc<Store>,
    fence: Fence,
    own: Segments,
    header: Header,
    packer: Packer,
    writer: String,
    /// Last time when the stack was known to be owned.
    owned: SystemTime,
}

impl SegmentLog {
    pub(crate) fn new(
        store: &Arc<Store>,
        journal: &str,
        checkpoint: CheckpointDigest,
        fence: Fence,
    ) -> Result<Self, JournalError> {
        Ok(SegmentLog {
            store: store.clone(),
            own: Segments {
                journal: journal.to_owned(),
                epoch: fence.epoch(),
                ..Segments::default()
            },
            fence,
            header: Header {
                checkpoint,
                segment: 0,
            },
            packer: new_packer()?,
            writer: Uuid::new_v4().to_string(),
            owned: SystemTime::now(),
        })
    }

    fn put(&mut self, role: SegmentRole, entries: &[u8]) -> Result<(), JournalError> {
        let idle = self.owned.elapsed().unwrap_or(Duration::MAX);
        if idle > self.store.options.lease_time {
            self.fence.check()?;
        }
        let number = self.header.segment;
        let key = segment_key(&self.own.journal, self.own.epoch, number);
        let mut content = disk::segment_record(&self.header, &self.writer, role);
        content.extend(entries);
        let written = claim(&self.store, &key, &content);
        let is_own = written.map_err(|error| JournalError::Io {
            message: error.chain(),
        })?;
        if !is_own {
            return Err(JournalError::Fenced(Fenced {
                reason: format!("its journal was ended at segment {number}"),
            }));
        }
        self.owned = SystemTime::now();
        self.header.segment += 1;
        Ok(())
    }
}

impl Log for SegmentLog {
    /// Creates segment 0, then checks the lease.
    fn begin(&mut self) -> Result<(), JournalError> {
        self.put(SegmentRole::Entries, b"")?;
        Ok(self.fence.check()?)
    }

    fn commit(&mut self, batch: &[u8]) -> Result<(), JournalError> {
        let packed = self.packer.pack(batch).map_err(cannot_write)?;
        self.put(SegmentRole::Entries, &packed)
    }

    /// Writes the own seal before the checkpoint is replaced. A new owner would have sealed the journal already.
    fn end(&mut self) -> Result<(), JournalError> {
        self.put(SegmentRole::Seal, b"")
    }
}
