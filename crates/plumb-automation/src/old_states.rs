//! States of old programs, whose resources have no providers (`engine.md` 3.6).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use ecow::EcoString;
use plumb_state::Snapshot;
use plumb_state::upgrade::{DefaultProvider, UpgradeError, upgrade};
use plumb_value::{PropertyMap, Value};
use uuid::Uuid;

/// The state with the missing providers, configured by `config` (`namespace:key` to value); `None` if none are missing.
pub fn with_providers(
    base: &Snapshot,
    config: &BTreeMap<EcoString, Value>,
) -> Result<Option<Snapshot>, UpgradeError<Infallible>> {
    let mut snapshot = base.clone();
    let changed = upgrade(&mut snapshot, |package, plugin| {
        let mut inputs: PropertyMap = config
            .iter()
            .filter_map(|(key, value)| {
                let name = key.strip_prefix(package)?.strip_prefix(':')?;
                Some((EcoString::from(name).into(), value.clone()))
            })
            .collect();
        if let Some(version) = plugin
            .map(|plugin| plugin.version.clone())
            .filter(|version| !version.is_empty())
        {
            inputs.insert("version", version);
        }
        Ok::<_, Infallible>(DefaultProvider {
            id: EcoString::from(Uuid::new_v4().to_string()),
            inputs: Arc::new(inputs),
        })
    })?;
    Ok(changed.then_some(snapshot))
}
