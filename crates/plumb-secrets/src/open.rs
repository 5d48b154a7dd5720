//! Opening of managers by the type and state in a state file.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::{
    BASE64, Base64Manager, CLOUD, CloudKeys, Error, LockReason, LockedManager, PASSPHRASE,
    Passphrases, SecretsManager,
};

/// Types of managers that exist but are not part of this build.
const NOT_BUILT: [&str; 1] = ["service"];

/// Whether this type of manager exists, built in or not.
pub fn is_known(kind: &str) -> bool {
    [PASSPHRASE, CLOUD, BASE64].contains(&kind) || NOT_BUILT.contains(&kind)
}

/// Opens the manager with this type and state. A type that is not built in gives a locked manager.
pub fn open(
    kind: &str,
    state: &RawValue,
    passphrases: &Passphrases,
    keys: &CloudKeys,
) -> Result<Arc<dyn SecretsManager>, Error> {
    match kind {
        PASSPHRASE => Ok(Arc::new(passphrases.open_state(state)?)),
        CLOUD => Ok(Arc::new(keys.open_state(state)?)),
        BASE64 => Ok(Arc::new(Base64Manager)),
        other => {
            let is_known = NOT_BUILT.contains(&other);
            let reason = if is_known {
                LockReason::NotBuilt
            } else {
                LockReason::UnknownKind
            };
            Ok(Arc::new(LockedManager::new(other, state, reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(kind: &str, state: &str) -> Result<Arc<dyn SecretsManager>, Error> {
        let passphrases = Passphrases::new(|| Err(Error::NoPassphrase));
        open(
            kind,
            &RawValue::from_string(state.to_owned()).unwrap(),
            &passphrases,
            &CloudKeys::new(()),
        )
    }

    #[test]
    fn managers_that_are_not_built_keep_their_state_and_fail_when_used() {
        for (kind, reason) in [
            ("service", LockReason::NotBuilt),
            ("strange", LockReason::UnknownKind),
        ] {
            let manager = opened(kind, r#"{"url": "https://x", "owner": "me"}"#).unwrap();
            assert_eq!(manager.kind(), kind);
            assert_eq!(manager.state().get(), r#"{"url":"https://x","owner":"me"}"#);
            assert!(manager.decrypt(&[]).unwrap().is_empty());
            let error = manager.decrypt(&["v1:x:y"]).err().unwrap();
            assert!(
                matches!(&error, Error::Locked { kind: of, reason: why } if of == kind && *why == reason)
            );
            assert!(error.to_string().contains(kind));
            assert!(matches!(
                manager.encrypt(&["x".into()]),
                Err(Error::Locked { .. })
            ));
            assert!(matches!(manager.check(), Err(Error::Locked { .. })));
        }
    }

    #[test]
    fn a_passphrase_manager_opens_without_passphrase_and_keeps_its_state() {
        let state =
            r#"{"salt":"v1:AAECAwQFBgc=:v1:42jLEahAhg1+3Vc+:ZLpjQ9vzWGlgd7XNHFY8O9Amb4bWSg=="}"#;
        let manager = opened("passphrase", state).unwrap();
        assert_eq!(manager.state().get(), state);
        assert!(matches!(
            manager.encrypt(&["x".into()]),
            Err(Error::NoPassphrase)
        ));
        assert!(matches!(manager.check(), Err(Error::NoPassphrase)));
    }

    #[test]
    fn a_state_that_makes_no_sense_is_refused() {
        assert!(matches!(
            opened("passphrase", "null"),
            Err(Error::State { .. })
        ));
        assert!(matches!(
            opened("passphrase", r#"{"salt":"v1"}"#),
            Err(Error::Salt(_))
        ));
        assert!(matches!(
            opened("cloud", r#"{"url":"awskms://x"}"#),
            Err(Error::State { .. })
        ));
        assert!(opened("b64", "null").unwrap().check().is_ok());
    }
}
