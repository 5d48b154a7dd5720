//! An operation that changes a stack, from taking the stack to releasing it.
//!
//! Beginning: lock, lease, recovery of leftover journals, journal with its header. End: fold (or the engine's own
//! snapshot), checkpoint, journal deleted, history, backup, lease and lock released. The lease is checked before the
//! checkpoint is replaced. In a store without files, the own journal is sealed before that, and the checkpoint is
//! replaced only if it is still the one that was read at the beginning.
//!
//! Each round trip to a distant store takes its time, so requests that do not depend on each other are
//! [made together](Store::join), and the journal [begins](crate::JournalWriter::begun) while the program starts.

use std::sync::Arc;

use plumb_project::StackReference;
use plumb_state::EncryptedSnapshot;
use plumb_state::file::Checkpoint;
use plumb_state::journal::disk::{CheckpointDigest, Header, header_record};
use plumb_state::journal::{EncryptedEntry, disk};
use uuid::Uuid;

use crate::bucket::io_error;
use crate::capability;
use crate::error::{BackendError, JournalError};
use crate::history::UpdateRecord;
use crate::journal::{FileLog, JournalWriter, Seq};
use crate::lease::{Fence, FormerLeases, Lease};
use crate::lock::{self, HeldLock, Lock, TakenOver};
use crate::recovery::{self, Note};
use crate::rescue::Rescue;
use crate::segments::{self, Keep, SegmentLog};
use crate::state_file::{Former, StateFile};
use crate::store::Store;
use crate::stored::{self, Stored, journals};

/// A stack that was taken for an operation that changes it.
pub struct Update {
    store: Arc<Store>,
    stack: StackReference,
    id: String,
    base: Checkpoint,
    base_digest: CheckpointDigest,
    /// The state file at the beginning.
    former: Former,
    notes: Vec<Note>,
    journal_key: String,
    /// Journal; `None` after it was closed.
    journal: Option<JournalWriter>,
    /// Records that the journal could not write.
    rescue: Rescue,
    // Fields are dropped in this order: first the lease, then the lock.
    lease: Option<Lease>,
    lock: Option<Lock>,
}

/// Errors after the state was saved.
#[derive(Debug, Default)]
pub struct Finished {
    /// The history record could not be written.
    pub history: Option<BackendError>,
    /// The backup could not be written.
    pub backup: Option<BackendError>,
}

/// State file and journal after the state was saved.
struct Saved {
    /// The state file; `None` if the state is unchanged.
    state: Option<StateFile>,
    /// The journal, which is no longer needed.
    journal: Option<Stored>,
}

impl Update {
    pub(crate) fn begin(
        store: &Arc<Store>,
        stack: &StackReference,
        id: &str,
    ) -> Result<Self, BackendError> {
        let ((exists, capable), locks) = store.join(
            || store.join(|| store.expect_stack(stack), || capability::ensure(store)),
            || lock::locks_of(store, stack),
        );
        exists.and(capable)?;
        let token = Uuid::new_v4().to_string();
        let proposed = Lock::propose(store, stack, locks?, Some(&token))?;
        // The leases may be listed before the lock is confirmed: an epoch that is taken since then is not taken twice,
        // and one that is too low is found when the journal is opened.
        let (confirmed, former_leases) = store.join(
            || proposed.confirm(stack),
            || FormerLeases::of(store, stack),
        );
        let (lock, taken_over) = confirmed?;
        let lease = Lease::take(store, stack, &token, former_leases?)?;
        // A cancellation between lock and lease has removed the lock, but could not fence the lease, which did not
        // exist yet.
        let (checked, (leftover, state)) = store.join(
            || lock.check(stack),
            || store.join(|| journals(store, stack), || store.state_to_replace(stack)),
        );
        checked?;
        let leftover = leftover?;
        // Without another owner since the own lock was written, and without a journal, nothing changes the state.
        let is_settled = taken_over.is_empty() && leftover.is_empty();
        let recovered = recovery::recover_listed(store, stack, leftover)?;
        Lock::remove(store, taken_over.iter().map(TakenOver::lock))?;
        let mut notes: Vec<Note> = Note::of_store(store).into_iter().collect();
        notes.extend(taken_over.into_iter().map(Note::from));
        notes.extend(recovered);
        let (state, former) = if is_settled {
            state?
        } else {
            store.state_to_replace(stack)?
        };
        let (base, base_digest) = (state.parse()?, state.digest());
        let journal_key = recovery::journal_key(stack, id);
        let rescue = Rescue::new(store, &journal_key, base_digest)?;
        let journal = open_journal(
            store,
            &journal_key,
            base_digest,
            lease.fence(),
            rescue.clone(),
        )?;
        Ok(Update {
            store: store.clone(),
            stack: stack.clone(),
            id: id.to_owned(),
            base,
            base_digest,
            former,
            notes,
            journal_key,
            journal: Some(journal),
            rescue,
            lease: Some(lease),
            lock: Some(lock),
        })
    }

