//! Locks in upstream's format (`state.md` 3.5), which exclude other programs and machines.
//!
//! 1. The run checks every other lock of the stack. Locks of processes known to have ended ([`ProcessIdentity`]) are
//!    stale. In stores without files, so are locks whose lease was not renewed in time.
//! 2. The own lock is written. Where leases expire, the store's time of that write is the current time for step 1.
//! 3. The other locks are checked again: if two runs start at the same time, both may fail, but never both succeed.
//! 4. The run takes the lease, folds the journals of former owners into the state, and only then removes their locks
//!    ([`Lock::remove`]). Until then these locks exclude the official program, which knows only locks, and would start
//!    with an old state if this run failed here.
//!
//! A lock set by hand ([`ByHand`]) has neither a process nor a lease, so it stays until it is removed by hand.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use plumb_project::StackReference;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{BackendError, Fenced};
use crate::keys;
use crate::lease;
use crate::process::ProcessIdentity;
use crate::store::{Owner, Store, json_bytes};

/// Content of a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockContent {
    /// Owner of the lock.
    #[serde(flatten)]
    pub owner: Owner,
    /// Time of creation.
    pub timestamp: String,
    /// Unique identity of the process; `None` in locks of other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// Token of the lease that the owner takes after the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// Set for a lock set by hand, which belongs to no update.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "byHand")]
    pub by_hand: Option<ByHand>,
}

/// Mark of a lock that a user has set to keep a stack unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByHand {
    /// Reason to show to other users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A lock in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLock {
    /// Key of the lock.
    pub key: String,
    /// Address of the lock, for display.
    pub address: String,
    /// Content; `None` if it cannot be read.
    pub content: Option<LockContent>,
    /// Time of the last write, by the clock of the store.
    pub written: SystemTime,
}

/// A stale lock, whose owner has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TakenOver {
    /// The process is known to have ended.
    Dead(HeldLock),
    /// The lease was not renewed.
    Expired(HeldLock),
}

impl TakenOver {
    pub(crate) fn lock(&self) -> &HeldLock {
        match self {
            TakenOver::Dead(lock) | TakenOver::Expired(lock) => lock,
        }
    }
}

impl fmt::Display for HeldLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(LockContent {
                owner,
                timestamp,
                by_hand,
                ..
            }) => {
                let Owner {
                    pid,
                    username,
                    hostname,
                } = owner;
                write!(
                    f,
                    "{}: created by {username}@{hostname} (pid {pid}) at {timestamp}",
                    self.address
                )?;
                let Some(ByHand { reason }) = by_hand else {
                    return Ok(());
                };
                f.write_str(", by `plumb stack lock`")?;
                match reason {
                    Some(reason) => write!(f, ": {reason}"),
                    None => Ok(()),
                }
            }
            None => write!(f, "{}: its content cannot be read", self.address),
        }
    }
}

/// The own lock before the check for others that were written at the same time.
pub(crate) struct Proposed {
    own: Lock,
    taken_over: Vec<TakenOver>,
}

impl Proposed {
    /// Fails if there is a lock that was not there before. Also returns the stale locks of former owners, which the
    /// caller must remove.
    pub(crate) fn confirm(
        self,
        stack: &StackReference,
    ) -> Result<(Lock, Vec<TakenOver>), BackendError> {
        let Proposed { own, taken_over } = self;
        let is_known =
            |key: &str| key == own.key || taken_over.iter().any(|former| former.lock().key == key);
        let others = locks_except(&own.store, stack, is_known)?;
        if others.is_empty() {
            return Ok((own, taken_over));
        }
        own.release()?;
        Err(BackendError::Locked { locks: others })
    }
}

/// The own lock, held until [`Lock::release`].
pub(crate) struct Lock {
    store: Arc<Store>,
    key: String,
    released: bool,
}

impl Lock {
    /// Takes the lock of `stack`. Also returns the stale locks of former owners, which the caller must remove.
    pub(crate) fn take(
        store: &Arc<Store>,
        stack: &StackReference,
    ) -> Result<(Self, Vec<TakenOver>), BackendError> {
        let present = locks_of(store, stack)?;
        Lock::propose(store, stack, present, None)?.confirm(stack)
    }

    /// Writes the own lock unless one of those that are `present` excludes it. `lease` is the token of the lease that
    /// the caller takes after [`Proposed::confirm`].
    pub(crate) fn propose(
        store: &Arc<Store>,
        stack: &StackReference,
        present: Vec<HeldLock>,
        lease: Option<&str>,
    ) -> Result<Proposed, BackendError> {
        let process = ProcessIdentity::own();
        let (dead, held): (Vec<HeldLock>, Vec<HeldLock>) = present
            .into_iter()
            .partition(|lock| is_dead(process.as_ref(), lock));
        let ends_by_time = |lock: &HeldLock| lock.lease().is_some();
        // A run that gives no sign of life could still write where only the lock keeps it away.
        let may_take_over = store.bucket.files().is_none() && !store.has_lock_only();
        let is_free = held.is_empty() || may_take_over && held.iter().all(ends_by_time);
        if !is_free {
            return Err(BackendError::Locked { locks: held });
        }
        let mut taken_over: Vec<TakenOver> = dead.into_iter().map(TakenOver::Dead).collect();
        let own = Lock::write(store, stack, process, lease, None)?;
        if !held.is_empty() {
            let now = own.written(stack)?;
            for lock in &held {
                if !lock.has_expired(store, stack, now)? {
                    own.release()?;
                    return Err(BackendError::Locked { locks: held });
                }
            }
            taken_over.extend(held.into_iter().map(TakenOver::Expired));
        }
        Ok(Proposed { own, taken_over })
    }

