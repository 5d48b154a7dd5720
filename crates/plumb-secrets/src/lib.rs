//! Secrets managers: how secret values become the ciphertexts of state and stack files, and back (`state.md` 5).
//!
//! A [`SecretsManager`] encrypts and decrypts batches of texts, and has a type and a state that are written beside the
//! ciphertexts so that the right one can be opened again. This crate knows the passphrase manager, the one with a data key
//! that a key service wraps, and the plain `b64` one of tests; [`SymmetricKey`] is the layer below the first two. A manager
//! whose type is not built in is opened as a [`LockedManager`], which fails when a value is needed and not before.
//!
//! This crate does not know where passphrases come from, and talks to no key service: the caller gives a
//! [`PassphraseSource`] and [`KeyServices`], which are asked only when a value has to be encrypted or decrypted. Start with
//! [`Passphrases`], [`CloudKeys`] and [`open`].
//!
//! **Plaintext is never shown:** [`Plaintext`] can be neither printed nor serialized, and is wiped when it goes.

mod base64_manager;
mod cloud;
mod error;
mod key_service;
mod locked;
mod manager_state;
mod open;
mod passphrase;
mod plaintext;
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
pub use symmetric::SymmetricKey;

/// Encrypts and decrypts the secret values of a stack.
pub trait SecretsManager: Send + Sync {
    /// The type in state files: `passphrase`, `cloud`, `service`, `b64`.
    fn kind(&self) -> &str;

    /// The state in state files, as compact JSON.
    fn state(&self) -> &RawValue;

    /// Makes sure that texts can be encrypted, and asks for what that takes.
    fn check(&self) -> Result<(), Error>;

    /// Encrypts texts. The answer has as many ciphertexts, in the same order; none comes out the same twice.
    fn encrypt(&self, texts: &[Plaintext]) -> Result<Vec<String>, Error>;

    /// Decrypts ciphertexts. The answer has as many texts, in the same order. Asks for nothing when there are none.
    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error>;
}

/// Type of the passphrase manager.
pub const PASSPHRASE: &str = "passphrase";

/// Type of the manager with a data key that a key service wraps.
pub const CLOUD: &str = "cloud";

/// Type of the manager for tests, which hides nothing.
pub const BASE64: &str = "b64";
