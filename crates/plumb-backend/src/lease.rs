//! Leases: the right to write to a stack.
//!
//! A lease is a file `<epoch>.json` in the stack's lease folder. A new owner creates the file of the next epoch with
//! put-if-absent, so no two owners have the same epoch. **The highest epoch owns the stack.** The owner renews its file
//! in the background, and checks for a higher epoch before each write. It never writes to the file of another epoch, so
//! a late renewal has no effect on the next owner. An owner deletes older files at the end. The newest file is never
//! deleted, which keeps epochs growing.
//!
//! To end the update of an owner, another process writes a request beside the lease (`<epoch>.cancel`). The owner sees
//! it when it renews its lease, in folders within a second, and acknowledges it in the lease ([`CancelRequest`]).
//!
//! In stores without files a lease can expire, and the next run then takes the stack over. Only times at which the
//! store says that objects were written are compared: a lease has expired if the lock of the run that checks was
//! written later than the lease file by more than the lease's duration. Clocks of machines are not used.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use plumb_project::StackReference;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::error::{BackendError, BucketError, Fenced};
use crate::keys;
use crate::segments;
use crate::store::{Owner, Store, json_bytes};

/// Content of a lease file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseContent {
    /// Epoch of the lease; the highest one owns the stack.
    pub epoch: u64,
    /// Unique identifier of the lease.
    pub token: String,
    /// Owner of the lease.
    pub owner: Owner,
    /// Time at which the lease expires unless it is renewed, by the clock of its owner.
    pub expires: Timestamp,
    /// Duration after a write in milliseconds, unless it is renewed.
    #[serde(default)]
    pub lasts_ms: u64,
    /// Whether the owner checks for requests to end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_be_asked: bool,
    /// Whether the owner has seen such a request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ending: bool,
}

/// Checks whether a lease is still the newest. Cheap: lists a folder with one or two files.
#[derive(Clone)]
pub(crate) struct Fence {
    store: Arc<Store>,
    folder: String,
    epoch: u64,
    token: String,
}

impl Fence {
    /// Epoch of the lease.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Fails if another lease has taken over.
    pub(crate) fn check(&self) -> Result<(), Fenced> {
        let (is_own, newest) = self.store.join(
            || self.check_token(),
            || newest_epoch(&self.store, &self.folder),
        );
        let newest = newest.map_err(|error| Fenced {
            reason: format!("its lease could not be checked: {error}"),
        })?;
        match newest {
            Some(newest) if newest == self.epoch => is_own,
            Some(newest) => Err(Fenced {
                reason: format!("lease {newest} came after lease {}", self.epoch),
            }),
            None => Err(Fenced {
                reason: "its lease was removed".to_owned(),
            }),
        }
    }

    /// Compares the token too, because a stack that is removed and created again starts with the same epochs.
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

/// The own lease, which is renewed until it is dropped.
pub(crate) struct Lease {
    fence: Fence,
    content: LeaseContent,
    /// Keys of older leases and of requests to their owners, which are deleted at the end.
    outdated: Vec<String>,
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
    asked: watch::Receiver<bool>,
}

impl Lease {
    /// Takes the epoch after `former`. `token` is the one in the own lock.
    pub(crate) fn take(
        store: &Arc<Store>,
        stack: &StackReference,
        token: &str,
        former: FormerLeases,
    ) -> Result<Self, BackendError> {
        let (content, former) = claim(store, stack, token, former)?;
        let fence = Fence {
            store: store.clone(),
            folder: keys::leases(stack),
            epoch: content.epoch,
            token: content.token.clone(),
        };
        let (stop, stopped) = mpsc::channel();
        let (ask, asked) = watch::channel(false);
        let mut heart = Heart {
            fence: fence.clone(),
            lease: content.clone(),
            ask,
        };
        let thread = thread::Builder::new()
            .name("lease".to_owned())
            .spawn(move || heart.beat_until(&stopped))
            .map_err(|source| BucketError::Io {
                action: "start the renewal of",
                path: keys::leases(stack).into(),
                source,
            })?;
        Ok(Lease {
            fence,
            content,
            outdated: former.keys,
            heartbeat: Some((stop, thread)),
            asked,
        })
    }

    /// Receiver that becomes true when the owner is requested to end.
    pub(crate) fn asked(&self) -> watch::Receiver<bool> {
        self.asked.clone()
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence.clone()
    }
}

impl Lease {
    /// Ends the lease. `is_own`: whether the caller has found that no other lease has taken over.
    pub(crate) fn end(mut self, is_own: bool) {
        self.stop();
        if is_own {
            self.mark_ended();
        }
    }

