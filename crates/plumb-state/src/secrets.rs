//! Interface to secrets managers.

use std::error::Error;

use ecow::EcoString;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::snapshot::SecretsProvider;
use crate::value::Step;

/// Decrypted text of one secret. It cannot be printed, and is wiped from memory when dropped.
pub struct Plaintext(Zeroizing<String>);

impl Plaintext {
    /// Takes ownership of a decrypted text.
    pub fn new(text: String) -> Self {
        Plaintext(Zeroizing::new(text))
    }

    /// The text, for encryption or parsing.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Encrypts and decrypts batches of texts.
///
/// Results have the order and number of the arguments. A call has at least one and at most [`BATCH_SIZE`] texts, so
/// that a manager can be opened by the first call.
pub trait SecretCodec {
    /// Encrypts each text.
    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, CodecError>;

    /// Decrypts each text.
    fn decrypt_batch(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, CodecError>;

    /// Type and state to record in the snapshot. `None` if the manager is created with the first secret and that has
    /// not happened yet.
    fn provider(&self) -> Option<SecretsProvider> {
        None
    }
}

/// Maximum number of texts in one call of a [`SecretCodec`].
pub const BATCH_SIZE: usize = 1000;

/// Error of a secrets manager.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CodecError(Box<dyn Error + Send + Sync>);

impl CodecError {
    /// Wraps the error of a manager.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        CodecError(source.into())
    }
}

/// Error while encrypting or decrypting the secrets of a snapshot or plan.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The manager failed.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The manager returned the wrong number of results.
    #[error("the secrets manager gave {actual} answers for {expected} secrets")]
    Count {
        /// Number of texts.
        expected: usize,
        /// Number of results.
        actual: usize,
    },
    /// A decrypted secret is not a JSON value.
    #[error("a secret of resource '{resource}' does not hold JSON")]
    NotJson {
        /// URN of the resource.
        resource: EcoString,
        /// Error of the parser, without the text.
        #[source]
        source: serde_json::Error,
    },
}

/// Cache of ciphertexts, so that unchanged secrets are not encrypted again.
///
/// The key of an entry is a digest of the place and the text; texts are not stored. Because the place is part of the
/// key, equal secrets at two places never share a ciphertext.
#[derive(Clone, Debug, Default)]
pub struct CiphertextCache(FxHashMap<[u8; 32], EcoString>);

impl CiphertextCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of cached ciphertexts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, key: &[u8; 32]) -> Option<&EcoString> {
        self.0.get(key)
    }

    pub(crate) fn insert(&mut self, key: [u8; 32], ciphertext: EcoString) {
        self.0.insert(key, ciphertext);
    }
}

/// Place of a secret: the resource, one of its values, and the path inside that value.
pub(crate) struct Place<'a> {
    pub(crate) urn: &'a str,
    pub(crate) section: &'static str,
    pub(crate) path: &'a [Step<'a>],
}

impl Place<'_> {
    /// Property of a map that contains the secret; `None` if the secret is in a single value.
    pub(crate) fn property(&self) -> Option<&str> {
        match self.path.first() {
            Some(Step::Key(key)) => Some(key),
            Some(Step::Index(_)) | None => None,
        }
    }

    /// Cache key for a text at this place.
    pub(crate) fn key(&self, plaintext: &Plaintext) -> [u8; 32] {
        let mut digest = Sha256::new();
        let mut part = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        part(self.urn.as_bytes());
        part(self.section.as_bytes());
        for step in self.path {
            match step {
                Step::Key(key) => part(key.as_bytes()),
                Step::Index(index) => part(&index.to_le_bytes()),
            }
        }
        part(plaintext.reveal().as_bytes());
        digest.finalize().into()
    }
}
