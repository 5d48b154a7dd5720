//! Symmetric encryption of values: `v1:<nonce>:<data>`, AES-256-GCM (`state.md` 5.1).

use aes_gcm::aead::AeadInOut as _;
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::{Zeroize as _, Zeroizing};

use crate::{CipherError, Error, Plaintext};

const VERSION: &str = "v1";
const NONCE_LENGTH: usize = 12;
const TAG_LENGTH: usize = 16;
pub(crate) const KEY_LENGTH: usize = 32;
const PASSPHRASE_ROUNDS: u32 = 1_000_000;

/// A key for values, wiped from memory when dropped.
pub struct SymmetricKey(Aes256Gcm);

impl SymmetricKey {
    /// Key with these bytes, for example a data key unwrapped by a key service.
    pub fn from_bytes(bytes: &[u8; KEY_LENGTH]) -> Self {
        SymmetricKey(Aes256Gcm::new(bytes.into()))
    }

    /// Key derived from a passphrase and a salt. Slow on purpose: takes a large part of a second.
    pub(crate) fn derive(passphrase: &Plaintext, salt: &[u8]) -> Self {
        let mut bytes = Zeroizing::new([0; KEY_LENGTH]);
        pbkdf2::pbkdf2_hmac::<sha2::Sha256>(
            passphrase.expose().as_bytes(),
            salt,
            PASSPHRASE_ROUNDS,
            bytes.as_mut(),
        );
        SymmetricKey::from_bytes(&bytes)
    }

    /// Encrypts texts, each under a new nonce.
    pub fn encrypt(&self, texts: &[Plaintext]) -> Result<Vec<String>, Error> {
        let mut nonces = vec![[0; NONCE_LENGTH]; texts.len()];
        getrandom::fill(nonces.as_flattened_mut()).map_err(Error::Random)?;
        Ok(texts
            .iter()
            .zip(nonces)
            .map(|(text, nonce)| self.encrypt_with(nonce, text))
            .collect())
    }

    /// Decrypts ciphertexts.
    pub fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, CipherError> {
        ciphertexts
            .iter()
            .map(|ciphertext| self.decrypt_one(ciphertext))
            .collect()
    }

    /// Encrypts bytes under a new nonce: nonce, encrypted bytes, tag. `associated` is authenticated, but not included.
    pub(crate) fn encrypt_bytes(
        &self,
        associated: &[u8],
        content: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let mut nonce = [0; NONCE_LENGTH];
        getrandom::fill(&mut nonce).map_err(Error::Random)?;
        let mut encrypted = Vec::with_capacity(NONCE_LENGTH + content.len() + TAG_LENGTH);
        encrypted.extend(nonce);
        encrypted.extend(content);
        let tag = self
            .0
            .encrypt_inout_detached(
                &Nonce::from(nonce),
                associated,
                (&mut encrypted[NONCE_LENGTH..]).into(),
            )
            .expect("bytes in memory are fewer than the 64 GiB that a nonce is good for");
        encrypted.extend(tag);
        Ok(encrypted)
    }

    /// Decrypts the result of [`SymmetricKey::encrypt_bytes`].
    pub(crate) fn decrypt_bytes(
        &self,
        associated: &[u8],
        encrypted: &[u8],
    ) -> Result<Vec<u8>, CipherError> {
        let (nonce, data) = encrypted
            .split_first_chunk::<NONCE_LENGTH>()
            .ok_or(CipherError::Malformed)?;
        let mut data = data.to_vec();
        self.0
            .decrypt_in_place(&Nonce::from(*nonce), associated, &mut data)
            .map_err(|_| CipherError::Authentication)?;
        Ok(data)
    }

    fn encrypt_with(&self, nonce: [u8; NONCE_LENGTH], text: &Plaintext) -> String {
        let text = text.expose().as_bytes();
        // Reserve space for the tag now, because growing later would leave a copy of the text in freed memory.
        let mut data = Vec::with_capacity(text.len() + TAG_LENGTH);
        data.extend_from_slice(text);
        self.0
            .encrypt_in_place(&Nonce::from(nonce), &[], &mut data)
            .expect("a text in memory is shorter than the 64 GiB that a nonce is good for");
        let mut ciphertext = String::with_capacity(24 + data.len().div_ceil(3) * 4);
        ciphertext.push_str(VERSION);
        ciphertext.push(':');
        STANDARD.encode_string(nonce, &mut ciphertext);
        ciphertext.push(':');
        STANDARD.encode_string(data, &mut ciphertext);
        ciphertext
    }

    pub(crate) fn decrypt_one(&self, ciphertext: &str) -> Result<Plaintext, CipherError> {
        let (nonce, mut data) = parse(ciphertext)?;
        if self
            .0
            .decrypt_in_place(&Nonce::from(nonce), &[], &mut data)
            .is_err()
        {
            return Err(CipherError::Authentication);
        }
        String::from_utf8(data)
            .map(Plaintext::new)
            .map_err(|error| {
                error.into_bytes().zeroize();
                CipherError::NotText
            })
    }
}