    /// Stops the renewal; returns whether it was not stopped before.
    fn stop(&mut self) -> bool {
        let Some((stop, thread)) = self.heartbeat.take() else {
            return false;
        };
        drop(stop);
        let _ = thread.join();
        true
    }

    /// Writes that the lease has ended, and deletes older ones.
    fn mark_ended(&self) {
        let ended = LeaseContent {
            expires: Timestamp::now(),
            lasts_ms: 0,
            ..self.content.clone()
        };
        let key = lease_key(&self.fence.folder, self.fence.epoch);
        let store = &self.fence.store;
        let (ended, deleted) = store.join(
            || store.bucket.put_relaxed(&key, &json_bytes(&ended)),
            || store.bucket.delete_all(&self.outdated),
        );
        if let Err(error) = ended.and(deleted) {
            tracing::warn!(%error, "could not end the lease");
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.stop() && self.fence.check().is_ok() {
            self.mark_ended();
        }
    }
}

/// Interval between checks for a request to end in a folder.
const LOOK: Duration = Duration::from_secs(1);

/// Background work of a lease.
struct Heart {
    fence: Fence,
    lease: LeaseContent,
    ask: watch::Sender<bool>,
}

impl Heart {
    fn beat_until(&mut self, stopped: &Receiver<()>) {
        let store = self.fence.store.clone();
        let beat = lease_time(&store) / 3;
        let pause = match store.bucket.files() {
            Some(_) => beat.min(LOOK),
            None => beat,
        };
        let mut renewed = Instant::now();
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let is_news = self.look();
            if !is_news && renewed.elapsed() + pause / 2 < beat {
                continue;
            }
            if self.fence.check().is_err() {
                return;
            }
            if let Err(error) = renew(&self.fence, &self.lease) {
                tracing::warn!(%error, "could not renew the lease");
            }
            renewed = Instant::now();
        }
    }

    /// Checks for a request to end; returns whether there is a new one.
    fn look(&mut self) -> bool {
        let key = request_key(&self.fence.folder, self.fence.epoch);
        if self.lease.is_ending || !matches!(self.fence.store.bucket.get(&key), Ok(Some(_))) {
            return false;
        }
        self.lease.is_ending = true;
        self.ask.send_replace(true);
        true
    }
}

/// A request to the owner of a lease to end.
#[derive(Debug)]
pub struct CancelRequest {
    folder: String,
    epoch: u64,
    token: String,
    lasts: Duration,
    /// Time of the owner's last renewal, and when it was noticed.
    renewed: SystemTime,
    noticed: Instant,
    /// Key of its lock, and when its lease was found to have ended.
    lock: String,
    ended: Option<Instant>,
}

/// Time limit for an owner to remove its lock after it has ended its lease.
const LAST_STEP: Duration = Duration::from_secs(10);

/// Progress of a request to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelProgress {
    /// The owner has not seen the request yet.
    Unseen,
    /// The owner is finishing the operations in progress.
    Ending,
    /// The owner has released the stack.
    Ended,
    /// The owner no longer renews its lease.
    Silent,
}

impl CancelRequest {
    /// Sends a request to the owner of the lease with this token, whose lock has this key. `None` if the lease no
    /// longer exists, or its owner does not accept requests.
    pub(crate) fn send(
        store: &Store,
        stack: &StackReference,
        token: &str,
        lock: &str,
    ) -> Result<Option<Self>, BackendError> {
        let folder = keys::leases(stack);
        let Some((lease, renewed)) = newest(store, &folder)? else {
            return Ok(None);
        };
        if lease.token != token || !lease.can_be_asked || lease.lasts_ms == 0 {
            return Ok(None);
        }
        let key = request_key(&folder, lease.epoch);
        store.bucket.put_relaxed(&key, &json_bytes(&store.owner))?;
        let now = store.bucket.find(&key)?.map(|entry| entry.modified);
        let lasts = Duration::from_millis(lease.lasts_ms);
        let idle = now.and_then(|now| now.duration_since(renewed).ok());
        if idle.is_some_and(|idle| idle > lasts) {
            return Ok(None);
        }
        Ok(Some(CancelRequest {
            folder,
            epoch: lease.epoch,
            token: token.to_owned(),
            lasts,
            renewed,
            noticed: Instant::now(),
            lock: lock.to_owned(),
            ended: None,
        }))
    }

