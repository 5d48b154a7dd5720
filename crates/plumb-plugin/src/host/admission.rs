//! Admission: selection and verification of the plugins to start, of all kinds.
//!
//! Plugins that the project file names by their path, and those beside the program, are trusted as parts of the project or
//! the program. Plugins of the search path and the cache are verified through [`Acquire`](crate::Acquire).

use plumb_resource::provider::PluginSpec;

use super::{HostError, PluginHost};
use crate::discovery::{FindError, FoundPlugin, PluginKind, PluginSource};

impl PluginHost {
    /// Finds a plugin. If no version is requested and the plugin is in the cache, the version of the lock file is used.
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

    /// Verifies the plugin before its start, and reports the warnings about the choice.
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
