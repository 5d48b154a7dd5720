//! Data shared by all parts of the file backend.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::compression::Compression;
use crate::encryption::{EncryptedBucket, StateKeys};
use crate::error::{BackendError, BucketError};

/// Owner of locks and leases: this process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Name of the user.
    #[serde(default)]
    pub username: String,
    /// Name of the machine.
    #[serde(default)]
    pub hostname: String,
}

/// Options that users set with environment variables (`state.md` 3.3).
#[derive(Clone)]
pub struct StoreOptions {
    /// Compression of state files and history.
    pub compression: Compression,
    /// Whether new stores use the legacy layout.
    pub legacy_layout: bool,
    /// Whether to suppress warnings about leftovers of the legacy layout.
    pub no_legacy_warning: bool,
    /// Whether stores in the legacy layout can be opened.
    pub ignore_deprecation_error: bool,
    /// Whether to keep a copy of each state file under the time of writing.
    pub retain_checkpoints: bool,
    /// Whether to make no copies in `backups/`.
    pub disable_backups: bool,
    /// Number of former states in the history of a stack; `None` for all.
    pub kept_states: Option<usize>,
    /// Number of state files that are read concurrently when stacks are listed.
    pub parallel: usize,
    /// Duration of a lease after its last renewal.
    pub lease_time: Duration,
    /// Number of retries for a failed write of a state file.
    pub write_retries: u32,
    /// Folder on this machine for records that the store does not take; `None` keeps them only in memory.
    pub recovery_folder: Option<PathBuf>,
    /// Access to the keys of states that are encrypted as a whole; `None` leaves such states unreadable.
    pub state_keys: Option<Arc<dyn StateKeys>>,
    /// Version for manifests that are made without the engine, with a leading `v`.
    pub version: String,
}

impl StoreOptions {
    /// Defaults, for an empty environment.
    pub fn new(version: &str) -> Self {
        StoreOptions {
            compression: Compression::None,
            legacy_layout: false,
            no_legacy_warning: false,
            ignore_deprecation_error: false,
            retain_checkpoints: false,
            disable_backups: false,
            kept_states: None,
            parallel: 10,
            lease_time: Duration::from_secs(30),
            write_retries: 10,
            recovery_folder: None,
            state_keys: None,
            version: version.to_owned(),
        }
    }

    /// Compression for the two switches.
    pub fn compression_of(gzip: bool, zstd: bool) -> Result<Compression, BackendError> {
        match (gzip, zstd) {
            (true, true) => Err(BackendError::TwoCompressions),
            (true, false) => Ok(Compression::Gzip),
            (false, true) => Ok(Compression::Zstd),
            (false, false) => Ok(Compression::None),
        }
    }
}

/// Bucket, owner and options.
pub(crate) struct Store {
    /// All objects. Those of encrypted stacks are decrypted when they are read, and encrypted when they are written.
    pub(crate) bucket: Arc<dyn Bucket>,
    /// Whether the store ignores conditions of writes.
    pub(crate) lock_only: AtomicBool,
    /// `bucket` by its own type, for what other buckets cannot do; `None` if it cannot encrypt.
    pub(crate) encryption: Option<Arc<EncryptedBucket>>,
    pub(crate) owner: Owner,
    pub(crate) options: StoreOptions,
}

impl Store {
    pub(crate) fn new(bucket: Arc<dyn Bucket>, owner: Owner, options: StoreOptions) -> Self {
        let encryption = options.state_keys.clone();
        let encryption =
            encryption.map(|keys| Arc::new(EncryptedBucket::new(Arc::clone(&bucket), keys)));
        Store {
            bucket: match &encryption {
                Some(encrypted) => Arc::clone(encrypted) as Arc<dyn Bucket>,
                None => bucket,
            },
            lock_only: AtomicBool::new(false),
            encryption,
            owner,
            options,
        }
    }

    /// Performs two actions that do not depend on each other: at the same time if the store is remote, otherwise in
    /// this order.
    pub(crate) fn join<A: Send, B>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B,
    ) -> (A, B) {
        if !self.bucket.is_remote() {
            return (first(), second());
        }
        thread::scope(|scope| {
            let first = scope.spawn(first);
            let second = second();
            match first.join() {
                Ok(first) => (first, second),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Content of an object as it is stored, encrypted or not.
    pub(crate) fn stored(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        match &self.encryption {
            Some(bucket) => bucket.stored(key),
            None => self.bucket.get(key),
        }
    }

    /// Reads and decompresses an object.
    pub(crate) fn read(&self, key: &str) -> Result<Option<Vec<u8>>, BackendError> {
        let Some(content) = self.bucket.get(key)? else {
            return Ok(None);
        };
        self.unpack(key, content).map(Some)
    }

    /// Decompresses an object.
    #[expect(clippy::unused_self, reason = "reads as the other half of `read`")]
    pub(crate) fn unpack(&self, key: &str, content: Vec<u8>) -> Result<Vec<u8>, BackendError> {
        crate::compression::unpack(content).map_err(|source| BackendError::Unpack {
            key: key.to_owned(),
            source,
        })
    }

    /// Reads a small JSON object.
    pub(crate) fn read_json<T: DeserializeOwned>(
        &self,
        key: &str,
    ) -> Result<Option<T>, BackendError> {
        let Some(content) = self.read(key)? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(&content);
        parsed.map(Some).map_err(|source| BackendError::Json {
            key: key.to_owned(),
            source,
        })
    }
}

/// Current time in nanoseconds since 1970, as in file names.
pub(crate) fn unix_nanos() -> i128 {
    Timestamp::now().as_nanosecond()
}

pub(crate) fn json_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("these types have only text keys")
}
