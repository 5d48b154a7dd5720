//! Encryption of whole states.
//!
//! A stack can have its state file, journals, history, backups and removed copies encrypted as a whole, not only the
//! secrets in them. [`EncryptedBucket`] does that between the backend and the store:
//!
//! 1. **The state file decides.** If it is encrypted, everything else that is written for its stack is encrypted with
//!    the same key. Locks, leases, tags and markers of journals are not: they contain no state.
//! 2. **Each object can be read alone.** It begins with the [`KeyRecord`], so neither a renamed stack nor a backup
//!    depends on another object. The key is a secret of the stack's secrets provider, see [`StateKey`].
//! 3. The state file is a checkpoint that needs a feature which other programs do not have. They name that feature and
//!    refuse the stack, instead of replacing its state. Other objects have a form of their own ([`envelope`]);
//!    journals are encrypted commit by commit ([`log`]).

mod bucket;
mod envelope;
mod log;
mod stack;

use std::error::Error;
use std::sync::Arc;

use plumb_secrets::{SecretsManager, StateKey};
use serde::{Deserialize, Serialize};

pub(crate) use bucket::EncryptedBucket;
pub(crate) use log::LogEncoder;

/// Stored form of a [`StateKey`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Secrets provider that has encrypted the key.
    pub provider: ProviderRecord,
    /// The encrypted key.
    pub key: String,
}

/// Type and state of a secrets provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProviderRecord {
    /// Type, as in state files.
    #[serde(rename = "type")]
    pub kind: String,
    /// State, as in state files.
    #[serde(default)]
    pub state: serde_json::Value,
}

/// Decrypts the keys of states. Called once for each key, when the first object with that key is read.
pub trait StateKeys: Send + Sync {
    /// Decrypts a key with its secrets provider.
    fn open(&self, record: &KeyRecord) -> Result<StateKey, Box<dyn Error + Send + Sync>>;
}

impl<F> StateKeys for F
where
    F: Fn(&KeyRecord) -> Result<StateKey, Box<dyn Error + Send + Sync>> + Send + Sync,
{
    fn open(&self, record: &KeyRecord) -> Result<StateKey, Box<dyn Error + Send + Sync>> {
        self(record)
    }
}

/// Key of a stack whose state is encrypted. Clones share the key.
#[derive(Clone)]
pub struct StackKey {
    record: KeyRecord,
    key: Arc<StateKey>,
}

impl StackKey {
    /// Creates a key, encrypted by `manager`.
    pub fn create(manager: &dyn SecretsManager) -> Result<Self, plumb_secrets::Error> {
        let (key, stored) = StateKey::create(manager)?;
        let state = serde_json::from_str(manager.state().get()).unwrap_or_default();
        Ok(StackKey {
            record: KeyRecord {
                provider: ProviderRecord {
                    kind: manager.kind().to_owned(),
                    state,
                },
                key: stored,
            },
            key: Arc::new(key),
        })
    }

    /// Stored form.
    pub fn record(&self) -> &KeyRecord {
        &self.record
    }
}

/// Opens keys of the `b64` provider, which are not secret.
#[cfg(any(test, feature = "conformance"))]
pub(crate) fn unprotected(record: &KeyRecord) -> Result<StateKey, Box<dyn Error + Send + Sync>> {
    Ok(StateKey::open(&record.key, &plumb_secrets::Base64Manager)?)
}

/// Content of an encrypted object whose key is not secret; `None` if it is something else.
#[cfg(any(test, feature = "conformance"))]
pub(crate) fn read_unprotected(object: &[u8]) -> Option<Vec<u8>> {
    let encrypted = bucket::Encrypted::parse(object).ok()??;
    let key = unprotected(encrypted.record()).ok()?;
    encrypted.decrypt(&key).ok()
}

/// Whether an object is an encrypted journal of one file.
#[cfg(any(test, feature = "conformance"))]
pub(crate) fn is_log(object: &[u8]) -> bool {
    log::LogHead::parse(object).is_some()
}

#[cfg(test)]
mod tests;
