//! Key services, which hold the keys that wrap data keys.
//!
//! This crate only defines the traits; callers of [`crate::CloudKeys`] supply implementations.

use std::fmt;

use zeroize::Zeroizing;

/// Wraps and unwraps data keys with one key, which never leaves its service.
pub trait KeyService: Send + Sync {
    /// Encrypts a data key. Costs one request, apart from retries. May block.
    fn wrap(&self, key: &[u8]) -> Result<Vec<u8>, KeyError>;

    /// Decrypts a wrapped data key. Costs one request, apart from retries. May block.
    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError>;
}

/// Opens keys by address.
pub trait KeyServices: Send + Sync {
    /// Opens the key at `url`, such as `awskms://alias/name?region=eu-west-1`. Sends no request.
    fn open(&self, url: &str) -> Result<Box<dyn KeyService>, KeyError>;
}

/// An empty set of key services, for builds without any.
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

/// Error while using the key at an address. No variant holds a data key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The address is malformed.
    #[error("invalid address of a key `{url}`: {problem}")]
    Address {
        /// The address.
        url: String,
        /// Error in the address.
        problem: String,
    },
    /// The service is not part of this build.
    #[error("this build of the program has no support for keys at `{scheme}://`")]
    NotBuilt {
        /// The scheme of the address.
        scheme: String,
    },
    /// The service refused the request or did not respond.
    #[error("could not {action} the data key with `{url}`: {failure}; {advice}")]
    Call {
        /// The address of the key.
        url: String,
        /// The request.
        action: KeyAction,
        /// Message of the service, or the reason why there is none.
        failure: String,
        /// Advice for the user: the permission to grant or the setting to change.
        advice: String,
    },
    /// The service returned a data key of the wrong length.
    #[error("the data key from `{url}` is {length} bytes long instead of 32")]
    Length {
        /// The address of the key.
        url: String,
        /// Length in bytes.
        length: usize,
    },
    /// The wrapped data key in the state or stack file is not base64.
    #[error("the encrypted data key for `{url}` is not valid base64")]
    NotBase64 {
        /// The address of the key.
        url: String,
    },
}
