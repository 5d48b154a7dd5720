//! What all parts of the file backend share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::compression::Compression;
use crate::error::BackendError;

/// Who works on stacks: this process.
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

/// Choices that users make through the environment (`state.md` 3.3).
#[derive(Debug, Clone, PartialEq)]
pub struct StoreOptions {
    /// How state files and history are compressed.
    pub compression: Compression,
    /// New stores use the legacy layout.
    pub legacy_layout: bool,
    /// Do not warn about leftovers of the legacy layout.
    pub no_legacy_warning: bool,
    /// Open stores in the legacy layout.
    pub ignore_deprecation_error: bool,
    /// Keep a copy of each state file under the time of writing.
    pub retain_checkpoints: bool,
    /// Make no copies in `backups/`.
    pub disable_backups: bool,
    /// Number of former states that the history keeps of a stack; none keeps all.
    pub kept_states: Option<usize>,
    /// How many state files are read at the same time when stacks are listed.
    pub parallel: usize,
    /// How long a lease lasts unless it is renewed.
    pub lease_time: Duration,
    /// How often a failed write of a state file is tried again.
    pub write_retries: u32,
    /// Folder of this machine for records that the store does not take; none keeps them in memory only.
    pub recovery_folder: Option<PathBuf>,
    /// The version written into manifests that are made without the engine, with its leading `v`.
    pub version: String,
}

impl StoreOptions {
    /// What applies when the environment says nothing.
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
            version: version.to_owned(),
        }
    }

    /// The compression that two switches ask for.
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
    pub(crate) bucket: Arc<dyn Bucket>,
    pub(crate) owner: Owner,
    pub(crate) options: StoreOptions,
}

impl Store {
    /// Reads and unpacks an object.
    pub(crate) fn read(&self, key: &str) -> Result<Option<Vec<u8>>, BackendError> {
        let Some(content) = self.bucket.get(key)? else {
            return Ok(None);
        };
        self.unpack(key, content).map(Some)
    }

    /// Unpacks an object.
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

/// Nanoseconds since 1970, as file names have them.
pub(crate) fn unix_nanos() -> i128 {
    Timestamp::now().as_nanosecond()
}

pub(crate) fn json_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("these types have only text keys")
}
