//! Schemas of packages: each is asked for once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use plumb_resource::provider::PluginSpec;
use tokio::sync::OnceCell;

use super::{HostError, PluginHost};

/// A schema as JSON text, once it has been asked for; `None` if the package has none.
type Entry = Arc<OnceCell<Option<Arc<str>>>>;

/// The schemas that were asked for.
#[derive(Default)]
pub(super) struct Schemas(Mutex<HashMap<PluginSpec, Entry>>);

impl Schemas {
    fn entry(&self, spec: &PluginSpec) -> Entry {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.entry(spec.clone()).or_default().clone()
    }
}

impl PluginHost {
    /// The schema of a package as JSON text, `None` if it has none. A provider is booted for it, once.
    pub async fn schema(&self, spec: &PluginSpec) -> Result<Option<Arc<str>>, HostError> {
        let known = self.schemas.entry(spec);
        let schema = known
            .get_or_try_init(|| async { Ok(self.load_schema(spec).await?.map(Arc::from)) })
            .await;
        schema.cloned()
    }

    async fn load_schema(&self, spec: &PluginSpec) -> Result<Option<String>, HostError> {
        let provider = self.provider(spec).await?;
        let parameter = spec.parameterization.as_ref();
        let subpackage = parameter.map(|it| (it.name.as_str(), it.version.as_str()));
        let schema = provider.get_schema(subpackage).await;
        self.retire(provider).await;
        schema.map_err(|error| HostError::Schema {
            plugin: spec.name.to_string(),
            error,
        })
    }
}
