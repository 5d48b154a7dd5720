//! The passphrase manager (`state.md` 5.2).
//!
//! 1. The salt string is `v1:<salt>:<verification value>`; nothing else is stored.
//! 2. The key is derived from passphrase and salt when the first value is encrypted or decrypted.
//! 3. The verification value must decrypt to a fixed word; otherwise the passphrase is wrong.
//! 4. **Each salt string costs one derivation during the lifetime of its [`Passphrases`],** because its managers share
//!    their keys. A wrong passphrase is not cached: the source is asked again next time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Error, PASSPHRASE, Plaintext, SaltError, SecretsManager, SymmetricKey, manager_state};

const VERSION: &str = "v1";
const VERIFICATION_WORD: &str = "pulumi";
const SALT_LENGTH: usize = 8;

/// Source of a passphrase: the environment, a file or a prompt. Closures implement it.
pub trait PassphraseSource: Send + Sync {
    /// The passphrase for existing values; [`Error::NoPassphrase`] if there is none.
    fn passphrase(&self) -> Result<Plaintext, Error>;
}

impl<F: Fn() -> Result<Plaintext, Error> + Send + Sync> PassphraseSource for F {
    fn passphrase(&self) -> Result<Plaintext, Error> {
        self()
    }
}

/// Opens and creates passphrase managers, and caches their keys. Clones share the cache.
#[derive(Clone)]
pub struct Passphrases {
    source: Arc<dyn PassphraseSource>,
    keys: Arc<Mutex<HashMap<String, Arc<KeySlot>>>>,
}

/// Key of one salt string. The lock is held while the key is derived, so that this happens once.
#[derive(Default)]
struct KeySlot(Mutex<Option<Arc<SymmetricKey>>>);

impl Passphrases {
    /// A cache of managers with passphrases from `source`.
    pub fn new(source: impl PassphraseSource + 'static) -> Self {
        Passphrases {
            source: Arc::new(source),
            keys: Arc::default(),
        }
    }

    /// Manager with this salt string. Neither asks for the passphrase nor checks it.
    pub fn open(&self, salt: &str) -> Result<PassphraseManager, Error> {
        Ok(PassphraseManager {
            salt: Salt::parse(salt)?,
            state: manager_state::of(&PassphraseState { salt: salt.into() }),
            key: self.slot(salt),
            source: Arc::clone(&self.source),
        })
    }

    /// Manager with this state, `{"salt": …}`.
    pub fn open_state(&self, state: &RawValue) -> Result<PassphraseManager, Error> {
        let state: PassphraseState =
            serde_json::from_str(state.get()).map_err(|source| Error::State {
                kind: PASSPHRASE.to_owned(),
                source,
            })?;
        self.open(&state.salt)
    }

    /// Manager with a new passphrase and a new salt.
    pub fn create(&self, passphrase: &Plaintext) -> Result<PassphraseManager, Error> {
        let mut salt = [0; SALT_LENGTH];
        getrandom::fill(&mut salt).map_err(Error::Random)?;
        let key = SymmetricKey::derive(passphrase, &salt);
        let verification = key.encrypt(&[VERIFICATION_WORD.into()])?.concat();
        let manager = self.open(&format!(
            "{VERSION}:{}:{verification}",
            STANDARD.encode(salt)
        ))?;
        *manager.key.lock() = Some(Arc::new(key));
        Ok(manager)
    }

    fn slot(&self, salt: &str) -> Arc<KeySlot> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(keys.entry(salt.to_owned()).or_default())
    }
}

impl KeySlot {
    /// Locks the slot and ignores poison, because a panic leaves either a complete key or none.
    fn lock(&self) -> MutexGuard<'_, Option<Arc<SymmetricKey>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A secrets manager whose key is derived from a passphrase.
pub struct PassphraseManager {
    salt: Salt,
    state: Box<RawValue>,
    key: Arc<KeySlot>,
    source: Arc<dyn PassphraseSource>,
}

impl PassphraseManager {
    /// Salt string: `encryptionsalt` in the stack file.
    pub fn salt(&self) -> &str {
        &self.salt.text
    }

    /// Asks for the passphrase and verifies it, unless that has been done.
    pub fn unlock(&self) -> Result<(), Error> {
        self.key().map(drop)
    }

    fn key(&self) -> Result<Arc<SymmetricKey>, Error> {
        let mut slot = self.key.lock();
        if let Some(key) = slot.as_ref() {
            return Ok(Arc::clone(key));
        }
        let key = Arc::new(self.salt.unlock(&self.source.passphrase()?)?);
        *slot = Some(Arc::clone(&key));
        Ok(key)
    }
}

impl SecretsManager for PassphraseManager {
    fn kind(&self) -> &str {
        PASSPHRASE
    }

    fn state(&self) -> &RawValue {
        &self.state
    }

