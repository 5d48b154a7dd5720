//! The manager with a data key that a key service has wrapped (`state.md` 5.3).
//!
//! 1. A new manager has a random data key of 32 bytes. The key service wraps it once; address and wrapped key are all that is
//!    stored.
//! 2. The data key is unwrapped when the first value is encrypted or decrypted, and no sooner.
//! 3. Values are encrypted with the data key itself, see [`SymmetricKey`]: their number costs no requests.
//! 4. **Each wrapped key costs one request for as long as its [`CloudKeys`] live,** also when the request fails: a service
//!    that is out of reach is not waited for once per value.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::{CLOUD, Error, KeyError, KeyServices, Plaintext, SecretsManager, SymmetricKey};
use crate::{manager_state, symmetric::KEY_LENGTH};

/// Opens and creates managers with wrapped data keys, and keeps the keys. Clones share them.
#[derive(Clone)]
pub struct CloudKeys {
    services: Arc<dyn KeyServices>,
    keys: Arc<Mutex<HashMap<CloudState, Arc<KeySlot>>>>,
}

type Unwrapped = Result<Arc<SymmetricKey>, Arc<KeyError>>;

/// The data key of one address and wrapped key; locked while it is unwrapped, so that this happens once.
#[derive(Default)]
struct KeySlot(Mutex<Option<Unwrapped>>);

impl CloudKeys {
    /// Opens managers with keys of these services.
    pub fn new(services: impl KeyServices + 'static) -> Self {
        CloudKeys {
            services: Arc::new(services),
            keys: Arc::default(),
        }
    }

    /// The manager of a stack file: `secretsprovider` and `encryptedkey`. Asks no service.
    pub fn open(&self, url: &str, encrypted_key: &str) -> CloudManager {
        let parts = CloudState {
            url: url.to_owned(),
            encrypted_key: encrypted_key.to_owned(),
        };
        let state = parts.to_json();
        self.opened(parts, state)
    }

    /// The manager with this state, `{"url": …, "encryptedkey": …}`. Asks no service.
    pub fn open_state(&self, state: &RawValue) -> Result<CloudManager, Error> {
        let parts: CloudState =
            serde_json::from_str(state.get()).map_err(|source| Error::State {
                kind: CLOUD.to_owned(),
                source,
            })?;
        Ok(self.opened(parts, manager_state::compact(state)))
    }

    /// A manager with a new data key, which the key at `url` wraps.
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

/// A panic leaves a key or none behind, so poison does not matter.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A manager whose data key a key service unwraps.
pub struct CloudManager {
    services: Arc<dyn KeyServices>,
    parts: CloudState,
    state: Box<RawValue>,
    key: Arc<KeySlot>,
}

impl CloudManager {
    /// The address of the key, as it stands in the stack file under `secretsprovider`.
    pub fn url(&self) -> &str {
        &self.parts.url
    }

    /// The wrapped data key, as it stands in the stack file under `encryptedkey`.
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
    /// The state as the reference writes it, in whose JSON the characters that HTML gives a meaning are escaped. Two states
    /// are compared by their text, and addresses with two parameters have such a character.
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
