//! `pulumi-plugin.json`: the plugin that a language's package needs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_plugin::PluginKind;
use plumb_plugin::language::PackageDependency;
use plumb_resource::provider::Parameterization;
use serde::Deserialize;

/// Name of the file.
pub(crate) const PLUGIN_FILE: &str = "pulumi-plugin.json";

/// Error for an unusable plugin file.
#[derive(Debug, thiserror::Error)]
pub enum PluginFileError {
    /// The file cannot be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The file cannot be parsed.
    #[error("could not understand {}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: serde_json::Error,
    },
}

/// Contents of the file. Manifests of some languages contain them under a key of their own.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PluginFile {
    #[serde(default)]
    pub(crate) resource: bool,
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    parameterization: Option<Parameter>,
    #[serde(default, rename = "extensionParameterization")]
    extension: Option<Parameter>,
}

#[derive(Clone, Debug, Deserialize)]
struct Parameter {
    name: String,
    version: String,
    value: String,
}

impl PluginFile {
    /// Implicit contents for a package without the file.
    pub(crate) fn bare() -> Self {
        PluginFile {
            resource: true,
            ..PluginFile::default()
        }
    }

    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, PluginFileError> {
        let text = fs::read(path).map_err(|source| PluginFileError::Read {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_slice(&text).map_err(|source| PluginFileError::Parse {
            path: path.to_owned(),
            source,
        })
    }

    /// Name in the file, unless it is empty.
    pub(crate) fn given_name(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| !name.is_empty())
    }

    /// Version in the file, unless it is empty.
    pub(crate) fn given_version(&self) -> Option<&str> {
        self.version
            .as_deref()
            .filter(|version| !version.is_empty())
    }

    /// The package, with the name and the version that the caller has determined.
    pub(crate) fn package(self, name: String, version: semver::Version) -> PackageDependency {
        PackageDependency {
            name,
            kind: PluginKind::Resource,
            version: Some(version),
            server: self.server.filter(|server| !server.is_empty()),
            checksums: BTreeMap::new(),
            parameterization: self.parameterization.and_then(Parameter::decoded),
            extension: self.extension.and_then(Parameter::decoded),
        }
    }
}

impl Parameter {
    fn decoded(self) -> Option<Parameterization> {
        use base64::Engine as _;
        let value = base64::engine::general_purpose::STANDARD
            .decode(self.value)
            .ok()?;
        Some(Parameterization {
            name: self.name.into(),
            version: self.version.into(),
            value: Arc::from(value),
        })
    }
}
