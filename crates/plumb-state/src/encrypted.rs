//! The encrypted snapshot: the only form that can be written.
//!
//! Each secret in it holds its ciphertext as a string (`sealing.rs`).

use std::convert::Infallible;
use std::sync::Arc;

use plumb_resource::ResourceState;
use plumb_value::{PropertyMap, Value};

use crate::sealing::{
    Collected, OnSecret, Sealable, next_sealed, open, parse_content, rebuild_map, seal,
};
use crate::secrets::{CiphertextCache, Place, SecretCodec, SecretsError};
use crate::value::{contains_bytes, needs_sealing, plaintext_of, rebuild};
use crate::{
    AliasConflict, IntegrityErrorRecord, Manifest, PendingOperation, SecretsProvider, Snapshot,
};

/// A snapshot whose secrets are encrypted.
///
/// Everything except secrets can be read ([`EncryptedSnapshot::opaque`]) and edited (with [`crate::edit`]) without the
/// secrets manager. [`EncryptedSnapshot::decrypt`] gives the form that the engine needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncryptedSnapshot {
    pub(crate) inner: Snapshot,
    /// Whether a secret is known to hold a byte string, a feature that readers of the file must support.
    pub(crate) has_byte_strings: bool,
}

impl Sealable for Snapshot {
    fn rebuild(&self, on_secret: OnSecret<'_>) -> Result<Self, SecretsError> {
        rebuild_snapshot(self, on_secret)
    }
}

impl Snapshot {
    /// Encrypts the secrets. A secret in `cache` keeps its ciphertext; `codec` is called only for the others.
    pub fn encrypt(
        &self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<EncryptedSnapshot, SecretsError> {
        let sealed = seal(self, codec, cache)?;
        Ok(EncryptedSnapshot {
            inner: sealed.inner,
            has_byte_strings: sealed.has_byte_strings || has_bytes(self),
        })
    }

    /// States of all resources, including those of pending operations.
    pub(crate) fn states(&self) -> impl Iterator<Item = &Arc<ResourceState>> {
        self.resources.iter().chain(
            self.pending_operations
                .iter()
                .map(|pending| &pending.resource),
        )
    }
}

impl EncryptedSnapshot {
    /// The snapshot with opaque secrets, which hold only their ciphertext.
    pub fn opaque(&self) -> &Snapshot {
        &self.inner
    }

