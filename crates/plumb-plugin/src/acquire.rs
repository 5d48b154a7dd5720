//! Getting plugins that are not there. How is not this crate's business.

use async_trait::async_trait;
use plumb_resource::provider::PluginSpec;

use crate::discovery::PluginKind;

/// Why a plugin could not be got, for people.
pub type AcquireFailure = Box<dyn std::error::Error + Send + Sync>;

/// Gets plugins that are not there.
#[async_trait]
pub trait Acquire: Send + Sync {
    /// Puts a plugin into the cache that the host looks into.
    async fn acquire(&self, kind: PluginKind, spec: &PluginSpec) -> Result<(), AcquireFailure>;
}