    /// The stack.
    pub fn stack(&self) -> &StackReference {
        &self.stack
    }

    /// Id of this update.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// State at the beginning, after any recovery.
    pub fn base(&self) -> &Checkpoint {
        &self.base
    }

    /// Findings when the stack was taken, to be shown to the user.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Records entries and returns the number of the last. They are durable when [`Update::wait`] returns for it.
    pub fn record(&self, entries: Vec<EncryptedEntry>) -> Result<Seq, JournalError> {
        let journal = self.journal()?;
        Ok(journal.append_all(entries.len(), move |first| {
            let mut records = Vec::new();
            for (seq, entry) in (first.0..).zip(&entries) {
                records.extend(disk::entry_record(seq, entry));
            }
            records
        }))
    }

    /// Returns when the journal has begun. Until then, another run may have taken the stack over without notice. The
    /// engine does not wait for this, because it changes nothing that is not recorded first. Cancel-safe.
    pub async fn begun(&self) -> Result<(), JournalError> {
        self.journal()?.begun().await
    }

    /// Returns when all records up to `seq` are durable. Cancel-safe.
    pub async fn wait(&self, seq: Seq) -> Result<(), JournalError> {
        self.journal()?.wait(seq).await
    }

    /// Receiver that becomes true when another process requests the end of this update, which should then end as after
    /// the first interrupt.
    pub fn asked_to_end(&self) -> Option<tokio::sync::watch::Receiver<bool>> {
        self.lease.as_ref().map(Lease::asked)
    }

    /// Journal, to watch its progress.
    pub fn journal(&self) -> Result<&JournalWriter, JournalError> {
        self.journal.as_ref().ok_or(JournalError::Closed)
    }

    /// Ends the update: saves the state, writes `record` into the history, and releases the stack.
    ///
    /// Without `snapshot`, the state is the fold of the journal. An invalid snapshot is not written. If the state
    /// cannot be saved, the journal and the lock stay, and the next run recovers.
    pub fn finish(
        mut self,
        snapshot: Option<&EncryptedSnapshot>,
        record: Option<&UpdateRecord>,
    ) -> Result<Finished, BackendError> {
        if let Some(Err(source)) = snapshot.map(|snapshot| snapshot.opaque().verify()) {
            self.leave();
            return Err(BackendError::Invalid {
                stack: self.stack.qualified(),
                source,
            });
        }
        self.complete(snapshot, record)
    }

    fn complete(
        mut self,
        snapshot: Option<&EncryptedSnapshot>,
        record: Option<&UpdateRecord>,
    ) -> Result<Finished, BackendError> {
        let saved = match self.save(snapshot) {
            Ok(saved) => saved,
            Err(source) => return Err(self.abandon(source)),
        };
        let Saved { state, journal } = saved;
        let ((removed, owned), finished) = self.store.join(
            || {
                self.store.join(
                    || self.remove_journal(journal.as_ref()),
                    || self.check_fence(),
                )
            },
            || record.map(|record| self.keep(state, record)),
        );
        if let Err(source) = removed {
            return Err(self.abandon(source));
        }
        let finished = finished.unwrap_or_default();
        self.rescue.remove();
        let (lease, lock) = (self.lease.take(), self.lock.take());
        // Without its lock, the stack is free for the next run whether or not the lease has ended.
        let ((), released) = self.store.join(
            || lease.into_iter().for_each(|it| it.end(owned.is_ok())),
            || lock.map_or(Ok(()), Lock::release),
        );
        released?;
        Ok(finished)
    }