    /// Decrypts the secrets; `codec` is not called if there are none. `cache` stores the ciphertexts for the next
    /// [`Snapshot::encrypt`].
    pub fn decrypt(
        &self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Snapshot, SecretsError> {
        decrypt_snapshot(&self.inner, codec, cache)
    }

    /// Sets the recorded secrets manager, as after an import into another stack. The ciphertexts do not change.
    pub fn set_secrets_provider(&mut self, provider: Option<SecretsProvider>) {
        self.inner.secrets_provider = provider;
    }

    /// Records the result of the integrity check; `None` if it found no error.
    pub fn set_integrity_error(&mut self, error: Option<IntegrityErrorRecord>) {
        self.inner.metadata.integrity_error = error;
    }

    /// Sets the manifest: program version and time.
    pub fn set_manifest(&mut self, manifest: Manifest) {
        self.inner.manifest = manifest;
    }

    /// Whether the snapshot has any secret.
    pub fn has_secrets(&self) -> bool {
        self.inner
            .states()
            .any(|state| values_of(state).any(|value| value.needs_sealing()))
    }

    /// Replaces former URNs by current ones, see [`Snapshot::normalize_urns`].
    pub fn normalize_urns(&mut self) -> Result<(), AliasConflict> {
        self.inner.normalize_urns()
    }
}

/// Decrypts a snapshot that holds ciphertexts, and plaintext where the file had plaintext.
pub(crate) fn decrypt_snapshot(
    sealed: &Snapshot,
    codec: &dyn SecretCodec,
    cache: &mut CiphertextCache,
) -> Result<Snapshot, SecretsError> {
    open(sealed, codec, cache)
}

/// A part of a resource with property values.
enum Part<'a> {
    Map(&'a PropertyMap),
    Value(&'a Value),
}

impl Part<'_> {
    fn needs_sealing(&self) -> bool {
        match self {
            Part::Map(map) => map.values().any(needs_sealing),
            Part::Value(value) => needs_sealing(value),
        }
    }
}

fn values_of(state: &ResourceState) -> impl Iterator<Item = Part<'_>> {
    [
        Part::Map(&state.inputs),
        Part::Map(&state.outputs),
        Part::Value(&state.replacement_trigger),
    ]
    .into_iter()
}

fn holds_bytes(state: &ResourceState) -> bool {
    values_of(state).any(|part| match part {
        Part::Map(map) => map.values().any(contains_bytes),
        Part::Value(value) => contains_bytes(value),
    })
}

/// Whether any value, also inside secrets, holds a byte string.
pub(crate) fn has_bytes(snapshot: &Snapshot) -> bool {
    snapshot.states().any(|state| holds_bytes(state))
}

/// Whether a snapshot from a file holds a plaintext secret.
pub(crate) fn has_plaintext(sealed: &Snapshot) -> bool {
    let mut found = false;
    let walk = rebuild_snapshot(sealed, &mut |_, inner| {
        found |= matches!(inner, Value::Bytes(_));
        Ok(Value::Null)
    });
    walk.is_ok() && found
}

/// Encrypts the plaintext secrets of a file.
pub(crate) fn seal_plaintext(
    sealed: &Snapshot,
    codec: &dyn SecretCodec,
) -> Result<Snapshot, SecretsError> {
    let mut collected = Collected::default();
    let mut cache = CiphertextCache::new();
    rebuild_snapshot(sealed, &mut |place, inner| {
        if let Value::Bytes(text) = inner {
            let content = parse_content(place, &String::from_utf8_lossy(text))?;
            collected.push(place, &content, &cache);
        }
        Ok(Value::Null)
    })?;
    let mut ciphertexts = collected.encrypt(codec, &mut cache)?.into_iter();
    rebuild_snapshot(sealed, &mut |_, inner| {
        Ok(match inner {
            Value::Bytes(_) => next_sealed(&mut ciphertexts),
            ciphertext => Value::secret(ciphertext.clone()),
        })
    })
}

/// Whether any value outside of secrets holds a byte string.
pub(crate) fn has_plain_bytes(snapshot: &Snapshot) -> bool {
    fn outside_secrets(value: &Value) -> bool {
        let replaced: Result<Value, Infallible> =
            rebuild(value, &mut Vec::new(), &mut |_, _| Ok(Value::Null));
        let Ok(value) = replaced;
        contains_bytes(&value)
    }
    snapshot
        .states()
        .filter(|state| holds_bytes(state))
        .any(|state| {
            values_of(state).any(|part| match part {
                Part::Map(map) => map.values().any(outside_secrets),
                Part::Value(value) => outside_secrets(value),
            })
        })
}

impl CiphertextCache {
    /// The resource without the properties that hold a secret whose ciphertext is not in the cache. This part can be
    /// recorded while the secrets manager fails. Shared if no property is removed.
    ///
    /// A property that contains such a secret is removed as a whole, because null in place of the secret would be a
    /// different value.
    pub fn known_part(&self, state: &Arc<ResourceState>) -> Arc<ResourceState> {
        let mut unknown: Vec<(&str, Option<String>)> = Vec::new();
        let walked = rebuild_state(state, &mut |place, inner| {
            if self.get(&place.key(&plaintext_of(inner))).is_none() {
                unknown.push((place.section, place.property().map(ToOwned::to_owned)));
            }
            Ok(Value::Null)
        });
        walked.expect("the walk alone does not fail");
        if unknown.is_empty() {
            return state.clone();
        }
        let mut known = ResourceState::clone(state);
        for (section, property) in unknown {
            match (section, property) {
                (INPUTS, Some(key)) => drop(Arc::make_mut(&mut known.inputs).remove(&key)),
                (OUTPUTS, Some(key)) => drop(Arc::make_mut(&mut known.outputs).remove(&key)),
                _ => known.replacement_trigger = Value::Null,
            }
        }
        Arc::new(known)
    }
}

/// Rebuilds a snapshot with the content of every secret replaced. Parts without secrets are shared.
fn rebuild_snapshot(
    snapshot: &Snapshot,
    on_secret: OnSecret<'_>,
) -> Result<Snapshot, SecretsError> {
    let mut resources = Vec::with_capacity(snapshot.resources.len());
    for state in &snapshot.resources {
        resources.push(rebuild_state(state, on_secret)?);
    }
    let mut pending_operations = Vec::with_capacity(snapshot.pending_operations.len());
    for pending in &snapshot.pending_operations {
        let resource = rebuild_state(&pending.resource, on_secret)?;
        pending_operations.push(PendingOperation {
            resource,
            operation: pending.operation,
        });
    }
    Ok(Snapshot {
        manifest: snapshot.manifest.clone(),
        secrets_provider: snapshot.secrets_provider.clone(),
        resources,
        pending_operations,
        metadata: snapshot.metadata.clone(),
        snippets: snapshot.snippets.clone(),
        extensions: snapshot.extensions.clone(),
        unknown: snapshot.unknown.clone(),
    })
}

const INPUTS: &str = "inputs";
const OUTPUTS: &str = "outputs";
const REPLACEMENT_TRIGGER: &str = "replacementTrigger";

fn rebuild_state(
    state: &Arc<ResourceState>,
    on_secret: OnSecret<'_>,
) -> Result<Arc<ResourceState>, SecretsError> {
    if !values_of(state).any(|part| part.needs_sealing()) {
        return Ok(state.clone());
    }
    let urn = state.urn.as_str();
    let mut rebuilt = ResourceState::clone(state);
    rebuilt.inputs = rebuild_map(&state.inputs, urn, INPUTS, on_secret)?;
    rebuilt.outputs = rebuild_map(&state.outputs, urn, OUTPUTS, on_secret)?;
    let mut path = Vec::new();
    rebuilt.replacement_trigger =
        rebuild(&state.replacement_trigger, &mut path, &mut |path, inner| {
            on_secret(
                &Place {
                    urn,
                    section: REPLACEMENT_TRIGGER,
                    path,
                },
                inner,
            )
        })?;
    Ok(Arc::new(rebuilt))
}
