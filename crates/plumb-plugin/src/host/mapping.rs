//! Mappings from packages of other ecosystems, served by plugins (`protocol.md` 10.2).
//!
//! 1. The plugin named as likely is asked first, then the newest version of each other installed plugin.
//! 2. A plugin that lists the wanted mapping is asked for it by name.
//! 3. Any other plugin is asked for its mapping without a name; the answer counts if it is the wanted one.
//!
//! Where it is known which plugin stands for the other package, [`PluginHost::own_mapping`] asks that one alone.

use std::collections::HashMap;
use std::sync::Arc;

use plumb_resource::provider::{Parameterization, PluginSpec, ProviderError};

use super::{HostError, PluginHost};
use crate::discovery::{Discovery, PluginKind};
use crate::provider::{Mapping, Provider};

/// Request for a mapping.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MappingQuery {
    /// The other ecosystem: `terraform`.
    pub ecosystem: String,
    /// Name of the package in that ecosystem.
    pub provider: String,
    /// Name of the plugin that is likely to have the mapping.
    pub plugin: String,
    /// Parameter for that plugin.
    pub parameterization: Option<Parameterization>,
}

/// Answers so far. The lock makes requests wait for each other.
#[derive(Default)]
pub(super) struct Mappings {
    known: tokio::sync::Mutex<HashMap<MappingQuery, Option<Arc<[u8]>>>>,
}

impl PluginHost {
    /// The mapping of a package of another ecosystem; `None` if no plugin has it. Answers are remembered.
    pub async fn mapping(&self, query: &MappingQuery) -> Result<Option<Arc<[u8]>>, HostError> {
        let mut known = self.mappings.known.lock().await;
        if let Some(mapping) = known.get(query) {
            return Ok(mapping.clone());
        }
        let mapping = self.find_mapping(query).await?;
        known.insert(query.clone(), mapping.clone());
        Ok(mapping)
    }

    /// The mapping that the plugin named as likely has, under any name: the one for `google` calls itself `google-beta`.
    /// Other plugins are asked only if it is not installed, because starting each takes a while.
    pub async fn own_mapping(&self, query: &MappingQuery) -> Result<Option<Arc<[u8]>>, HostError> {
        let candidates = self.mapping_candidates(query);
        match candidates.first() {
            Some(spec) if spec.name == query.plugin.as_str() => {
                let found = self.ask_for_mapping(spec, query).await?;
                Ok(found.map(|it| it.data.into()))
            }
            _ => self.mapping(query).await,
        }
    }

    async fn find_mapping(&self, query: &MappingQuery) -> Result<Option<Arc<[u8]>>, HostError> {
        for spec in self.mapping_candidates(query) {
            let is_wanted = spec.name == query.plugin.as_str();
            let asked = self.ask_for_mapping(&spec, query).await;
            match asked {
                Ok(Some(found)) if found.provider == query.provider => {
                    return Ok(Some(found.data.into()));
                }
                Ok(_) => {}
                Err(error) if is_wanted => return Err(error),
                // Not an error, because the plugin is only one of many that happen to be installed.
                Err(error) => {
                    tracing::debug!(plugin = %spec.name, %error, "a plugin cannot be asked for mappings");
                }
            }
        }
        Ok(None)
    }

    /// The plugins to ask, the likely one first.
    fn mapping_candidates(&self, query: &MappingQuery) -> Vec<PluginSpec> {
        let discovery = &self.options.discovery;
        let mut candidates = installed_providers(discovery);
        let attached = self.options.attached_providers.keys();
        for name in attached {
            if !candidates.iter().any(|it| it.name == name.as_str()) {
                candidates.push(PluginSpec::named(name));
            }
        }
        let wanted = candidates
            .iter()
            .position(|it| it.name == query.plugin.as_str());
        let wanted = match wanted {
            Some(place) => candidates.remove(place),
            None => PluginSpec::named(&query.plugin),
        };
        if !self.is_installed(&wanted) {
            return candidates;
        }
        let wanted = PluginSpec {
            parameterization: query.parameterization.clone(),
            ..wanted
        };
        std::iter::once(wanted).chain(candidates).collect()
    }

    async fn ask_for_mapping(
        &self,
        spec: &PluginSpec,
        query: &MappingQuery,
    ) -> Result<Option<Mapping>, HostError> {
        let provider = self.provider(spec).await?;
        let asked = ask(provider.as_ref(), query).await;
        self.retire(provider).await;
        asked.map_err(|error| HostError::Mapping {
            plugin: spec.name.to_string(),
            error,
        })
    }
}

/// The newest version of every resource plugin in the cache; none if the cache cannot be read.
fn installed_providers(discovery: &Discovery) -> Vec<PluginSpec> {
    let plugins = discovery.cache.list().unwrap_or_default();
    let mut newest: Vec<PluginSpec> = Vec::new();
    // The list is sorted by name, newest version first.
    for plugin in plugins {
        let is_known = newest.iter().any(|it| it.name == plugin.name.as_str());
        if plugin.kind == PluginKind::Resource && !is_known {
            newest.push(PluginSpec {
                version: plugin.version,
                ..PluginSpec::named(&plugin.name)
            });
        }
    }
    newest
}

async fn ask(
    provider: &dyn Provider,
    query: &MappingQuery,
) -> Result<Option<Mapping>, ProviderError> {
    let key = query.ecosystem.as_str();
    let listed = provider.get_mappings(key).await?.unwrap_or_default();
    let wanted = if listed.contains(&query.provider) {
        query.provider.as_str()
    } else {
        ""
    };
    provider.get_mapping(key, wanted).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Cache;

    #[test]
    fn the_newest_version_of_each_provider_is_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "resource-aa-v1.0.0",
            "resource-aa-v1.10.0",
            "resource-aa-v1.9.0",
            "resource-bb-v0.1.0",
            "language-cc-v1.0.0",
        ] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let discovery = Discovery {
            project: Vec::new(),
            search_path: None,
            bundled: None,
            cache: Cache::new(folder.path().to_owned()),
            accept_newer: false,
        };
        let found = installed_providers(&discovery);
        let named = |spec: &PluginSpec| {
            let version = spec.version.as_ref();
            (spec.name.to_string(), version.map(ToString::to_string))
        };
        let found: Vec<_> = found.iter().map(named).collect();
        let of = |name: &str, version: &str| (name.to_owned(), Some(version.to_owned()));
        assert_eq!(found, [of("aa", "1.10.0"), of("bb", "0.1.0")]);
    }
}
