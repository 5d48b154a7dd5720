//! The base64 manager of tests. It keeps no secrets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use crate::{BASE64, CipherError, Error, Plaintext, SecretsManager};

/// Secrets manager that encodes texts in base64. For tests only: it hides nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base64Manager;

impl SecretsManager for Base64Manager {
    fn kind(&self) -> &str {
        BASE64
    }

    fn state(&self) -> &RawValue {
        RawValue::NULL
    }

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn encrypt(&self, texts: &[Plaintext]) -> Result<Vec<String>, Error> {
        Ok(texts
            .iter()
            .map(|text| STANDARD.encode(text.expose()))
            .collect())
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        let decode = |ciphertext: &&str| {
            let bytes = STANDARD
                .decode(ciphertext)
                .map_err(|_| CipherError::NotBase64)?;
            Ok(String::from_utf8(bytes)
                .map_err(|_| CipherError::NotText)?
                .into())
        };
        ciphertexts.iter().map(decode).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_base64() {
        let manager = Base64Manager;
        assert_eq!((manager.kind(), manager.state().get()), ("b64", "null"));
        assert_eq!(
            manager.encrypt(&["hé".into(), "".into()]).unwrap(),
            ["aMOp", ""]
        );
        assert_eq!(manager.decrypt(&["aMOp"]).unwrap()[0].expose(), "hé");
        assert!(matches!(
            manager.decrypt(&["?"]),
            Err(Error::Decrypt(CipherError::NotBase64))
        ));
        assert!(matches!(
            manager.decrypt(&["//8="]),
            Err(Error::Decrypt(CipherError::NotText))
        ));
    }
}
