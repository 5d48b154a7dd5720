//! Errors of secrets managers, salts and ciphertexts.

use std::sync::Arc;

use crate::KeyError;

/// Error of a secrets manager. No variant holds plaintext.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The passphrase does not match the salt.
    #[error("incorrect passphrase")]
    IncorrectPassphrase,
    /// No passphrase is set.
    #[error(
        "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables"
    )]
    NoPassphrase,
    /// The source of the passphrase failed.
    #[error("could not get the passphrase")]
    PassphraseSource(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The salt of a passphrase manager is malformed.
    #[error("invalid encryption salt")]
    Salt(#[from] SaltError),
    /// The state of a manager is malformed.
    #[error("invalid state of the `{kind}` secrets provider")]
    State {
        /// Type of the manager.
        kind: String,
        /// Error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// The key service does not wrap or unwrap the data key.
    #[error(transparent)]
    Key(#[from] Arc<KeyError>),
    /// The existing values are encrypted with another data key than the named address would give.
    #[error("the secrets were not encrypted with `{url}`, the key that is named now")]
    OtherKey {
        /// Address of the requested key.
        url: String,
    },
    /// A value cannot be decrypted.
    #[error("failed to decrypt")]
    Decrypt(#[from] CipherError),
    /// The manager is a [`crate::LockedManager`], which has only type and state.
    #[error("cannot encrypt or decrypt secrets of the `{kind}` secrets provider: {reason}")]
    Locked {
        /// Type of the manager.
        kind: String,
        /// Why it is locked.
        reason: LockReason,
    },
    /// The system's source of random numbers failed.
    #[error("could not get random numbers from the system")]
    Random(#[source] getrandom::Error),
}

/// Reason why a manager is locked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockReason {
    /// The type exists, but is not part of this build.
    #[error("this type of provider is not supported yet")]
    NotBuilt,
    /// The type is unknown.
    #[error("no known secrets provider has this type")]
    UnknownKind,
    /// The type is supported, but its passphrase or key service is not available.
    #[error("it could not be opened")]
    NotOpened,
}

/// Reason why a salt string is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaltError {
    /// Parts are missing or surplus.
    #[error("expected `v1:<salt>:<verification value>`")]
    Malformed,
    /// The version is unknown.
    #[error("unknown version")]
    UnknownVersion,
    /// The salt is not base64.
    #[error("the salt is not valid base64")]
    NotBase64,
}

/// Reason why a ciphertext cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// Parts are missing or surplus.
    #[error("bad ciphertext: expected three parts")]
    Malformed,
    /// The version is unknown.
    #[error("bad ciphertext: unknown version")]
    UnknownVersion,
    /// A part is not base64.
    #[error("bad ciphertext: not valid base64")]
    NotBase64,
    /// The nonce has the wrong length.
    #[error("bad ciphertext: the nonce is not 12 bytes long")]
    NonceLength,
    /// The ciphertext was made with another key, or was changed.
    #[error("message authentication failed")]
    Authentication,
    /// The decrypted bytes are not UTF-8.
    #[error("the decrypted value is not valid UTF-8")]
    NotText,
}