    /// Progress of the request.
    pub(crate) fn progress(&mut self, store: &Store) -> Result<CancelProgress, BackendError> {
        let own = newest(store, &self.folder)?.filter(|(lease, _)| {
            lease.epoch == self.epoch && lease.token == self.token && lease.lasts_ms > 0
        });
        let Some((lease, renewed)) = own else {
            return self.last_step(store);
        };
        if renewed != self.renewed {
            (self.renewed, self.noticed) = (renewed, Instant::now());
        }
        Ok(if self.noticed.elapsed() > self.lasts {
            CancelProgress::Silent
        } else if lease.is_ending {
            CancelProgress::Ending
        } else {
            CancelProgress::Unseen
        })
    }
}

impl CancelRequest {
    /// Progress after the end of the lease. The lock is removed next, unless the owner could not save the state.
    fn last_step(&mut self, store: &Store) -> Result<CancelProgress, BackendError> {
        if store.bucket.find(&self.lock)?.is_none() {
            return Ok(CancelProgress::Ended);
        }
        let ended = *self.ended.get_or_insert_with(Instant::now);
        Ok(if ended.elapsed() > LAST_STEP {
            CancelProgress::Silent
        } else {
            CancelProgress::Ending
        })
    }
}

/// The newest lease in a folder, and the time when it was written.
fn newest(store: &Store, folder: &str) -> Result<Option<(LeaseContent, SystemTime)>, BackendError> {
    let listed = store.bucket.list_direct(folder)?;
    let newest = listed
        .into_iter()
        .filter_map(|entry| Some((epoch_of(&entry.key)?, entry)))
        .max_by_key(|(epoch, _)| *epoch);
    let Some((_, entry)) = newest else {
        return Ok(None);
    };
    let content = store.bucket.get(&entry.key)?;
    let lease = content.and_then(|content| serde_json::from_slice(&content).ok());
    Ok(lease.map(|lease| (lease, entry.modified)))
}

/// Whether the lease named in a lock has expired at `now`, by the clock of the store. The owner of a lock without a
/// lease has the same time to take one.
pub(crate) fn has_ended(
    store: &Store,
    stack: &StackReference,
    token: &str,
    lock_written: SystemTime,
    now: SystemTime,
) -> Result<bool, BackendError> {
    let passed = |since: SystemTime| now.duration_since(since).unwrap_or_default();
    if let Some((lease, renewed)) = newest(store, &keys::leases(stack))?
        && lease.token == token
    {
        return Ok(passed(renewed) >= Duration::from_millis(lease.lasts_ms));
    }
    Ok(passed(lock_written) > lease_time(store))
}

/// Leases that there were before the own one.
#[derive(Debug)]
pub(crate) struct FormerLeases {
    /// The newest; 0 if there is none.
    epoch: u64,
    /// Keys of all, and of requests to their owners.
    keys: Vec<String>,
}

impl FormerLeases {
    pub(crate) fn of(store: &Store, stack: &StackReference) -> Result<Self, BucketError> {
        let listed = store.bucket.list_direct(&keys::leases(stack))?;
        let keys: Vec<String> = listed.into_iter().map(|entry| entry.key).collect();
        Ok(FormerLeases {
            epoch: keys
                .iter()
                .filter_map(|key| epoch_of(key))
                .max()
                .unwrap_or(0),
            keys,
        })
    }
}

/// Creates the lease after `former`, or after those that have been added to them in the meantime.
fn claim(
    store: &Store,
    stack: &StackReference,
    token: &str,
    mut former: FormerLeases,
) -> Result<(LeaseContent, FormerLeases), BackendError> {
    let folder = keys::leases(stack);
    loop {
        let epoch = former.epoch + 1;
        let lasts = lease_time(store);
        let content = LeaseContent {
            epoch,
            token: token.to_owned(),
            owner: store.owner.clone(),
            expires: Timestamp::now() + lasts,
            lasts_ms: millis(lasts),
            can_be_asked: true,
            is_ending: false,
        };
        let key = lease_key(&folder, epoch);
        if segments::claim(store, &key, &json_bytes(&content))? {
            return Ok((content, former));
        }
        former = FormerLeases::of(store, stack)?;
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

const REQUEST: &str = ".cancel";

fn request_key(folder: &str, epoch: u64) -> String {
    format!("{folder}/{epoch}{REQUEST}")
}

fn lease_key(folder: &str, epoch: u64) -> String {
    format!("{folder}/{epoch}.json")
}
