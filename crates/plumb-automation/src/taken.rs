//! The state of an operation: read from a stack that is locked, recorded while the operation runs, and saved at its end.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_backend::{Update, UpdateRecord};
use plumb_engine::journal::RunJournal;
use plumb_engine::{SecretsGate, with_causes};
use plumb_state::{CiphertextCache, SecretCodec as _, Snapshot};
use plumb_value::Value;
use uuid::Uuid;

use crate::operation::Operation;
use crate::secrets::StackCodec;
use crate::workspace::blocking;
use crate::{Error, config, old_states};

/// A stack whose state was read, and which was locked unless this is a preview.
pub(crate) struct Taken {
    pub(crate) update: Option<Arc<Update>>,
    pub(crate) base: Snapshot,
    /// The state with what old programs left out.
    pub(crate) upgraded: Option<Snapshot>,
    pub(crate) cache: CiphertextCache,
    pub(crate) codec: Arc<StackCodec>,
}

/// Reads the state, from a stack that is locked first unless this is a preview.
pub(crate) async fn take(
    operation: &Operation,
    config: &BTreeMap<EcoString, Value>,
) -> Result<Taken, Error> {
    let (stack, config) = (operation.stack.clone(), config.clone());
    let is_preview = operation.options.is_preview();
    blocking(move || {
        let (backend, reference) = (stack.backend(), stack.reference());
        if !backend.stack_exists(reference)? {
            return Err(Error::NoStack(reference.qualified()));
        }
        let managers = &stack.shared().managers;
        let mut cache = CiphertextCache::new();
        let (update, base, codec) = if is_preview {
            let loaded = backend.load(reference)?;
            let provider = loaded.opaque().and_then(|it| it.secrets_provider.clone());
            let codec = managers.codec(provider.as_ref())?;
            (None, loaded.decrypt(&codec, &mut cache)?, codec)
        } else {
            let id = Uuid::new_v4().to_string();
            let update = backend.begin_update(reference, &id)?;
            let latest = update.base().latest.as_ref();
            let provider = latest.and_then(|it| it.opaque().secrets_provider.clone());
            let codec = managers.codec(provider.as_ref())?;
            let base = match latest {
                Some(deployment) => deployment.decrypt(&codec, &mut cache)?,
                None => Snapshot::default(),
            };
            (Some(Arc::new(update)), base, codec)
        };
        base.verify()
            .map_err(|error| Error::State(error.to_string()))?;
        let upgraded = old_states::with_providers(&base, &config);
        Ok(Taken {
            update,
            upgraded: upgraded.map_err(|error| Error::State(with_causes(&error)))?,
            base,
            cache,
            codec: Arc::new(codec),
        })
    })
    .await
}

/// Opens once secrets can be encrypted.
pub(crate) fn gate(codec: &Arc<StackCodec>) -> SecretsGate {
    let codec = codec.clone();
    SecretsGate::new(move || codec.prepare().map_err(|error| with_causes(&error)))
}

/// Journal of the run. A state that was changed before the run is its first entry.
pub(crate) fn journal(taken: &Taken) -> Result<RunJournal, Error> {
    let (base, cache) = (taken.base.clone(), taken.cache.clone());
    let mut journal = RunJournal::new(base, taken.update.clone(), taken.codec.clone(), cache);
    if let (Some(upgraded), true) = (&taken.upgraded, taken.update.is_some()) {
        journal.begin_with(upgraded.clone())?;
    }
    Ok(journal)
}

/// Writes the state and the record of the operation, and releases the stack. Blocks.
pub(crate) fn save(
    update: Update,
    snapshot: &Snapshot,
    mut cache: CiphertextCache,
    codec: &StackCodec,
    mut record: UpdateRecord,
    config: &BTreeMap<EcoString, Value>,
) -> Result<(), Error> {
    record.config = recorded_config(config, codec)?;
    let mut encrypted = snapshot.encrypt(codec, &mut cache)?;
    // Asked for after the encryption, because the first secret adds a manager to a stack that has none.
    if let Some(provider) = codec.provider() {
        encrypted.set_secrets_provider(Some(provider));
    }
    let finished = update.finish(Some(&encrypted), Some(&record))?;
    for error in [finished.history, finished.backup].into_iter().flatten() {
        tracing::warn!(%error, "the history or the backup of the stack was not written");
    }
    Ok(())
}

/// Settings for the history, with secrets encrypted as in the files of the command line.
fn recorded_config(
    config: &BTreeMap<EcoString, Value>,
    codec: &StackCodec,
) -> Result<serde_json::Map<String, serde_json::Value>, Error> {
    let mut recorded = serde_json::Map::new();
    for (key, value) in config {
        let plain = config::plain(value);
        let json = if value.is_secret() {
            let text = plumb_state::Plaintext::new(plain);
            let encrypted = codec.encrypt_batch(&[&text]).map_err(Error::secrets)?;
            serde_json::json!({ "secure": encrypted.concat() })
        } else {
            plain.into()
        };
        recorded.insert(key.to_string(), json);
    }
    Ok(recorded)
}
