//! Getting plugins that are not there, and telling whether those that are there may be used. How is not this crate's
//! business.

use async_trait::async_trait;
use plumb_resource::provider::PluginSpec;
use semver::Version;

use crate::discovery::{FoundPlugin, PluginKind};

/// Why a plugin could not be got, for people.
pub type AcquireFailure = Box<dyn std::error::Error + Send + Sync>;

/// Gets plugins that are not there, and vouches for those that are.
#[async_trait]
pub trait Acquire: Send + Sync {
    /// Whether anything is got at all; otherwise what is missing stays missing.
    fn gets_plugins(&self) -> bool;

    /// Whether only plugins may be started that the project's lock file names.
    fn takes_only_locked(&self) -> bool;

    /// The version that stands for a plugin where none is asked for; `None` leaves the choice to the host.
    fn locked_version(&self, kind: PluginKind, name: &str) -> Option<Version>;

    /// Whether a plugin from the search path or the cache is one that the project means; an error says why not. Asked before
    /// each start.
    async fn verify(&self, plugin: &FoundPlugin) -> Result<(), AcquireFailure>;

    /// The plugin whose sources are in the repository at an address; its version is found out if the address has none.
    async fn locate(&self, address: &str) -> Result<PluginSpec, AcquireFailure> {
        Err(format!("plugins are not got from repositories here ({address})").into())
    }

    /// Puts a plugin into the cache that the host looks into.
    async fn acquire(&self, kind: PluginKind, spec: &PluginSpec) -> Result<(), AcquireFailure>;
}
