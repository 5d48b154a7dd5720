//! Locks in upstream's format (`state.md` 3.5), which keep other programs and machines away.
//!
//! 1. Every other lock of the stack is looked at. One whose process is known to have ended ([`ProcessIdentity`]) is taken
//!    away.
//! 2. The own lock is written.
//! 3. The others are looked at again: of two who come at the same time, both may lose, never both win.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use plumb_project::StackReference;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::BackendError;
use crate::keys;
use crate::process::ProcessIdentity;
use crate::store::{Owner, Store, json_bytes};

/// The content of a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockContent {
    /// Whose it is.
    #[serde(flatten)]
    pub owner: Owner,
    /// When it was made.
    pub timestamp: String,
    /// Which process that is, in words that cannot mean another one. Locks of other programs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
}

/// A lock that somebody holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLock {
    /// Its key.
    pub key: String,
    /// Its address, for people.
    pub address: String,
    /// What it says; `None` if it cannot be read.
    pub content: Option<LockContent>,
}

impl fmt::Display for HeldLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(LockContent {
                owner, timestamp, ..
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
                )
            }
            None => write!(f, "{}: its content cannot be read", self.address),
        }
    }
}

/// The own lock, until [`Lock::release`].
pub(crate) struct Lock {
    store: Arc<Store>,
    key: String,
    released: bool,
}

impl Lock {
    /// Takes the lock of `stack`; the locks of dead processes that were taken away are returned with it.
    pub(crate) fn take(
        store: &Arc<Store>,
        stack: &StackReference,
    ) -> Result<(Self, Vec<HeldLock>), BackendError> {
        let process = ProcessIdentity::own();
        let mut taken_over = Vec::new();
        let mut held = Vec::new();
        for lock in locks_of(store, stack)? {
            let content = lock.content.as_ref();
            let other = content.and_then(|content| content.process.as_ref());
            let is_dead = process
                .as_ref()
                .zip(other)
                .is_some_and(|(own, other)| own.knows_dead(other));
            if is_dead {
                taken_over.push(lock);
            } else {
                held.push(lock);
            }
        }
        if !held.is_empty() {
            return Err(BackendError::Locked { locks: held });
        }
        for lock in &taken_over {
            store.bucket.delete(&lock.key)?;
        }
        let key = format!("{}/{}.json", keys::locks(stack), Uuid::new_v4());
        let content = LockContent {
            owner: store.owner.clone(),
            timestamp: Timestamp::now().to_string(),
            process,
        };
        store.bucket.put_relaxed(&key, &json_bytes(&content))?;
        let own = Lock {
            store: store.clone(),
            key,
            released: false,
        };
        let others: Vec<HeldLock> = locks_of(store, stack)?
            .into_iter()
            .filter(|lock| lock.key != own.key)
            .collect();
        if others.is_empty() {
            return Ok((own, taken_over));
        }
        own.release()?;
        Err(BackendError::Locked { locks: others })
    }

    /// Gives the lock back.
    pub(crate) fn release(mut self) -> Result<(), BackendError> {
        self.released = true;
        self.store.bucket.delete(&self.key)?;
        Ok(())
    }

    /// Leaves the lock where it is, for the next run to find.
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

/// The locks of `stack`.
pub(crate) fn locks_of(
    store: &Store,
    stack: &StackReference,
) -> Result<Vec<HeldLock>, BackendError> {
    let mut locks = Vec::new();
    for entry in store.bucket.list_direct(&keys::locks(stack))? {
        // One that is gone in the meantime holds nobody up.
        let Some(content) = store.bucket.get(&entry.key)? else {
            continue;
        };
        let address = store.bucket.address(&entry.key);
        locks.push(HeldLock {
            key: entry.key,
            address,
            content: serde_json::from_slice(&content).ok(),
        });
    }
    Ok(locks)
}
