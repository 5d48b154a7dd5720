//! What can go wrong.

use std::sync::Arc;

use crate::KeyError;

/// A secrets manager cannot do what was asked. No variant holds plaintext.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The passphrase does not fit the salt.
    #[error("incorrect passphrase")]
    IncorrectPassphrase,
    /// There is no passphrase to be had.
    #[error(
        "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables"
    )]
    NoPassphrase,
    /// The source of the passphrase failed.
    #[error("could not get the passphrase")]
    PassphraseSource(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The salt of a passphrase manager makes no sense.
    #[error("invalid encryption salt")]
    Salt(#[from] SaltError),
    /// The state of a manager makes no sense.
    #[error("invalid state of the `{kind}` secrets provider")]
    State {
        /// Type of the manager.
        kind: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The key service does not wrap or unwrap the data key.
    #[error(transparent)]
    Key(#[from] Arc<KeyError>),
    /// The values were encrypted with another data key than the one that would be made now.
    #[error("the secrets were not encrypted with `{url}`, the key that is named now")]
    OtherKey {
        /// The address of the key that is named.
        url: String,
    },
    /// A value cannot be decrypted.
    #[error("failed to decrypt")]
    Decrypt(#[from] CipherError),
    /// The manager only keeps type and state.
    #[error("cannot encrypt or decrypt secrets of the `{kind}` secrets provider: {reason}")]
    Locked {
        /// Type of the manager.
        kind: String,
        /// Why it is locked.
        reason: LockReason,
    },
    /// The system gives no random numbers.
    #[error("could not get random numbers from the system")]
    Random(#[source] getrandom::Error),
}

/// Why a manager is locked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockReason {
    /// This type exists, but not in this program.
    #[error("this type of provider is not supported yet")]
    NotBuilt,
    /// Nothing is known of this type.
    #[error("no known secrets provider has this type")]
    UnknownKind,
    /// What it takes to open the manager is not there.
    #[error("it could not be opened")]
    NotOpened,
}

/// What is wrong with a salt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaltError {
    /// It does not have the parts that it needs.
    #[error("expected `v1:<salt>:<verification value>`")]
    Malformed,
    /// It is of a version that is not known.
    #[error("unknown version")]
    UnknownVersion,
    /// The salt proper is not base64.
    #[error("the salt is not valid base64")]
    NotBase64,
}

/// What is wrong with a ciphertext.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// It does not have the parts that it needs.
    #[error("bad ciphertext: expected three parts")]
    Malformed,
    /// It is of a version that is not known.
    #[error("bad ciphertext: unknown version")]
    UnknownVersion,
    /// A part is not base64.
    #[error("bad ciphertext: not valid base64")]
    NotBase64,
    /// The nonce has the wrong length.
    #[error("bad ciphertext: the nonce is not 12 bytes long")]
    NonceLength,
    /// It was made with another key, or changed.
    #[error("message authentication failed")]
    Authentication,
    /// What comes out is not text.
    #[error("the decrypted value is not valid UTF-8")]
    NotText,
}