    /// Leaves the stack to the next run, because the state cannot be saved.
    fn abandon(mut self, source: BackendError) -> BackendError {
        self.leave();
        match self.rescue.rescued() {
            Some(rescued) => BackendError::Rescued {
                rescued,
                source: Box::new(source),
            },
            None => source,
        }
    }

    /// Adds the update to the history, and the state to the backups.
    fn keep(&self, saved: Option<StateFile>, record: &UpdateRecord) -> Finished {
        let (store, stack) = (&self.store, &self.stack);
        let state = saved.map_or_else(|| store.state_file(stack), Ok);
        let formed = state.and_then(|state| Ok((store.kept_form(stack, &state)?, state)));
        let (kept, state) = match formed {
            Ok(formed) => formed,
            Err(error) => {
                return Finished {
                    history: Some(error),
                    backup: None,
                };
            }
        };
        let (history, backup) = store.join(
            || store.add_history(stack, &state, &kept, record),
            || store.add_backup(stack, &state, &kept),
        );
        Finished {
            history: history.err(),
            backup: backup.err(),
        }
    }

    /// Replaces the whole state without a journal, as `stack import` and state edits do, and releases the stack.
    /// Callers check the snapshot, because users may insist on an invalid state.
    pub fn replace(self, snapshot: &EncryptedSnapshot) -> Result<(), BackendError> {
        self.complete(Some(snapshot), None).map(|_| ())
    }

    /// Releases the stack with a lock set by hand.
    pub(crate) fn lock_by_hand(self, reason: Option<&str>) -> Result<(), BackendError> {
        // Add this lock before the own one is removed, so that no other run can start in between.
        Lock::set_by_hand(&self.store, &self.stack, reason)?;
        self.complete(None, None).map(|_| ())
    }

    /// Saves the state.
    fn save(&mut self, snapshot: Option<&EncryptedSnapshot>) -> Result<Saved, BackendError> {
        match snapshot {
            Some(snapshot) => self.save_snapshot(snapshot),
            None => self.save_journal(),
        }
    }

    /// Saves the engine's own snapshot, which is complete even if the journal could not be written.
    fn save_snapshot(&mut self, snapshot: &EncryptedSnapshot) -> Result<Saved, BackendError> {
        let text = snapshot.checkpoint(&self.stack.qualified());
        let journal = self.journal.take();
        // A journal without records cannot have been folded into a checkpoint that replaces its base.
        let is_folded = journal.as_ref().is_some_and(JournalWriter::has_records);
        let (store, key) = (&self.store, &self.journal_key);
        let close = || journal.map_or(Ok(Seq(0)), JournalWriter::close);
        let check = || self.check_fence();
        let note = || {
            if is_folded {
                stored::note_folded(store, key, &text)
            } else {
                Ok(())
            }
        };
        let back_up = || store.back_up_former(&self.stack, &self.former);
        let ((closed, owned), (noted, ())) =
            store.join(|| store.join(close, check), || store.join(note, back_up));
        if matches!(closed, Err(JournalError::Fenced(_))) {
            closed?;
        }
        owned.and(noted)?;
        self.replace_state(text)
    }

    /// Saves the fold of the journal.
    fn save_journal(&mut self) -> Result<Saved, BackendError> {
        self.journal
            .take()
            .map_or(Ok(Seq(0)), JournalWriter::close)?;
        let (owned, journal) = self.store.join(
            || self.check_fence(),
            || Stored::find(&self.store, &self.stack, &self.journal_key),
        );
        owned?;
        let mut journal = journal?;
        let folded = match &journal {
            Some(stored) => self.folded(stored)?,
            None => None,
        };
        let (Some(snapshot), Some(stored)) = (folded, journal.as_mut()) else {
            return Ok(Saved {
                state: None,
                journal,
            });
        };
        self.store.back_up_former(&self.stack, &self.former);
        let text = snapshot.checkpoint(&self.stack.qualified());
        let (noted, owned) = self.store.join(
            || stored.note_folded(&self.store, &text),
            || self.check_fence(),
        );
        noted.and(owned)?;
        self.replace_state(text)
    }