    fn check(&self) -> Result<(), Error> {
        self.unlock()
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

#[derive(Serialize, Deserialize)]
struct PassphraseState {
    salt: String,
}

/// Parts of a salt string.
struct Salt {
    text: String,
    bytes: Vec<u8>,
    verification: String,
}

impl Salt {
    fn parse(text: &str) -> Result<Self, SaltError> {
        let mut parts = text.splitn(3, ':');
        let (Some(version), Some(bytes), Some(verification)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(SaltError::Malformed);
        };
        if version != VERSION {
            return Err(SaltError::UnknownVersion);
        }
        let bytes = STANDARD.decode(bytes).map_err(|_| SaltError::NotBase64)?;
        Ok(Salt {
            text: text.to_owned(),
            bytes,
            verification: verification.to_owned(),
        })
    }

    fn unlock(&self, passphrase: &Plaintext) -> Result<SymmetricKey, Error> {
        let key = SymmetricKey::derive(passphrase, &self.bytes);
        match key.decrypt_one(&self.verification) {
            Ok(word) if word.expose() == VERIFICATION_WORD => Ok(key),
            _ => Err(Error::IncorrectPassphrase),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::Value;

    use super::*;
    use crate::CipherError;

    fn vectors() -> Value {
        serde_json::from_str(include_str!(
            "../../../tests/data/vectors/secrets-passphrase.json"
        ))
        .unwrap()
    }

    fn with(passphrase: &Value) -> Passphrases {
        let passphrase = passphrase.as_str().unwrap().to_owned();
        Passphrases::new(move || Ok(passphrase.as_str().into()))
    }

    fn text(vector: &Value) -> &str {
        vector.as_str().unwrap()
    }

    #[test]
    fn recorded_values_can_be_decrypted() {
        for case in vectors()["cases"].as_array().unwrap() {
            let recorded = &case["deploymentSecretsProviders"];
            let state = manager_state::of(&recorded["state"]);
            let manager = with(&case["passphrase"]).open_state(&state).unwrap();
            assert_eq!(
                (manager.kind(), manager.state().get()),
                (text(&recorded["type"]), state.get())
            );
            assert_eq!(manager.salt(), text(&case["encryptionsalt"]));
            let values = case["values"].as_array().unwrap();
            let ciphertexts: Vec<&str> = values.iter().map(|value| text(&value["value"])).collect();
            let plaintexts = manager.decrypt(&ciphertexts).unwrap();
            let expected: Vec<&str> = values
                .iter()
                .map(|value| text(&value["plaintext"]))
                .collect();
            assert_eq!(
                plaintexts.iter().map(Plaintext::expose).collect::<Vec<_>>(),
                expected
            );
        }
        let upstream = &vectors()["fromUpstreamTestData"];
        with(&upstream["passphrase"])
            .open(text(&upstream["encryptionsalt"]))
            .unwrap()
            .unlock()
            .unwrap();
    }

    #[test]
    fn what_must_be_rejected_is_rejected() {
        let vectors = vectors();
        let rejects = vectors["mustReject"].as_array().unwrap();
        assert_eq!(rejects.len(), 9);
        let shared = with(&vectors["cases"][0]["passphrase"]);
        for reject in rejects {
            let is_shared = reject["passphrase"] == vectors["cases"][0]["passphrase"];
            let passphrases = if is_shared {
                shared.clone()
            } else {
                with(&reject["passphrase"])
            };
            let opened = passphrases.open(text(&reject["encryptionsalt"]));
            let error = match (opened, reject.get("value")) {
                (Err(error), _) => error,
                (Ok(manager), None) => manager.unlock().unwrap_err(),
                (Ok(manager), Some(value)) => {
                    manager.unlock().unwrap();
                    manager.decrypt(&[text(value)]).err().unwrap()
                }
            };
            let why = text(&reject["why"]);
            let is_expected = match &error {
                Error::IncorrectPassphrase => why.contains("verification blob"),
                Error::Salt(SaltError::UnknownVersion) => why.contains("outer version"),
                Error::Salt(SaltError::Malformed) => why.contains("no verification blob"),
                Error::Decrypt(CipherError::Authentication) => why.contains("tampered"),
                Error::Decrypt(CipherError::UnknownVersion) => why.contains("value version"),
                Error::Decrypt(CipherError::Malformed) => why.contains("colon parts"),
                Error::Decrypt(CipherError::NonceLength) => why.contains("nonce"),
                Error::Decrypt(CipherError::NotBase64) => why.contains("base64"),
                _ => false,
            };
            assert!(is_expected, "{why}: {error:?}");
        }
    }

    #[test]
    fn a_new_manager_can_be_opened_with_its_passphrase_only() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let passphrases = Passphrases::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok("right".into())
        });
        let created = passphrases.create(&"right".into()).unwrap();
        let ciphertexts = created.encrypt(&["secret".into()]).unwrap();
        let borrowed = [ciphertexts[0].as_str()];

        let reopened = passphrases.open(created.salt()).unwrap();
        assert_eq!(reopened.decrypt(&borrowed).unwrap()[0].expose(), "secret");
        assert_eq!(
            asked.load(Ordering::Relaxed),
            0,
            "the key was there already"
        );

        let elsewhere = Passphrases::new(|| Ok("wrong".into()))
            .open_state(created.state())
            .unwrap();
        assert!(matches!(
            elsewhere.decrypt(&borrowed),
            Err(Error::IncorrectPassphrase)
        ));
    }

    #[test]
    fn the_passphrase_is_asked_for_when_a_value_needs_it_and_once() {
        let vectors = vectors();
        let case = &vectors["cases"][0];
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let passphrase = text(&case["passphrase"]).to_owned();
        let passphrases = Passphrases::new(move || match counter.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Error::NoPassphrase),
            _ => Ok(passphrase.as_str().into()),
        });
        let managers = [(); 2].map(|()| passphrases.open(text(&case["encryptionsalt"])).unwrap());
        assert!(managers[0].encrypt(&[]).unwrap().is_empty());
        assert!(managers[0].decrypt(&[]).unwrap().is_empty());
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        assert!(matches!(
            managers[0].encrypt(&["x".into()]),
            Err(Error::NoPassphrase)
        ));
        std::thread::scope(|scope| {
            for manager in &managers {
                scope.spawn(|| manager.encrypt(&["x".into()]).map(drop).unwrap());
            }
        });
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}