    /// Removes the locks of former owners.
    pub(crate) fn remove<'l>(
        store: &Store,
        locks: impl IntoIterator<Item = &'l HeldLock>,
    ) -> Result<(), BackendError> {
        for lock in locks {
            store.bucket.delete(&lock.key)?;
        }
        Ok(())
    }

    /// Adds a lock even if the stack is locked already, for a cancellation.
    pub(crate) fn insist(
        store: &Arc<Store>,
        stack: &StackReference,
        lease: &str,
    ) -> Result<Self, BackendError> {
        Lock::write(store, stack, ProcessIdentity::own(), Some(lease), None)
    }

    /// Adds a lock set by hand. The caller owns the stack.
    pub(crate) fn set_by_hand(
        store: &Arc<Store>,
        stack: &StackReference,
        reason: Option<&str>,
    ) -> Result<(), BackendError> {
        let by_hand = ByHand {
            reason: reason.map(str::to_owned),
        };
        Lock::write(store, stack, None, None, Some(by_hand))?.leave();
        Ok(())
    }

    fn write(
        store: &Arc<Store>,
        stack: &StackReference,
        process: Option<ProcessIdentity>,
        lease: Option<&str>,
        by_hand: Option<ByHand>,
    ) -> Result<Self, BackendError> {
        let key = format!("{}/{}.json", keys::locks(stack), Uuid::new_v4());
        let content = LockContent {
            owner: store.owner.clone(),
            timestamp: Timestamp::now().to_string(),
            process,
            lease: lease.map(str::to_owned),
            by_hand,
        };
        store.bucket.put_relaxed(&key, &json_bytes(&content))?;
        Ok(Lock {
            store: store.clone(),
            key,
            released: false,
        })
    }

    /// Time when the own lock was written, by the clock of the store. Fails if another run has removed it.
    fn written(&self, stack: &StackReference) -> Result<SystemTime, BackendError> {
        let listed = self.store.bucket.list_direct(&keys::locks(stack))?;
        let entry = listed.into_iter().find(|entry| entry.key == self.key);
        let lost = || Fenced {
            reason: format!("its lock of {} was removed", stack.qualified()),
        };
        Ok(entry.ok_or_else(lost)?.modified)
    }

    /// Fails if a cancellation has removed the own lock.
    pub(crate) fn check(&self, stack: &StackReference) -> Result<(), BackendError> {
        self.written(stack).map(drop)
    }

    /// Removes the lock.
    pub(crate) fn release(mut self) -> Result<(), BackendError> {
        self.released = true;
        self.store.bucket.delete(&self.key)?;
        Ok(())
    }

    /// Keeps the lock for the next run.
    pub(crate) fn leave(mut self) {
        self.released = true;
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.released
            && let Err(error) = self.store.bucket.delete(&self.key)
        {
            tracing::warn!(key = %self.key, %error, "could not remove the lock");
        }
    }
}

fn is_dead(own: Option<&ProcessIdentity>, lock: &HeldLock) -> bool {
    let content = lock.content.as_ref();
    let other = content.and_then(|content| content.process.as_ref());
    own.zip(other)
        .is_some_and(|(own, other)| own.knows_dead(other))
}

impl HeldLock {
    /// Whether the lock was set by hand.
    pub(crate) fn is_by_hand(&self) -> bool {
        let content = self.content.as_ref();
        content.is_some_and(|content| content.by_hand.is_some())
    }

    /// Whether the process of the lock is known to have ended.
    pub(crate) fn is_dead(&self) -> bool {
        is_dead(ProcessIdentity::own().as_ref(), self)
    }

    /// Token of the owner's lease.
    pub(crate) fn lease(&self) -> Option<&str> {
        self.content.as_ref()?.lease.as_deref()
    }

    /// Whether the lease named in the lock was not renewed in time.
    fn has_expired(
        &self,
        store: &Store,
        stack: &StackReference,
        now: SystemTime,
    ) -> Result<bool, BackendError> {
        match self.lease() {
            Some(token) => lease::has_ended(store, stack, token, self.written, now),
            None => Ok(false),
        }
    }
}

/// Locks of `stack`.
pub(crate) fn locks_of(
    store: &Store,
    stack: &StackReference,
) -> Result<Vec<HeldLock>, BackendError> {
    locks_except(store, stack, |_| false)
}

/// Locks of `stack`, except those whose keys are known.
fn locks_except(
    store: &Store,
    stack: &StackReference,
    is_known: impl Fn(&str) -> bool,
) -> Result<Vec<HeldLock>, BackendError> {
    let mut locks = Vec::new();
    for entry in store.bucket.list_direct(&keys::locks(stack))? {
        if is_known(&entry.key) {
            continue;
        }
        // A lock removed in the meantime is ignored.
        let Some(content) = store.bucket.get(&entry.key)? else {
            continue;
        };
        let address = store.bucket.address(&entry.key);
        locks.push(HeldLock {
            key: entry.key,
            address,
            content: serde_json::from_slice(&content).ok(),
            written: entry.modified,
        });
    }
    Ok(locks)
}
