//! Key that encrypts whole states.
//!
//! The key is random. It is stored with the encrypted state, and is itself encrypted by the stack's [`SecretsManager`].
//! Therefore exactly those who can decrypt the secrets of a stack can read its state.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::symmetric::{KEY_LENGTH, SymmetricKey};
use crate::{CipherError, Error, Plaintext, SecretsManager};

/// Key for whole states, wiped from memory when dropped.
pub struct StateKey(SymmetricKey);

impl StateKey {
    /// Creates a random key. Returns it with its form for storage, encrypted by `manager`.
    pub fn create(manager: &dyn SecretsManager) -> Result<(Self, String), Error> {
        let mut bytes = Zeroizing::new([0; KEY_LENGTH]);
        getrandom::fill(bytes.as_mut()).map_err(Error::Random)?;
        let text = Plaintext::new(STANDARD.encode(bytes.as_ref()));
        let stored = manager.encrypt(&[text])?.concat();
        Ok((StateKey(SymmetricKey::from_bytes(&bytes)), stored))
    }

    /// Key with this form for storage.
    pub fn open(stored: &str, manager: &dyn SecretsManager) -> Result<Self, Error> {
        let texts = manager.decrypt(&[stored])?;
        let text = texts.first().map(Plaintext::expose).unwrap_or_default();
        let bytes = STANDARD.decode(text).map_err(|_| CipherError::NotBase64)?;
        let bytes = Zeroizing::new(bytes);
        let bytes: &[u8; KEY_LENGTH] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| CipherError::Malformed)?;
        Ok(StateKey(SymmetricKey::from_bytes(bytes)))
    }

    /// Encrypts `content` under a new nonce. Decryption needs the same `associated` bytes, which stay readable.
    pub fn encrypt(&self, associated: &[u8], content: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.encrypt_bytes(associated, content)
    }

    /// Decrypts the result of [`StateKey::encrypt`].
    pub fn decrypt(&self, associated: &[u8], encrypted: &[u8]) -> Result<Vec<u8>, CipherError> {
        self.0.decrypt_bytes(associated, encrypted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Base64Manager;

    proptest! {
        #[test]
        fn only_the_same_key_and_the_same_associated_bytes_decrypt(
            associated in any::<Vec<u8>>(),
            content in any::<Vec<u8>>(),
            at in any::<prop::sample::Index>(),
        ) {
            let (key, stored) = StateKey::create(&Base64Manager).unwrap();
            let opened = StateKey::open(&stored, &Base64Manager).unwrap();
            let encrypted = key.encrypt(&associated, &content).unwrap();
            prop_assert_eq!(opened.decrypt(&associated, &encrypted).unwrap(), content.clone());

            let (other, _) = StateKey::create(&Base64Manager).unwrap();
            prop_assert!(other.decrypt(&associated, &encrypted).is_err());
            let mut longer = associated.clone();
            longer.push(0);
            prop_assert!(key.decrypt(&longer, &encrypted).is_err());
            let mut changed = encrypted.clone();
            changed[at.index(encrypted.len())] ^= 1;
            prop_assert!(key.decrypt(&associated, &changed).is_err());
            prop_assert_ne!(key.encrypt(&associated, &content).unwrap(), encrypted);
        }
    }

    #[test]
    fn texts_that_are_no_keys_are_refused() {
        for text in ["", "short", "AAAA"] {
            let stored = Base64Manager.encrypt(&[text.into()]).unwrap().concat();
            assert!(matches!(
                StateKey::open(&stored, &Base64Manager),
                Err(Error::Decrypt(_))
            ));
        }
        let (key, _) = StateKey::create(&Base64Manager).unwrap();
        assert_eq!(key.decrypt(b"", b"short"), Err(CipherError::Malformed));
    }
}