fn parse(ciphertext: &str) -> Result<([u8; NONCE_LENGTH], Vec<u8>), CipherError> {
    let mut parts = ciphertext.split(':');
    let (Some(version), Some(nonce), Some(data), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(CipherError::Malformed);
    };
    if version != VERSION {
        return Err(CipherError::UnknownVersion);
    }
    let nonce = STANDARD.decode(nonce).map_err(|_| CipherError::NotBase64)?;
    let data = STANDARD.decode(data).map_err(|_| CipherError::NotBase64)?;
    Ok((
        nonce.try_into().map_err(|_| CipherError::NonceLength)?,
        data,
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn check_values(key: &SymmetricKey, values: &Value) {
        for vector in values.as_array().unwrap() {
            let (plaintext, value) = (
                vector["plaintext"].as_str().unwrap(),
                vector["value"].as_str().unwrap(),
            );
            assert_eq!(key.decrypt(&[value]).unwrap()[0].expose(), plaintext);
            let nonce = STANDARD.decode(value.split(':').nth(1).unwrap()).unwrap();
            assert_eq!(
                key.encrypt_with(nonce.try_into().unwrap(), &plaintext.into()),
                value
            );
        }
    }

    fn bytes(vector: &Value) -> [u8; KEY_LENGTH] {
        hex::decode(vector.as_str().unwrap())
            .unwrap()
            .try_into()
            .unwrap()
    }

    #[test]
    fn values_under_a_passphrase_are_as_recorded() {
        let vectors: Value = serde_json::from_str(include_str!(
            "../../../tests/data/vectors/secrets-passphrase.json"
        ))
        .unwrap();
        let cases = vectors["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 4);
        for case in cases {
            check_values(
                &SymmetricKey::from_bytes(&bytes(&case["keyHex"])),
                &case["values"],
            );
        }
    }

    #[test]
    fn values_under_a_data_key_are_as_recorded() {
        let vectors: Value = serde_json::from_str(include_str!(
            "../../../tests/data/vectors/secrets-cloud.json"
        ))
        .unwrap();
        check_values(
            &SymmetricKey::from_bytes(&bytes(&vectors["dataKeyHex"])),
            &vectors["values"],
        );
    }

    #[test]
    fn what_is_no_ciphertext_is_refused() {
        let key = SymmetricKey::from_bytes(&[1; KEY_LENGTH]);
        let good = key.encrypt_with([2; NONCE_LENGTH], &"text".into());
        let other = SymmetricKey::from_bytes(&[3; KEY_LENGTH])
            .encrypt_with([2; NONCE_LENGTH], &"text".into());
        for (ciphertext, expected) in [
            ("", CipherError::Malformed),
            ("v1:AAAA", CipherError::Malformed),
            (&format!("{good}:x"), CipherError::Malformed),
            (&good.replacen("v1", "v2", 1), CipherError::UnknownVersion),
            (&good.replacen("AgIC", "_-IC", 1), CipherError::NotBase64),
            (&good.replacen("AgIC", "", 1), CipherError::NonceLength),
            (
                &good.replacen("AgIC", "AgID", 1),
                CipherError::Authentication,
            ),
            ("v1:AgICAgICAgICAgIC:", CipherError::Authentication),
            (&other, CipherError::Authentication),
        ] {
            assert_eq!(
                key.decrypt(&[ciphertext]).err(),
                Some(expected),
                "{ciphertext}"
            );
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let key = SymmetricKey::from_bytes(&[1; KEY_LENGTH]);
        let mut data = vec![0xff, 0xfe];
        key.0
            .encrypt_in_place(&Nonce::from([2; NONCE_LENGTH]), &[], &mut data)
            .unwrap();
        let ciphertext = format!(
            "v1:{}:{}",
            STANDARD.encode([2; NONCE_LENGTH]),
            STANDARD.encode(data)
        );
        assert_eq!(
            key.decrypt(&[&ciphertext]).err(),
            Some(CipherError::NotText)
        );
    }

    proptest! {
        #[test]
        fn what_is_encrypted_can_be_decrypted(texts in proptest::collection::vec(any::<String>(), 0..8)) {
            let key = SymmetricKey::from_bytes(&[7; KEY_LENGTH]);
            let plaintexts: Vec<Plaintext> = texts.iter().map(|text| text.as_str().into()).collect();
            let ciphertexts = key.encrypt(&plaintexts).unwrap();
            let again = key.encrypt(&plaintexts).unwrap();
            prop_assert!(ciphertexts.iter().zip(&again).all(|(first, second)| first != second));
            let borrowed: Vec<&str> = ciphertexts.iter().map(String::as_str).collect();
            let decrypted = key.decrypt(&borrowed).unwrap();
            prop_assert_eq!(decrypted.iter().map(Plaintext::expose).collect::<Vec<_>>(), texts);
        }

        #[test]
        fn a_changed_ciphertext_is_refused(text in any::<String>(), position in any::<prop::sample::Index>()) {
            let key = SymmetricKey::from_bytes(&[7; KEY_LENGTH]);
            let mut bytes = key.encrypt(&[text.as_str().into()]).unwrap().remove(0).into_bytes();
            let position = position.index(bytes.len());
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            prop_assert!(key.decrypt(&[&changed]).is_err());
        }
    }
}
