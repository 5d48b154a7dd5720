//! Vectors, codecs, and small helpers.

use std::cell::Cell;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plumb_secrets::SymmetricKey;
use plumb_state::{CodecError, Plaintext, SecretCodec};
use serde_json::Value as Json;

/// Bytes of a file among the vectors.
///
/// The vectors have hidden paths as lists of segments. A recorded state of the reference has them as text (`h057`),
/// which is therefore the written form.
pub(crate) fn vector_bytes(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/../../tests/data/vectors/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    match String::from_utf8(bytes) {
        Ok(text) => with_paths_as_text(text).into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

fn with_paths_as_text(text: String) -> String {
    let key = "\"hideDiff\":";
    let Some(start) = text.find(key).map(|start| start + key.len()) else {
        return text;
    };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Json>();
    let paths = values.next().unwrap().unwrap();
    assert_eq!(paths, json(r#"[["keepers","token"],["list",0]]"#));
    let value = &text[start..start + values.byte_offset()];
    let is_compact = !value.contains('\n');
    let written = if is_compact {
        r#"["keepers.token","list[0]"]"#.to_owned()
    } else {
        let indent = " ".repeat(16);
        format!(" [\n{indent}    \"keepers.token\",\n{indent}    \"list[0]\"\n{indent}]")
    };
    text.replace(value, &written)
}

/// A JSON file among the vectors.
pub(crate) fn vector(name: &str) -> Json {
    serde_json::from_slice(&vector_bytes(name)).unwrap()
}

/// List under `name`.
pub(crate) fn list<'a>(json: &'a Json, name: &str) -> &'a [Json] {
    json[name]
        .as_array()
        .unwrap_or_else(|| panic!("no list {name}"))
}

/// Parses JSON text.
pub(crate) fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

/// Codec with a real data key.
pub(crate) struct KeyCodec(SymmetricKey);

impl KeyCodec {
    pub(crate) fn from_hex(key: &str) -> Self {
        let mut bytes = [0; 32];
        hex::decode_to_slice(key, &mut bytes).unwrap();
        KeyCodec(SymmetricKey::from_bytes(&bytes))
    }
}

impl SecretCodec for KeyCodec {
    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, CodecError> {
        let texts: Vec<_> = plaintexts
            .iter()
            .map(|text| plumb_secrets::Plaintext::new(text.reveal().to_owned()))
            .collect();
        self.0.encrypt(&texts).map_err(CodecError::new)
    }

    fn decrypt_batch(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, CodecError> {
        let texts = self.0.decrypt(ciphertexts).map_err(CodecError::new)?;
        Ok(texts
            .iter()
            .map(|text| Plaintext::new(text.expose().to_owned()))
            .collect())
    }
}

/// Codec with base64 and a counter: equal texts get different ciphertexts, as with a real manager. Counts its calls.
#[derive(Default)]
pub(crate) struct CountingCodec {
    pub(crate) encrypted: Cell<usize>,
    pub(crate) decrypted: Cell<usize>,
}

impl SecretCodec for CountingCodec {
    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, CodecError> {
        let encrypt = |text: &&Plaintext| {
            self.encrypted.set(self.encrypted.get() + 1);
            format!(
                "{}:{}",
                self.encrypted.get(),
                STANDARD.encode(text.reveal())
            )
        };
        Ok(plaintexts.iter().map(encrypt).collect())
    }

    fn decrypt_batch(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, CodecError> {
        self.decrypted.set(self.decrypted.get() + ciphertexts.len());
        let decrypt = |text: &&str| {
            let (_, data) = text
                .split_once(':')
                .ok_or_else(|| CodecError::new("no number"))?;
            let bytes = STANDARD.decode(data).map_err(CodecError::new)?;
            Ok(Plaintext::new(
                String::from_utf8(bytes).map_err(CodecError::new)?,
            ))
        };
        ciphertexts.iter().map(decrypt).collect()
    }
}

/// Codec that always fails.
pub(crate) struct NoCodec;

impl SecretCodec for NoCodec {
    fn encrypt_batch(&self, _: &[&Plaintext]) -> Result<Vec<String>, CodecError> {
        Err(CodecError::new("the codec was called"))
    }

    fn decrypt_batch(&self, _: &[&str]) -> Result<Vec<Plaintext>, CodecError> {
        Err(CodecError::new("the codec was called"))
    }
}
