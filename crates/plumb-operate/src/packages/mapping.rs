//! Mappings of packages to those of other ecosystems.

use plumb_resource::provider::{PluginSpec, ProviderError};

use super::plugins::Plugins;
use super::{named, path_of, plugin_at};
use crate::{Context, Error};

/// A provider's mapping for a package of another ecosystem.
pub struct Mapping {
    /// Plugin and version.
    pub plugin: String,
    /// Package of the other ecosystem.
    pub provider: String,
    /// The mapping, in an opaque format.
    pub data: Vec<u8>,
}

/// Mapping of the plugin `source` for the package `wanted` of an ecosystem; an empty name matches any package.
pub fn mapping(
    ecosystem: &str,
    source: &str,
    wanted: &str,
    parameters: &[String],
    ctx: &Context,
) -> Result<Option<Mapping>, Error> {
    let path = path_of(source, &ctx.environment.cwd);
    let (plugins, spec) = if let Some(path) = path {
        let plugin = plugin_at(&path)?;
        let spec = PluginSpec::named(&plugin.name);
        (Plugins::with_plugins(ctx, vec![plugin])?, spec)
    } else {
        (Plugins::new(ctx)?, named(source)?)
    };
    let asked = plugins
        .runtime
        .block_on(plugins.ask_mapping(&spec, ecosystem, wanted, parameters));
    plugins.runtime.block_on(plugins.host.shutdown());
    asked
}

impl Plugins {
    async fn ask_mapping(
        &self,
        spec: &PluginSpec,
        ecosystem: &str,
        wanted: &str,
        parameters: &[String],
    ) -> Result<Option<Mapping>, Error> {
        let provider = self.host.provider(spec).await?;
        let failed = |error: ProviderError| {
            Error::user(format!("the plugin {}: {}", spec.name, error.message))
        };
        if !parameters.is_empty() {
            provider
                .parameterize_with_args(parameters)
                .await
                .map_err(failed)?;
        }
        let listed = provider.get_mappings(ecosystem).await.map_err(failed)?;
        let names = listed.unwrap_or_default();
        let name = match (wanted, names.as_slice()) {
            ("", [only]) => only.as_str(),
            ("", [_, _, ..]) => {
                return Err(Error::user(format!(
                    "the plugin {} has several mappings; say which one: {}",
                    spec.name,
                    names.join(", ")
                )));
            }
            (wanted, _) => wanted,
        };
        let found = provider
            .get_mapping(ecosystem, name)
            .await
            .map_err(failed)?;
        let version = provider.info().await.ok().and_then(|info| info.version);
        let plugin = match version {
            Some(version) => format!("{}@{version}", spec.name),
            None => spec.name.to_string(),
        };
        Ok(found
            .filter(|found| !found.data.is_empty())
            .map(|found| Mapping {
                plugin,
                provider: found.provider,
                data: found.data,
            }))
    }
}
