//! The secrets manager whose data key is wrapped by a key service (`state.md` 5.3).
//!
//! 1. A new manager has a random data key of 32 bytes. The key service wraps it once; only the address and the wrapped
//!    key are stored.
//! 2. The data key is unwrapped when the first value is encrypted or decrypted.
//! 3. Values are encrypted with the data key itself, see [`SymmetricKey`], so they cost no further requests.
//! 4. **Each wrapped key costs one request during the lifetime of its [`CloudKeys`],** even if the request fails: an
//!    unreachable service must not cost a timeout per value.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::{CLOUD, Error, KeyError, KeyServices, Plaintext, SecretsManager, SymmetricKey};
use crate::{manager_state, symmetric::KEY_LENGTH};

/// Opens and creates managers with wrapped data keys, and caches the data keys. Clones share the cache.
#[derive(Clone)]
pub struct CloudKeys {
    services: Arc<dyn KeyServices>,
    keys: Arc<Mutex<HashMap<CloudState, Arc<KeySlot>>>>,
}

type Unwrapped = Result<Arc<SymmetricKey>, Arc<KeyError>>;

/// Data key of one address and wrapped key. The lock is held while the key is unwrapped, so that this happens once.
#[derive(Default)]
struct KeySlot(Mutex<Option<Unwrapped>>);

impl CloudKeys {
    /// A cache of managers that use these key services.
    pub fn new(services: impl KeyServices + 'static) -> Self {
        CloudKeys {
            services: Arc::new(services),
            keys: Arc::default(),
        }
    }

    /// Manager for the `secretsprovider` and `encryptedkey` of a stack file. Sends no request.
    pub fn open(&self, url: &str, encrypted_key: &str) -> CloudManager {
        let parts = CloudState {
            url: url.to_owned(),
            encrypted_key: encrypted_key.to_owned(),
        };
        let state = parts.to_json();
        self.opened(parts, state)
    }

    /// Manager with this state, `{"url": …, "encryptedkey": …}`. Sends no request.
    pub fn open_state(&self, state: &RawValue) -> Result<CloudManager, Error> {
        let parts: CloudState =
            serde_json::from_str(state.get()).map_err(|source| Error::State {
                kind: CLOUD.to_owned(),
                source,
            })?;
        Ok(self.opened(parts, manager_state::compact(state)))
    }

    /// Manager with a new data key, wrapped by the key at `url`.
    pub fn create(&self, url: &str) -> Result<CloudManager, Error> {
        let service = self.services.open(url).map_err(Arc::new)?;
        let mut key = Zeroizing::new([0; KEY_LENGTH]);
        getrandom::fill(key.as_mut()).map_err(Error::Random)?;
        let wrapped = service.wrap(key.as_ref()).map_err(Arc::new)?;
        let manager = self.open(url, &STANDARD.encode(wrapped));
        *lock(&manager.key.0) = Some(Ok(Arc::new(SymmetricKey::from_bytes(&key))));
        Ok(manager)
    }

    fn opened(&self, parts: CloudState, state: Box<RawValue>) -> CloudManager {
        let key = Arc::clone(lock(&self.keys).entry(parts.clone()).or_default());
        CloudManager {
            services: Arc::clone(&self.services),
            parts,
            state,
            key,
        }
    }
}

/// Locks a mutex and ignores poison, because a panic leaves either a complete key or none.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A secrets manager whose data key is unwrapped by a key service.
pub struct CloudManager {
    services: Arc<dyn KeyServices>,
    parts: CloudState,
    state: Box<RawValue>,
    key: Arc<KeySlot>,
}

impl CloudManager {
    /// Address of the key: `secretsprovider` in the stack file.
    pub fn url(&self) -> &str {
        &self.parts.url
    }

    /// Wrapped data key: `encryptedkey` in the stack file.
    pub fn encrypted_key(&self) -> &str {
        &self.parts.encrypted_key
    }

    fn key(&self) -> Result<Arc<SymmetricKey>, Error> {
        let mut slot = lock(&self.key.0);
        let key = slot.get_or_insert_with(|| self.unwrap().map_err(Arc::new));
        Ok(key.clone()?)
    }

    fn unwrap(&self) -> Result<Arc<SymmetricKey>, KeyError> {
        let CloudState { url, encrypted_key } = &self.parts;
        let wrapped = STANDARD
            .decode(encrypted_key)
            .map_err(|_| KeyError::NotBase64 { url: url.clone() })?;
        let bytes = self.services.open(url)?.unwrap(&wrapped)?;
        let key: &[u8; KEY_LENGTH] = bytes.as_slice().try_into().map_err(|_| KeyError::Length {
            url: url.clone(),
            length: bytes.len(),
        })?;
        Ok(Arc::new(SymmetricKey::from_bytes(key)))
    }
}

impl SecretsManager for CloudManager {
    fn kind(&self) -> &str {
        CLOUD
    }

    fn state(&self) -> &RawValue {
        &self.state
    }

    fn check(&self) -> Result<(), Error> {
        self.key().map(drop)
    }

    fn encrypt(&self, texts: &[Plaintext]) -> Result<Vec<String>, Error> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.key()?.encrypt(texts)
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        if ciphertexts.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.key()?.decrypt(ciphertexts)?)
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct CloudState {
    url: String,
    #[serde(rename = "encryptedkey")]
    encrypted_key: String,
}

impl CloudState {
    /// JSON of the state, with HTML characters escaped as in the reference: states are compared as text, and an address
    /// with two parameters contains `&`.
    fn to_json(&self) -> Box<RawValue> {
        let mut json = manager_state::of(self).get().to_owned();
        for (character, escaped) in [('&', "\\u0026"), ('<', "\\u003c"), ('>', "\\u003e")] {
            json = json.replace(character, escaped);
        }
        RawValue::from_string(json).expect("an escaped character in a JSON text is valid JSON")
    }
}

#[cfg(test)]
mod tests;