    /// Replaces the state file. The journal is closed, and the former state file is backed up.
    fn replace_state(&self, text: String) -> Result<Saved, BackendError> {
        let (store, stack) = (&self.store, &self.stack);
        let state = store.new_state(stack, text);
        let (replaced, journal) = store.join(
            || store.replace_state(stack, &state, &self.former),
            || Stored::find(store, stack, &self.journal_key),
        );
        replaced?;
        Ok(Saved {
            state: Some(state),
            journal: journal?,
        })
    }

    fn remove_journal(&self, journal: Option<&Stored>) -> Result<(), BackendError> {
        match journal {
            Some(journal) => journal.remove(&self.store, Keep::Nothing),
            None => Ok(()),
        }
    }

    /// Base with the journal folded in; `None` if nothing was recorded.
    fn folded(&self, stored: &Stored) -> Result<Option<EncryptedSnapshot>, BackendError> {
        let Some(journal) = stored.journal(&self.store)? else {
            return Ok(None);
        };
        if journal.entries.is_empty() {
            return Ok(None);
        }
        let base = self.base.clone();
        recovery::fold(&self.store, &self.stack, &self.journal_key, base, journal).map(Some)
    }

    fn check_fence(&self) -> Result<(), BackendError> {
        match &self.lease {
            Some(lease) => Ok(lease.fence().check()?),
            None => Ok(()),
        }
    }

    /// Releases the stack without changes to its files.
    fn leave(&mut self) {
        drop(self.journal.take());
        self.lease = None;
        if let Some(lock) = self.lock.take() {
            lock.leave();
        }
    }

    /// Digest of the checkpoint that the journal builds on.
    pub fn base_digest(&self) -> CheckpointDigest {
        self.base_digest
    }
}

impl Drop for Update {
    /// Keeps the journal and its records if the update is dropped without [`Update::finish`].
    fn drop(&mut self) {
        if self.lock.is_none() {
            return;
        }
        let saved = self.save(None);
        let removed = saved.and_then(|saved| self.remove_journal(saved.journal.as_ref()));
        if let Err(error) = removed {
            tracing::error!(%error, "the state was not saved; the next run recovers it from the journal");
            self.leave();
        }
    }
}

/// Takes a stack from the owners of `locks`, and folds their journals into the state.
///
/// 1. The own lock excludes other runs until the state is complete.
/// 2. The lease and the seals fence the former owners.
/// 3. The journals are folded. If the store fails here, the former locks stay, so that no program starts with an old
///    state.
/// 4. The former locks are removed, even if a journal cannot be read: the next run reports that journal.
pub(crate) fn take_from(
    store: &Arc<Store>,
    stack: &StackReference,
    locks: &[HeldLock],
) -> Result<Vec<Note>, BackendError> {
    capability::ensure(store)?;
    let token = Uuid::new_v4().to_string();
    let lock = Lock::insist(store, stack, &token)?;
    let lease = Lease::take(store, stack, &token, FormerLeases::of(store, stack)?)?;
    segments::seal_all(store, stack)?;
    let notes = match recovery::recover(store, stack) {
        Err(error @ (BackendError::Bucket(_) | BackendError::Fenced(_))) => return Err(error),
        Err(error) => {
            tracing::warn!(%error, "a journal of the cancelled run cannot be used");
            Vec::new()
        }
        Ok(notes) => notes,
    };
    Lock::remove(store, locks)?;
    drop(lease);
    lock.release()?;
    Ok(notes)
}

fn open_journal(
    store: &Arc<Store>,
    key: &str,
    checkpoint: CheckpointDigest,
    fence: Fence,
    rescue: Rescue,
) -> Result<JournalWriter, BackendError> {
    let Some(files) = store.bucket.files() else {
        let log = SegmentLog::new(store, key, checkpoint, fence)?;
        return Ok(JournalWriter::start(Box::new(log), rescue)?);
    };
    let mut file = files.create_journal(key)?;
    let header = header_record(&Header {
        checkpoint,
        segment: 0,
    });
    // The first commit of a record also makes the header durable.
    file.append(&header).map_err(io_error("write", key))?;
    let log = FileLog::new(file, Box::new(move || fence.check()))?;
    Ok(JournalWriter::start(Box::new(log), rescue)?)
}
