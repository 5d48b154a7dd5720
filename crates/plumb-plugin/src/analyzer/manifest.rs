//! `PulumiPolicy.yaml`: how to run a policy pack (`languages.md` 11).

use std::path::Path;

use serde_json::Value;

use crate::discovery::{ManifestError, PluginManifest, read_manifest};

/// Name of the file.
pub const POLICY_MANIFEST_FILE: &str = "PulumiPolicy.yaml";

/// Content of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyManifest {
    /// The language of the pack and the options for its host.
    pub plugin: PluginManifest,
    /// Version of the pack, which overrides the one that the pack reports.
    pub version: Option<String>,
    /// Folder of the program, relative to the folder of the pack.
    pub main: Option<String>,
    /// Purpose of the pack, for packs that report none.
    pub description: Option<String>,
    /// Shape of the input of rules in Rego, if it is not the usual one.
    pub input_format: Option<String>,
}

impl PolicyManifest {
    /// Reads the file in `directory`.
    pub fn read(directory: &Path) -> Result<Self, ManifestError> {
        let path = directory.join(POLICY_MANIFEST_FILE);
        let value = read_manifest(&path)?;
        let text = |key: &str| {
            let text = value.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(ToOwned::to_owned)
        };
        let plugin = PluginManifest::from_json(&value).ok_or(ManifestError::NoRuntime { path })?;
        Ok(PolicyManifest {
            plugin,
            version: text("version"),
            main: text("main"),
            description: text("description"),
            input_format: text("inputFormat"),
        })
    }

    /// Version in the file next to an executable, if there is such a file.
    pub(crate) fn version_beside(executable: &Path) -> Option<String> {
        let path = executable.parent()?.join(POLICY_MANIFEST_FILE);
        let value = read_manifest(&path).ok()?;
        let version = value.get("version")?.as_str()?;
        (!version.is_empty()).then(|| version.to_owned())
    }
}
