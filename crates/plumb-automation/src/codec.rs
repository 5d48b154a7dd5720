//! Secrets managers as the codec of snapshots.

use std::sync::Arc;

use plumb_backend::{KeyRecord, StateKeys};
use plumb_secrets::{
    CloudKeys, LockReason, LockedManager, Passphrases, Plaintext, SecretsManager, StateKey,
};
use plumb_state::{CodecError, RawJson, SecretCodec, SecretsProvider};
use serde_json::value::RawValue;

/// Adapter of a secrets manager for snapshots.
pub struct ManagerCodec(pub Arc<dyn SecretsManager>);

impl SecretCodec for ManagerCodec {
    fn encrypt_batch(
        &self,
        plaintexts: &[&plumb_state::Plaintext],
    ) -> Result<Vec<String>, CodecError> {
        let texts: Vec<Plaintext> = plaintexts.iter().map(|text| text.reveal().into()).collect();
        self.0.encrypt(&texts).map_err(CodecError::new)
    }

    fn decrypt_batch(
        &self,
        ciphertexts: &[&str],
    ) -> Result<Vec<plumb_state::Plaintext>, CodecError> {
        let texts = self.0.decrypt(ciphertexts).map_err(CodecError::new)?;
        Ok(texts
            .iter()
            .map(|text| plumb_state::Plaintext::new(text.expose().to_owned()))
            .collect())
    }
}

/// Record of a manager in a snapshot.
pub fn provider_of(manager: &dyn SecretsManager) -> SecretsProvider {
    SecretsProvider {
        type_name: manager.kind().into(),
        state: RawJson::parse(manager.state().get()).ok(),
    }
}

/// Manager that a snapshot records. A snapshot without one gets a manager that fails when it is used.
pub fn recorded_manager(
    provider: Option<&SecretsProvider>,
    passphrases: &Passphrases,
    keys: &CloudKeys,
) -> Result<Arc<dyn SecretsManager>, RecordedError> {
    let Some(provider) = provider else {
        let locked = LockedManager::new("", RawValue::NULL, LockReason::NotOpened);
        return Ok(Arc::new(locked));
    };
    let state = provider.state.as_ref().map_or("null", RawJson::as_str);
    let state = RawValue::from_string(state.to_owned())?;
    Ok(plumb_secrets::open(
        &provider.type_name,
        &state,
        passphrases,
        keys,
    )?)
}

/// Opens keys of whole states with the managers that have encrypted them.
pub fn state_keys(passphrases: Passphrases, keys: CloudKeys) -> Arc<dyn StateKeys> {
    Arc::new(move |record: &KeyRecord| {
        let provider = SecretsProvider {
            type_name: record.provider.kind.as_str().into(),
            state: RawJson::parse(&record.provider.state.to_string()).ok(),
        };
        let manager = recorded_manager(Some(&provider), &passphrases, &keys)?;
        Ok(StateKey::open(&record.key, manager.as_ref())?)
    })
}

/// Errors of [`recorded_manager`].
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The record is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The record is not that of a manager.
    #[error(transparent)]
    Manager(#[from] plumb_secrets::Error),
}
