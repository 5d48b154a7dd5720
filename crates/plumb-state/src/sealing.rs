//! Encryption and decryption of the secrets in snapshots and plans.
//!
//! Both traverse all values twice in the same order: first to collect the texts, then to insert the results of the
//! secrets manager, which is called with batches.

use std::sync::Arc;

use ecow::EcoString;
use plumb_value::{PropertyMap, Value};

use crate::secrets::{BATCH_SIZE, CiphertextCache, Place, Plaintext, SecretCodec, SecretsError};
use crate::value::{
    Step, contains_bytes, needs_sealing, plaintext_of, rebuild, value_of_plaintext,
};

/// Replacement for the content of a secret.
pub(crate) type OnSecret<'f> = &'f mut dyn FnMut(&Place<'_>, &Value) -> Result<Value, SecretsError>;

/// A structure with secrets: a snapshot or a plan.
pub(crate) trait Sealable: Sized {
    /// Copy with the content of every secret replaced, always in the same order. Parts without secrets are shared.
    fn rebuild(&self, on_secret: OnSecret<'_>) -> Result<Self, SecretsError>;
}

/// Result of [`seal`].
pub(crate) struct Sealed<T> {
    pub(crate) inner: T,
    /// Whether any secret holds a byte string.
    pub(crate) has_byte_strings: bool,
}

/// Encrypts every secret, which then holds only its ciphertext.
pub(crate) fn seal<T: Sealable>(
    plain: &T,
    codec: &dyn SecretCodec,
    cache: &mut CiphertextCache,
) -> Result<Sealed<T>, SecretsError> {
    let mut collected = Collected::default();
    plain.rebuild(&mut |place, inner| {
        collected.push(place, inner, cache);
        Ok(Value::Null)
    })?;
    let has_byte_strings = collected.has_byte_strings;
    let mut ciphertexts = collected.encrypt(codec, cache)?.into_iter();
    let inner = plain.rebuild(&mut |_, _| Ok(next_sealed(&mut ciphertexts)))?;
    Ok(Sealed {
        inner,
        has_byte_strings,
    })
}

/// Decrypts ciphertexts; plaintext from a file is kept.
pub(crate) fn open<T: Sealable>(
    sealed: &T,
    codec: &dyn SecretCodec,
    cache: &mut CiphertextCache,
) -> Result<T, SecretsError> {
    let mut ciphertexts: Vec<EcoString> = Vec::new();
    sealed.rebuild(&mut |_, inner| {
        ciphertexts.extend(inner.as_str().map(EcoString::from));
        Ok(Value::Null)
    })?;
    let mut plaintexts = decrypt_all(&ciphertexts, codec)?
        .into_iter()
        .zip(ciphertexts);
    sealed.rebuild(&mut |place, inner| {
        let content = match inner {
            Value::String(_) => {
                let (plaintext, ciphertext) = plaintexts
                    .next()
                    .expect("the second walk meets the same secrets");
                let content = parse_content(place, plaintext.reveal())?;
                // The cache key is the text that this program would write, even if the file has another form of it.
                cache.insert(place.key(&plaintext_of(&content)), ciphertext);
                content
            }
            Value::Bytes(text) => parse_content(place, &String::from_utf8_lossy(text))?,
            other => other.clone(),
        };
        Ok(Value::Secret(Arc::new(content)))
    })
}

/// Map with the content of every secret replaced; shared if it has none.
pub(crate) fn rebuild_map(
    map: &Arc<PropertyMap>,
    urn: &str,
    section: &'static str,
    on_secret: OnSecret<'_>,
) -> Result<Arc<PropertyMap>, SecretsError> {
    if !map.values().any(needs_sealing) {
        return Ok(map.clone());
    }
    let mut rebuilt = PropertyMap::new();
    let mut path = Vec::new();
    for (key, value) in map.iter() {
        path.push(Step::Key(key.as_str()));
        let value = rebuild(value, &mut path, &mut |path: &[Step<'_>], inner: &Value| {
            on_secret(&Place { urn, section, path }, inner)
        })?;
        path.pop();
        rebuilt.insert(key.clone(), value);
    }
    Ok(Arc::new(rebuilt))
}

/// Parses the content of a decrypted secret.
pub(crate) fn parse_content(place: &Place<'_>, text: &str) -> Result<Value, SecretsError> {
    value_of_plaintext(text).map_err(|source| SecretsError::NotJson {
        resource: place.urn.into(),
        source,
    })
}

fn decrypt_all(
    ciphertexts: &[EcoString],
    codec: &dyn SecretCodec,
) -> Result<Vec<Plaintext>, SecretsError> {
    let mut plaintexts = Vec::with_capacity(ciphertexts.len());
    for batch in ciphertexts.chunks(BATCH_SIZE) {
        let texts: Vec<&str> = batch.iter().map(EcoString::as_str).collect();
        let answers = codec.decrypt_batch(&texts)?;
        check_count(texts.len(), answers.len())?;
        plaintexts.extend(answers);
    }
    Ok(plaintexts)
}

fn check_count(expected: usize, actual: usize) -> Result<(), SecretsError> {
    if expected == actual {
        Ok(())
    } else {
        Err(SecretsError::Count { expected, actual })
    }
}

/// Secret with the next ciphertext.
pub(crate) fn next_sealed(ciphertexts: &mut impl Iterator<Item = EcoString>) -> Value {
    let ciphertext = ciphertexts
        .next()
        .expect("the second walk meets the same secrets");
    Value::secret(Value::String(ciphertext))
}

/// Secrets to encrypt, in the order of the traversal.
#[derive(Default)]
pub(crate) struct Collected {
    items: Vec<Item>,
    has_byte_strings: bool,
}

enum Item {
    Known(EcoString),
    New { key: [u8; 32], plaintext: Plaintext },
}

impl Collected {
    pub(crate) fn push(&mut self, place: &Place<'_>, inner: &Value, cache: &CiphertextCache) {
        self.has_byte_strings |= contains_bytes(inner);
        let plaintext = plaintext_of(inner);
        let key = place.key(&plaintext);
        self.items.push(match cache.get(&key) {
            Some(ciphertext) => Item::Known(ciphertext.clone()),
            None => Item::New { key, plaintext },
        });
    }

    pub(crate) fn encrypt(
        self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Vec<EcoString>, SecretsError> {
        let new: Vec<&Plaintext> = self.items.iter().filter_map(Item::plaintext).collect();
        let mut answers = Vec::with_capacity(new.len());
        for batch in new.chunks(BATCH_SIZE) {
            let ciphertexts = codec.encrypt_batch(batch)?;
            check_count(batch.len(), ciphertexts.len())?;
            answers.extend(ciphertexts);
        }
        let mut answers = answers.into_iter();
        let ciphertexts = self.items.into_iter().map(|item| match item {
            Item::Known(ciphertext) => ciphertext,
            Item::New { key, .. } => {
                let ciphertext = EcoString::from(answers.next().expect("counted above"));
                cache.insert(key, ciphertext.clone());
                ciphertext
            }
        });
        Ok(ciphertexts.collect())
    }
}

impl Item {
    fn plaintext(&self) -> Option<&Plaintext> {
        match self {
            Item::Known(_) => None,
            Item::New { plaintext, .. } => Some(plaintext),
        }
    }
}
