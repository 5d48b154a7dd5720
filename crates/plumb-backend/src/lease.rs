//! Leases: who may write to a stack right now.
//!
//! A lease is a file `<epoch>.json` in the stack's lease folder. A new owner takes the next epoch with
//! put-if-absent, so two cannot have the same one. **The highest epoch owns the stack.** The owner renews its file in
//! the background, and looks for a higher epoch before each write; it never writes to another epoch's file, so a late
//! renewal disturbs nobody. The newest file always stays, which keeps epochs growing.
//!
//! In stores without files a lease can end by time, and then the next run takes the stack over. All times that are compared
//! are those at which the store says that objects were written: a lease has ended when the lock of the run that looks was
//! written later than the lease file, by more than the lease's duration. Clocks of machines play no part.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use plumb_project::StackReference;
use serde::{Deserialize, Serialize};

use crate::error::{BackendError, BucketError, Fenced};
use crate::keys;
use crate::segments;
use crate::store::{Owner, Store, json_bytes};

/// The content of a lease file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseContent {
    /// Number of the lease; higher ones take over.
    pub epoch: u64,
    /// Tells this lease from every other.
    pub token: String,
    /// Owner of the lease.
    pub owner: Owner,
    /// Until when it holds unless it is renewed, by the clock of its owner.
    pub expires: Timestamp,
    /// Milliseconds for which it holds after it was written, unless it is renewed.
    #[serde(default)]
    pub lasts_ms: u64,
}

/// Checks whether a lease still holds. Cheap: one listing of a folder with one or two files.
#[derive(Clone)]
pub(crate) struct Fence {
    store: Arc<Store>,
    folder: String,
    epoch: u64,
    token: String,
}

impl Fence {
    /// Number of the lease.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Fails when another lease took over.
    pub(crate) fn check(&self) -> Result<(), Fenced> {
        let newest = newest_epoch(&self.store, &self.folder).map_err(|error| Fenced {
            reason: format!("its lease could not be checked: {error}"),
        })?;
        match newest {
            Some(newest) if newest == self.epoch => self.check_token(),
            Some(newest) => Err(Fenced {
                reason: format!("lease {newest} came after lease {}", self.epoch),
            }),
            None => Err(Fenced {
                reason: "its lease was removed".to_owned(),
            }),
        }
    }

    /// The same epoch may come again when a stack is removed and made anew.
    fn check_token(&self) -> Result<(), Fenced> {
        let content = self
            .store
            .bucket
            .get(&lease_key(&self.folder, self.epoch))
            .ok()
            .flatten();
        let lease: Option<LeaseContent> =
            content.and_then(|content| serde_json::from_slice(&content).ok());
        match lease {
            Some(lease) if lease.token == self.token => Ok(()),
            _ => Err(Fenced {
                reason: "its lease is gone".to_owned(),
            }),
        }
    }
}

/// The own lease, renewed until it is dropped.
pub(crate) struct Lease {
    fence: Fence,
    content: LeaseContent,
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Lease {
    /// Takes the next epoch. `token` is the one that the own lock names.
    pub(crate) fn take(
        store: &Arc<Store>,
        stack: &StackReference,
        token: &str,
    ) -> Result<Self, BackendError> {
        let content = claim(store, stack, token)?;
        let fence = Fence {
            store: store.clone(),
            folder: keys::leases(stack),
            epoch: content.epoch,
            token: content.token.clone(),
        };
        let (stop, stopped) = mpsc::channel();
        let beat = store.options.lease_time / 3;
        let (renewed, lease) = (fence.clone(), content.clone());
        let thread = thread::Builder::new()
            .name("lease".to_owned())
            .spawn(move || {
                while stopped.recv_timeout(beat) == Err(RecvTimeoutError::Timeout) {
                    if renewed.check().is_err() {
                        return;
                    }
                    if let Err(error) = renew(&renewed, &lease) {
                        tracing::warn!(%error, "could not renew the lease");
                    }
                }
            })
            .map_err(|source| BucketError::Io {
                action: "start the renewal of",
                path: keys::leases(stack).into(),
                source,
            })?;
        Ok(Lease {
            fence,
            content,
            heartbeat: Some((stop, thread)),
        })
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence.clone()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.heartbeat.take() {
            drop(stop);
            let _ = thread.join();
        }
        if self.fence.check().is_ok() {
            let ended = LeaseContent {
                expires: Timestamp::now(),
                lasts_ms: 0,
                ..self.content.clone()
            };
            let key = lease_key(&self.fence.folder, self.fence.epoch);
            if let Err(error) = self
                .fence
                .store
                .bucket
                .put_relaxed(&key, &json_bytes(&ended))
            {
                tracing::warn!(%error, "could not end the lease");
            }
        }
    }
}

/// Whether the lease that a lock names has ended at `now`, by the clock of the store. The owner of a lock that has no lease
/// is given as much time to take one.
pub(crate) fn has_ended(
    store: &Store,
    stack: &StackReference,
    token: &str,
    lock_written: SystemTime,
    now: SystemTime,
) -> Result<bool, BackendError> {
    let passed = |since: SystemTime| now.duration_since(since).unwrap_or_default();
    let listed = store.bucket.list_direct(&keys::leases(stack))?;
    let newest = listed
        .into_iter()
        .filter_map(|entry| Some((epoch_of(&entry.key)?, entry)))
        .max_by_key(|(epoch, _)| *epoch);
    if let Some((_, entry)) = newest
        && let Some(content) = store.bucket.get(&entry.key)?
        && let Ok(lease) = serde_json::from_slice::<LeaseContent>(&content)
        && lease.token == token
    {
        return Ok(passed(entry.modified) >= Duration::from_millis(lease.lasts_ms));
    }
    Ok(passed(lock_written) > lease_time(store))
}

fn claim(store: &Store, stack: &StackReference, token: &str) -> Result<LeaseContent, BackendError> {
    let folder = keys::leases(stack);
    loop {
        let epoch = newest_epoch(store, &folder)?.unwrap_or(0) + 1;
        let lasts = lease_time(store);
        let content = LeaseContent {
            epoch,
            token: token.to_owned(),
            owner: store.owner.clone(),
            expires: Timestamp::now() + lasts,
            lasts_ms: millis(lasts),
        };
        let key = lease_key(&folder, epoch);
        if !segments::claim(store.bucket.as_ref(), &key, &json_bytes(&content))? {
            continue;
        }
        for entry in store.bucket.list_direct(&folder)? {
            if epoch_of(&entry.key).is_some_and(|older| older < epoch) {
                store.bucket.delete(&entry.key)?;
            }
        }
        return Ok(content);
    }
}

fn renew(fence: &Fence, lease: &LeaseContent) -> Result<(), BucketError> {
    let renewed = LeaseContent {
        expires: Timestamp::now() + lease_time(&fence.store),
        ..lease.clone()
    };
    fence.store.bucket.put_relaxed(
        &lease_key(&fence.folder, lease.epoch),
        &json_bytes(&renewed),
    )
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn lease_time(store: &Store) -> Duration {
    store.options.lease_time
}

fn newest_epoch(store: &Store, folder: &str) -> Result<Option<u64>, BucketError> {
    Ok(store
        .bucket
        .list_direct(folder)?
        .iter()
        .filter_map(|entry| epoch_of(&entry.key))
        .max())
}

fn epoch_of(key: &str) -> Option<u64> {
    keys::file_name(key).strip_suffix(".json")?.parse().ok()
}

fn lease_key(folder: &str, epoch: u64) -> String {
    format!("{folder}/{epoch}.json")
}
