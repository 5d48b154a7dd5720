//! Upgrade of snapshots written by old programs to the form that the engine expects (`engine.md` 3.6).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{ResourceId, ResourceKind, ResourceState, TypeToken, Urn};
use plumb_value::PropertyMap;
use rustc_hash::FxHashSet;

use crate::{ManifestPlugin, Snapshot};

const INTERNAL: &str = "__internal";

/// Default provider for resources without a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultProvider {
    /// Id of the provider resource: a fresh UUID.
    pub id: EcoString,
    /// Inputs from the stack's configuration and the plugin in the manifest.
    pub inputs: Arc<PropertyMap>,
}

/// Error while upgrading an old snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpgradeError<E> {
    /// Two live resources have the same URN.
    #[error("unexpected duplicate resource '{urn}'")]
    Duplicate {
        /// The URN.
        urn: Urn,
    },
    /// A default provider could not be created.
    #[error("failed to make a default provider for package '{package}'")]
    Provider {
        /// The package.
        package: EcoString,
        /// Cause.
        #[source]
        source: E,
    },
}

/// Gives every resource a provider, and every provider resource outputs. Returns whether anything changed; if so, the
/// snapshot must be saved before the deployment starts.
///
/// `make` is called once per package, with the package's plugin in the manifest if there is one.
pub fn upgrade<E>(
    snapshot: &mut Snapshot,
    mut make: impl FnMut(&str, Option<&ManifestPlugin>) -> Result<DefaultProvider, E>,
) -> Result<bool, UpgradeError<E>> {
    check_unique(snapshot)?;
    let mut providers: BTreeMap<EcoString, Arc<ResourceState>> = BTreeMap::new();
    let mut has_changed = false;
    for index in 0..snapshot.resources.len() {
        let state = snapshot.resources[index].clone();
        if let Some(outputs) = missing_outputs(&state) {
            Arc::make_mut(&mut snapshot.resources[index]).outputs = Arc::new(outputs);
            has_changed = true;
        }
        if state.kind != ResourceKind::Custom || state.provider.is_some() {
            continue;
        }
        let package = EcoString::from(state.type_token.package());
        if !providers.contains_key(&package) {
            let plugin = snapshot
                .manifest
                .plugins
                .iter()
                .find(|it| it.kind == "resource" && it.name == package);
            let made = make(&package, plugin);
            let made = made.map_err(|source| UpgradeError::Provider {
                package: package.clone(),
                source,
            })?;
            providers.insert(package.clone(), provider_state(&state.urn, &package, made));
        }
        let reference = providers
            .get(&package)
            .and_then(|provider| provider.as_provider_ref());
        Arc::make_mut(&mut snapshot.resources[index]).provider = reference;
        has_changed = true;
    }
    snapshot.resources.splice(0..0, providers.into_values());
    Ok(has_changed)
}

fn check_unique<E>(snapshot: &Snapshot) -> Result<(), UpgradeError<E>> {
    let mut live = FxHashSet::default();
    let duplicate = snapshot
        .resources
        .iter()
        .filter(|state| !state.delete)
        .find(|state| !live.insert(&state.urn));
    duplicate.map_or(Ok(()), |state| {
        Err(UpgradeError::Duplicate {
            urn: state.urn.clone(),
        })
    })
}

/// Outputs that an old provider resource lacks; `None` if it lacks none.
fn missing_outputs(state: &ResourceState) -> Option<PropertyMap> {
    let is_old = state.kind == ResourceKind::Provider
        && !state.inputs.is_empty()
        && state.outputs.is_empty();
    let mut outputs = is_old.then(|| PropertyMap::clone(&state.inputs))?;
    outputs.remove(INTERNAL);
    // Providers without settings never have outputs.
    (!outputs.is_empty()).then_some(outputs)
}

fn provider_state(user: &Urn, package: &str, made: DefaultProvider) -> Arc<ResourceState> {
    let type_token = TypeToken::provider_of(package);
    let urn = Urn::new(
        user.stack(),
        user.project(),
        "",
        type_token.as_str(),
        "default",
    );
    let mut outputs = PropertyMap::clone(&made.inputs);
    outputs.remove(INTERNAL);
    Arc::new(ResourceState {
        id: ResourceId::Known(made.id),
        inputs: made.inputs,
        outputs: Arc::new(outputs),
        ..ResourceState::new(urn, ResourceKind::Provider)
    })
}
