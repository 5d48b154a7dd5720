//! Policy packs: plugins that fix and check resources (`protocol.md` 11 and 15.8).
//!
//! [`PluginHost::analyzer`](crate::PluginHost::analyzer) starts a [`PolicyPack`]; the result is an [`Analyzer`]: a
//! [`GrpcAnalyzer`] for packs in processes of their own and for those that are functions of this process ([`linked`]), or the
//! product of a [`PackFactory`] for packs whose runtime is built into the program. Life of an analyzer: start, handshake, data of the stack, its description, its configuration
//! ([`config`]), then the calls, and Cancel at the end.

pub mod config;
mod grpc;
pub mod linked;
mod manifest;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use ecow::EcoString;
use plumb_resource::policy::{
    Analysis, AnalyzedResource, PolicyInfo, PolicyPackInfo, Remedies, StackResource,
};
use plumb_wire::analyzer::{AnalyzerInfo, PolicyConfig};

pub(crate) use grpc::Greeting;
pub use grpc::GrpcAnalyzer;
use linked::LinkedPack;
pub use manifest::{POLICY_MANIFEST_FILE, PolicyManifest};

use crate::host::HostError;
use crate::process::Environment;

/// A policy pack to start.
#[derive(Clone, Debug)]
pub struct PolicyPack {
    /// Name that the user knows the pack by, for messages.
    pub name: String,
    /// Place of its rules.
    pub place: PackPlace,
    /// Environment variables of this pack, in addition to those of every pack.
    pub environment: Environment,
}

/// Place of the rules of a policy pack.
#[derive(Clone, Debug)]
pub enum PackPlace {
    /// Folder or executable. Absolute.
    Path(PathBuf),
    /// Functions of this process.
    Linked(LinkedPack),
}

/// A running policy pack.
#[async_trait]
pub trait Analyzer: Send + Sync {
    /// Version of the library that the pack is written with, if the pack reports one.
    async fn plugin_version(&self) -> Result<Option<String>, AnalyzerError>;
    /// Description of the pack and its policies.
    async fn info(&self) -> Result<AnalyzerInfo, AnalyzerError>;
    /// Configures the policies of the pack.
    async fn configure(
        &self,
        configs: &BTreeMap<EcoString, PolicyConfig>,
    ) -> Result<(), AnalyzerError>;
    /// Lets the pack fix the inputs of a resource. Packs that do not know the call change nothing.
    async fn remediate(&self, resource: &AnalyzedResource) -> Result<Remedies, AnalyzerError>;
    /// Checks a resource against the policies.
    async fn analyze(&self, resource: &AnalyzedResource) -> Result<Analysis, AnalyzerError>;
    /// Checks all resources of a stack against the policies. Packs that do not know the call report no violations.
    async fn analyze_stack(&self, resources: &[StackResource]) -> Result<Analysis, AnalyzerError>;
    /// Asks the pack to finish its running calls soon. Advisory.
    async fn cancel(&self);
    /// Shuts the pack down in an orderly way. Safe to call more than once.
    async fn shutdown(&self);
}

/// A pack whose runtime is built into the program, to be loaded.
#[derive(Clone, Copy)]
pub struct PackSources<'a> {
    /// Name that the user knows the pack by, for messages.
    pub name: &'a str,
    /// Folder of the pack. Absolute.
    pub directory: &'a Path,
    /// Content of its `PulumiPolicy.yaml`.
    pub manifest: &'a PolicyManifest,
    /// The stack to check.
    pub stack: &'a AnalyzedStack,
}

/// Cause of an error from code outside of this crate.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Loader of the packs of one runtime.
pub type PackFactory =
    Box<dyn Fn(PackSources<'_>) -> Result<Arc<dyn Analyzer>, AnyError> + Send + Sync>;

/// The stack to check. Holds secrets in plain text.
#[derive(Clone, Default)]
pub struct AnalyzedStack {
    /// Project name.
    pub project: String,
    /// Stack name.
    pub stack: String,
    /// Organization name.
    pub organization: String,
    /// Whether this is a preview.
    pub dry_run: bool,
    /// Configuration, `namespace:key` to plain text; structured values as JSON.
    pub config: BTreeMap<String, String>,
    /// Keys of the configuration that are secret.
    pub config_secret_keys: Vec<String>,
    /// Tags of the stack.
    pub tags: BTreeMap<String, String>,
}

/// Errors of starting and calling policy packs.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzerError {
    /// There is no pack at this place.
    #[error(
        "failed to load Pulumi policy project located at {pack:?}: open {}: no such file or directory",
        manifest.display()
    )]
    NotFound {
        /// The pack.
        pack: String,
        /// Path of the missing manifest.
        manifest: PathBuf,
    },
    /// The pack does not start.
    #[error("policy pack {pack:?} failed to start")]
    Start {
        /// The pack.
        pack: String,
        /// Cause.
        #[source]
        source: Box<HostError>,
    },
    /// The sources of the pack cannot be used.
    #[error("policy pack {pack:?} failed to start")]
    Sources {
        /// The pack.
        pack: String,
        /// Cause.
        #[source]
        source: AnyError,
    },
    /// The dependencies of the pack are missing or too old.
    #[error(
        "policy pack {pack:?} failed to start: pulumi SDK does not support policy as code; it may be that the pack's \
         dependencies are not installed: run `npm install` or `yarn install` in {}", directory.display()
    )]
    NoSdk {
        /// The pack.
        pack: String,
        /// Folder of the pack.
        directory: PathBuf,
    },
    /// A call failed, or its answer does not fit.
    #[error("policy pack {pack:?}: {call} failed: {message}")]
    Call {
        /// The pack.
        pack: String,
        /// Name of the call.
        call: &'static str,
        /// Message of the pack.
        message: String,
    },
    /// A value cannot be encoded for the pack, or an answer of the pack cannot be decoded.
    #[error("policy pack {pack:?}: {call} failed")]
    Value {
        /// The pack.
        pack: String,
        /// Name of the call.
        call: &'static str,
        /// Cause.
        #[source]
        source: plumb_wire::Error,
    },
}

/// Description of a pack for a deployment. Configured enforcement levels override those that the pack reports.
pub fn pack_info(
    info: &AnalyzerInfo,
    config: &BTreeMap<EcoString, PolicyConfig>,
    local_path: Option<&str>,
) -> PolicyPackInfo {
    let policies = info.policies.iter().map(|policy| PolicyInfo {
        level: config
            .get(&policy.info.name)
            .map_or(policy.info.level, |config| config.level),
        ..policy.info.clone()
    });
    PolicyPackInfo {
        name: info.name.clone(),
        version: info.version.clone(),
        local_path: local_path.map(Into::into),
        policies: policies.collect(),
    }
}
