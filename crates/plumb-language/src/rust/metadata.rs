//! Cargo's metadata of a program and its dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use plumb_plugin::language::ProgramInfo;
use serde::Deserialize;

use super::cargo;
use crate::LanguageOptions;
use crate::compiled::CompiledError;
use crate::plugin_file::PluginFile;

/// The output of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Crate>,
    resolve: Resolve,
}

/// A crate.
#[derive(Debug, Deserialize)]
pub(super) struct Crate {
    pub(super) name: String,
    pub(super) version: semver::Version,
    pub(super) manifest_path: PathBuf,
    id: String,
    #[serde(default)]
    metadata: Option<CrateMetadata>,
}

/// Metadata that a crate has for tools other than Cargo.
#[derive(Debug, Deserialize)]
struct CrateMetadata {
    #[serde(default)]
    pulumi: Option<PluginFile>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

impl Crate {
    /// Plugin named by the manifest of the crate.
    pub(super) fn described(&self) -> Option<PluginFile> {
        self.metadata.as_ref()?.pulumi.clone()
    }
}

impl Metadata {
    pub(super) async fn read(
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<Self, CompiledError> {
        let tool = cargo(&["metadata", "--format-version=1"], options, info)?;
        let text = tool.capture().await?;
        serde_json::from_str(&text).map_err(|source| CompiledError::ToolOutput {
            command: tool.display(),
            source,
        })
    }

    /// The crates that the program's own needs: directly, or all of them. Crates of the same workspace that it does not
    /// need do not count.
    pub(super) fn needed(&self, info: &ProgramInfo, transitive: bool) -> Vec<&Crate> {
        let manifest = info.program_directory.join("Cargo.toml");
        let manifest = manifest.canonicalize().unwrap_or(manifest);
        let edges: BTreeMap<&str, &[String]> = self
            .resolve
            .nodes
            .iter()
            .map(|node| (node.id.as_str(), node.dependencies.as_slice()))
            .collect();
        let dependencies = |id: &str| edges.get(id).copied().unwrap_or_default();
        let Some(root) = self.packages.iter().find(|it| it.manifest_path == manifest) else {
            return Vec::new();
        };
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = dependencies(&root.id).iter().map(String::as_str).collect();
        while let Some(id) = open.pop() {
            if found.insert(id) && transitive {
                open.extend(dependencies(id).iter().map(String::as_str));
            }
        }
        let packages = self.packages.iter();
        packages
            .filter(|it| found.contains(it.id.as_str()))
            .collect()
    }
}
