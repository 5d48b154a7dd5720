//! Runs that need a working secrets manager.
//!
//! Built-in providers declare which of their outputs are secret. Plugins do not: they may return secrets that no program
//! requested, and an object whose outputs cannot be encrypted cannot be recorded completely. Therefore the manager must work
//! before a plugin changes or reads anything. [`calls_plugins`] decides this from what is known before a run; a gate in the
//! engine covers all other cases.

use std::collections::HashSet;

use plumb_deploy::plugin_of;
use plumb_plugin::PluginHost;
use plumb_resource::ProviderRef;
use plumb_resource::provider::PluginSpec;
use plumb_state::Snapshot;

use crate::Error;

/// Whether the state contains resources of plugins that are not built in, or `packages` names such plugins.
pub(super) fn calls_plugins(base: &Snapshot, packages: &[PluginSpec], host: &PluginHost) -> bool {
    let states = || base.resources.iter();
    let used: HashSet<&ProviderRef> = states().filter_map(|it| it.provider.as_ref()).collect();
    let is_used = |reference: ProviderRef| used.contains(&reference);
    let recorded = states()
        .filter(|state| state.as_provider_ref().is_some_and(is_used))
        .filter_map(|state| plugin_of(state));
    let mut plugins = recorded.chain(packages.iter().cloned());
    plugins.any(|plugin| !host.is_builtin(&plugin))
}

/// Error with the context that scripts match.
pub(super) fn unavailable(error: plumb_secrets::Error) -> Error {
    Error::from(error)
        .context("get stack secrets manager")
        .context("getting stack configuration")
}
