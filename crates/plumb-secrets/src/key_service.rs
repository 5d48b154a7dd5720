//! Key services: whoever holds the key that data keys are wrapped with.
//!
//! This crate knows how to use one, and none by itself: the callers of [`crate::CloudKeys`] bring theirs.

use std::fmt;

use zeroize::Zeroizing;

/// Wraps and unwraps data keys with one key that never leaves its service.
pub trait KeyService: Send + Sync {
    /// Encrypts a data key. One request to the service, apart from repeated attempts. May block.
    fn wrap(&self, key: &[u8]) -> Result<Vec<u8>, KeyError>;

    /// Decrypts a wrapped data key. One request to the service, apart from repeated attempts. May block.
    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError>;
}

/// Finds the service that an address names.
pub trait KeyServices: Send + Sync {
    /// Opens the key at `url`, such as `awskms://alias/name?region=eu-west-1`. Sends nothing anywhere.
    fn open(&self, url: &str) -> Result<Box<dyn KeyService>, KeyError>;
}

/// No key service at all, for programs that have none.
impl KeyServices for () {
    fn open(&self, url: &str) -> Result<Box<dyn KeyService>, KeyError> {
        Err(KeyError::NotBuilt {
            scheme: url.split("://").next().unwrap_or_default().to_owned(),
        })
    }
}

/// An action of a key service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    /// Encrypts the data key of a new manager.
    Wrap,
    /// Decrypts the data key of an existing manager.
    Unwrap,
}

impl fmt::Display for KeyAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyAction::Wrap => "encrypt",
            KeyAction::Unwrap => "decrypt",
        })
    }
}

/// The key behind an address cannot be used. No variant holds a data key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The address makes no sense.
    #[error("invalid address of a key `{url}`: {problem}")]
    Address {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The service exists, but not in this build.
    #[error("this build of the program has no support for keys at `{scheme}://`")]
    NotBuilt {
        /// The scheme of the address.
        scheme: String,
    },
    /// The service refused, or did not answer.
    #[error("could not {action} the data key with `{url}`: {failure}; {advice}")]
    Call {
        /// The address of the key.
        url: String,
        /// The request.
        action: KeyAction,
        /// The answer, or its absence.
        failure: String,
        /// How the user can make it work: the permission to grant, the setting to change.
        advice: String,
    },
    /// The service answered with something that is no data key.
    #[error("the data key from `{url}` is {length} bytes long instead of 32")]
    Length {
        /// The address of the key.
        url: String,
        /// Its length.
        length: usize,
    },
    /// The wrapped data key is damaged.
    #[error("the encrypted data key for `{url}` is not valid base64")]
    NotBase64 {
        /// The address of the key.
        url: String,
    },
}
