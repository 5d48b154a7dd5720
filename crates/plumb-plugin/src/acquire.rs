//! Acquisition and verification of plugins, as a trait. This crate does not know how plugins are published, downloaded or
//! locked.

use async_trait::async_trait;
use plumb_resource::provider::PluginSpec;
use semver::Version;

use crate::discovery::{FoundPlugin, PluginKind};

/// Reason why a plugin could not be acquired, as an error to show to the user.
pub type AcquireFailure = Box<dyn std::error::Error + Send + Sync>;

/// Installs missing plugins, and verifies plugins before they are started.
#[async_trait]
pub trait Acquire: Send + Sync {
    /// Whether missing plugins are installed at all.
    fn gets_plugins(&self) -> bool;

    /// Whether only plugins in the project's lock file may be started.
    fn takes_only_locked(&self) -> bool;

    /// The version of the lock file for a plugin requested without a version; `None` leaves the choice to the host.
    fn locked_version(&self, kind: PluginKind, name: &str) -> Option<Version>;

    /// Checks that the project accepts a plugin from the search path or the cache; an error is the reason against it. Called
    /// before each start.
    async fn verify(&self, plugin: &FoundPlugin) -> Result<(), AcquireFailure>;

    /// The plugin whose sources are in the repository at `address`. If the address has no version, one is selected.
    async fn locate(&self, address: &str) -> Result<PluginSpec, AcquireFailure> {
        Err(format!("plugins are not got from repositories here ({address})").into())
    }

    /// Installs a plugin into the cache in which the host looks.
    async fn acquire(&self, kind: PluginKind, spec: &PluginSpec) -> Result<(), AcquireFailure>;
}
