//! Policy packs: plugins that mend and judge resources (`protocol.md` 11 and 15.8).
//!
//! [`PluginHost::analyzer`](crate::PluginHost::analyzer) starts a [`PolicyPack`]; [`GrpcAnalyzer`] speaks to it. Life of an
//! analyzer: start, handshake, the facts of the stack, what it tells of itself, its configuration ([`config`]), then the
//! calls, and Cancel at the end.

pub mod config;
mod grpc;
mod manifest;

use std::collections::BTreeMap;
use std::path::PathBuf;

use plumb_resource::policy::{PolicyInfo, PolicyPackInfo};
use plumb_wire::analyzer::AnalyzerInfo;

pub(crate) use grpc::Greeting;
pub use grpc::GrpcAnalyzer;
pub use manifest::{POLICY_MANIFEST_FILE, PolicyManifest};

use crate::host::HostError;
use crate::process::Environment;

/// A policy pack to start.
#[derive(Clone, Debug)]
pub struct PolicyPack {
    /// What the user calls it, for messages.
    pub name: String,
    /// Its folder, or its executable. Absolute.
    pub path: PathBuf,
    /// Variables that it needs besides those that every pack gets.
    pub environment: Environment,
}

/// The stack that packs look at. Holds secrets in the clear.
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

/// Why a policy pack cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzerError {
    /// There is nothing.
    #[error(
        "failed to load Pulumi policy project located at {pack:?}: open {}: no such file or directory",
        manifest.display()
    )]
    NotFound {
        /// The pack.
        pack: String,
        /// The file that a pack has.
        manifest: PathBuf,
    },
    /// It does not start.
    #[error("policy pack {pack:?} failed to start")]
    Start {
        /// The pack.
        pack: String,
        /// Why.
        #[source]
        source: Box<HostError>,
    },
    /// Its dependencies are not installed, or too old.
    #[error(
        "policy pack {pack:?} failed to start: pulumi SDK does not support policy as code; it may be that the pack's \
         dependencies are not installed: run `npm install` or `yarn install` in {}", directory.display()
    )]
    NoSdk {
        /// The pack.
        pack: String,
        /// Its folder.
        directory: PathBuf,
    },
    /// It does not answer, or not with what was asked.
    #[error("policy pack {pack:?}: {call} failed: {message}")]
    Call {
        /// The pack.
        pack: String,
        /// What was asked.
        call: &'static str,
        /// What it said.
        message: String,
    },
    /// Something cannot be sent to it, or what it sent cannot be read.
    #[error("policy pack {pack:?}: {call} failed")]
    Value {
        /// The pack.
        pack: String,
        /// What was asked.
        call: &'static str,
        /// Why.
        #[source]
        source: plumb_wire::Error,
    },
}

/// What a run needs to know of a pack. What it was configured with comes before what it says of itself.
pub fn pack_info(
    info: &AnalyzerInfo,
    config: &BTreeMap<ecow::EcoString, plumb_wire::analyzer::PolicyConfig>,
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
