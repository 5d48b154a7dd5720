//! Secrets managers: encryption of secret values in state and stack files (`state.md` 5).
//!
//! A [`SecretsManager`] encrypts and decrypts batches of texts. Its type and state are stored beside the ciphertexts so
//! that it can be opened again. This crate has the passphrase manager, the manager with a data key wrapped by a key
//! service, and the `b64` manager of tests; the first two use [`SymmetricKey`]. A manager of any other type is opened
//! as a [`LockedManager`], which fails when a value is first encrypted or decrypted.
//!
//! This crate does not know where passphrases come from, and sends no requests: the caller supplies a
//! [`PassphraseSource`] and [`KeyServices`], which are used only when a value is encrypted or decrypted. Start with
//! [`Passphrases`], [`CloudKeys`] and [`open`].
//!
//! **Plaintext never leaks:** [`Plaintext`] can be neither printed nor serialized, and is wiped from memory when
//! dropped.

mod base64_manager;
mod cloud;
mod error;
mod key_service;
mod locked;
mod manager_state;
mod open;
mod passphrase;
mod plaintext;
mod state_key;
mod symmetric;

use serde_json::value::RawValue;

pub use base64_manager::Base64Manager;
pub use cloud::{CloudKeys, CloudManager};
pub use error::{CipherError, Error, LockReason, SaltError};
pub use key_service::{KeyAction, KeyError, KeyService, KeyServices};
pub use locked::LockedManager;
pub use open::{is_known, open};
pub use passphrase::{PassphraseManager, PassphraseSource, Passphrases};
pub use plaintext::Plaintext;
pub use state_key::StateKey;
pub use symmetric::SymmetricKey;

/// Encrypts and decrypts the secret values of a stack.
pub trait SecretsManager: Send + Sync {
    /// Type in state files: `passphrase`, `cloud`, `service`, `b64`.
    fn kind(&self) -> &str;

    /// State in state files, as compact JSON.
    fn state(&self) -> &RawValue;

    /// Checks that texts can be encrypted; asks for the passphrase or calls the key service if necessary.
    fn check(&self) -> Result<(), Error>;

    /// Encrypts texts. Returns one ciphertext per text, in the same order. Equal texts get different ciphertexts.
    fn encrypt(&self, texts: &[Plaintext]) -> Result<Vec<String>, Error>;

    /// Decrypts ciphertexts. Returns one text per ciphertext, in the same order. Needs no key for an empty list.
    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error>;
}

/// Type of the passphrase manager.
pub const PASSPHRASE: &str = "passphrase";

/// Type of the manager whose data key is wrapped by a key service.
pub const CLOUD: &str = "cloud";

/// Type of the manager of tests, which hides nothing.
pub const BASE64: &str = "b64";
