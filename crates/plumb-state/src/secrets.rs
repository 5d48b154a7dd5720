//! Where secrets managers plug in.

use std::error::Error;

use ecow::EcoString;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::snapshot::SecretsProvider;
use crate::value::Step;

/// Decrypted text of one secret. It has no text form of its own, and its memory is wiped when it goes.
pub struct Plaintext(Zeroizing<String>);

impl Plaintext {
    /// Takes decrypted text.
    pub fn new(text: String) -> Self {
        Plaintext(Zeroizing::new(text))
    }

    /// The text, for the one who encrypts or reads it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Encrypts and decrypts many texts at a time.
///
/// Answers come in the order of the questions, one for each. Calls hold at most [`BATCH_SIZE`] texts and never none, so
/// that a manager can be opened when the first call comes.
pub trait SecretCodec {
    /// Encrypts every text.
    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, CodecError>;

    /// Decrypts every text.
    fn decrypt_batch(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, CodecError>;

    /// What a state has to record so that this codec is found again. One that is made with the first secret has nothing
    /// to say before.
    fn provider(&self) -> Option<SecretsProvider> {
        None
    }
}

/// The most texts that one call of a [`SecretCodec`] gets.
pub const BATCH_SIZE: usize = 1000;

/// Why a secrets manager could not do its work.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CodecError(Box<dyn Error + Send + Sync>);

impl CodecError {
    /// Wraps the manager's own error.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        CodecError(source.into())
    }
}

/// Secrets could not be encrypted or decrypted.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The manager failed.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The manager gave fewer or more answers than it was asked for.
    #[error("the secrets manager gave {actual} answers for {expected} secrets")]
    Count {
        /// Number of questions.
        expected: usize,
        /// Number of answers.
        actual: usize,
    },
    /// A decrypted secret is not what a secret must be.
    #[error("a secret of resource '{resource}' does not hold JSON")]
    NotJson {
        /// URN of the resource.
        resource: EcoString,
        /// What the parser says, without the text.
        #[source]
        source: serde_json::Error,
    },
}

/// Remembers which ciphertext stands for which secret, so that a secret that did not change is not encrypted again.
///
/// Entries are found by a digest of the place and the text; the texts themselves are not kept. Because the place is part
/// of it, equal secrets in two places never share a ciphertext.
#[derive(Clone, Debug, Default)]
pub struct CiphertextCache(FxHashMap<[u8; 32], EcoString>);

impl CiphertextCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of secrets that are remembered.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is remembered.
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

/// Where a secret stands: the resource, which of its values, and the way inside that value.
pub(crate) struct Place<'a> {
    pub(crate) urn: &'a str,
    pub(crate) section: &'static str,
    pub(crate) path: &'a [Step<'a>],
}

impl Place<'_> {
    /// The property of a map that holds the secret; none where the secret is part of a single value.
    pub(crate) fn property(&self) -> Option<&str> {
        match self.path.first() {
            Some(Step::Key(key)) => Some(key),
            Some(Step::Index(_)) | None => None,
        }
    }

    /// The key under which the cache knows this text at this place.
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
