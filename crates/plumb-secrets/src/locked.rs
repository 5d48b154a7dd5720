//! The locked manager, which stands for one that cannot be opened.

use serde_json::value::RawValue;

use crate::{Error, LockReason, Plaintext, SecretsManager, manager_state};

/// A manager that cannot be opened. It keeps type and state, so that a file whose values are not needed can be read and
/// written; encrypting or decrypting a value is an error.
#[derive(Clone, Debug)]
pub struct LockedManager {
    kind: String,
    state: Box<RawValue>,
    reason: LockReason,
}

impl LockedManager {
    /// Locked manager with this type and state.
    pub fn new(kind: &str, state: &RawValue, reason: LockReason) -> Self {
        LockedManager {
            kind: kind.to_owned(),
            state: manager_state::compact(state),
            reason,
        }
    }

    fn locked(&self) -> Error {
        Error::Locked {
            kind: self.kind.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl SecretsManager for LockedManager {
    fn kind(&self) -> &str {
        &self.kind
    }

    fn state(&self) -> &RawValue {
        &self.state
    }

    fn check(&self) -> Result<(), Error> {
        Err(self.locked())
    }

    fn encrypt(&self, texts: &[Plaintext]) -> Result<Vec<String>, Error> {
        if texts.is_empty() {
            Ok(Vec::new())
        } else {
            Err(self.locked())
        }
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        if ciphertexts.is_empty() {
            Ok(Vec::new())
        } else {
            Err(self.locked())
        }
    }
}
