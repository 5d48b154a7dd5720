//! `PulumiPlugin.yaml`: manifests of plugins in source form, which a language host runs (`protocol.md` 15.2).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plumb_project::yaml::{SyntaxError, ToJsonError, parse, to_json};
use serde_json::{Map, Value};

/// Name of the file.
pub const MANIFEST_FILE: &str = "PulumiPlugin.yaml";

/// The language that a plugin is written in.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginManifest {
    /// Name of the language.
    pub runtime: String,
    /// Options for its host.
    pub options: Map<String, Value>,
}

/// Errors of reading a manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The file is not YAML.
    #[error("could not parse {}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: SyntaxError,
    },
    /// The YAML uses a feature beyond plain data.
    #[error("could not understand {}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: ToJsonError,
    },
    /// The file names no language.
    #[error("{} names no `runtime`", path.display())]
    NoRuntime {
        /// The file.
        path: PathBuf,
    },
}

impl PluginManifest {
    /// Reads the file in `directory`.
    pub fn read(directory: &Path) -> Result<Self, ManifestError> {
        let path = directory.join(MANIFEST_FILE);
        Self::from_json(&read_manifest(&path)?).ok_or(ManifestError::NoRuntime { path })
    }

    /// The language that a manifest names; `None` if it names none.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        match value.get("runtime")? {
            Value::String(runtime) => Some(PluginManifest {
                runtime: runtime.clone(),
                options: Map::new(),
            }),
            Value::Object(runtime) => Some(PluginManifest {
                runtime: runtime.get("name")?.as_str()?.to_owned(),
                options: runtime
                    .get("options")
                    .and_then(Value::as_object)
                    .cloned()
                    .unwrap_or_default(),
            }),
            _ => None,
        }
    }
}

/// Parses the manifest of a plugin or a policy pack.
pub(crate) fn read_manifest(path: &Path) -> Result<Value, ManifestError> {
    let path = path.to_owned();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(ManifestError::Read { path, source }),
    };
    let document = match parse(&text) {
        Ok(document) => document,
        Err(source) => return Err(ManifestError::Syntax { path, source }),
    };
    match document.root.as_ref().map(to_json) {
        Some(Ok(value)) => Ok(value),
        Some(Err(source)) => Err(ManifestError::Data { path, source }),
        None => Err(ManifestError::NoRuntime { path }),
    }
}
