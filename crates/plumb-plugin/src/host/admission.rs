//! Which of the plugins that are found may be started: all of them pass here, whatever their kind.
//!
//! A plugin that the project file names by its path, and one that lies beside the program, is part of the project or of the
//! program. Plugins of the search path and the cache are what somebody vouches for ([`Acquire`](crate::Acquire)).

use plumb_resource::provider::PluginSpec;

use super::{HostError, PluginHost};
use crate::discovery::{FindError, FoundPlugin, PluginKind, PluginSource};

impl PluginHost {
    /// Finds a plugin. Where no version is asked for and the lock file decides, it is the locked one of the cache.
    pub(crate) fn find(
        &self,
        kind: PluginKind,
        spec: &PluginSpec,
    ) -> Result<FoundPlugin, FindError> {
        let discovery = &self.options.discovery;
        let found = discovery.find_spec(kind, spec)?;
        let Some(acquire) = &self.options.acquire else {
            return Ok(found);
        };
        if spec.version.is_some() || found.source != PluginSource::Cache {
            return Ok(found);
        }
        let plugin = discovery.cache.owner_of(&found.executable);
        let locked = plugin.and_then(|plugin| acquire.locked_version(kind, &plugin.name));
        match locked {
            Some(version) if found.version.as_ref() != Some(&version) => {
                let spec = PluginSpec {
                    version: Some(version),
                    ..spec.clone()
                };
                discovery.find_spec(kind, &spec)
            }
            _ => Ok(found),
        }
    }

    /// The plugin, if it may be started; says what there is to say of the choice.
    pub(crate) async fn admitted(&self, found: FoundPlugin) -> Result<FoundPlugin, HostError> {
        let is_own = matches!(found.source, PluginSource::Project | PluginSource::Bundled);
        if let Some(acquire) = self.options.acquire.as_ref().filter(|_| !is_own)
            && let Err(source) = acquire.verify(&found).await
        {
            return Err(HostError::Unverified {
                path: found.executable,
                source,
            });
        }
        found.warnings.iter().for_each(|warning| self.warn(warning));
        Ok(found)
    }
}
