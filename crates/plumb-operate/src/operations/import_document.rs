//! Files that list the resources to `import` (`cli.md` 3.6).

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use crate::go::json::{Form, decode};
use crate::{Error, go};

/// List of the resources to import, as in the file of `--file`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportFile {
    #[serde(default, deserialize_with = "null_or")]
    pub(super) name_table: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "null_or")]
    pub(super) resources: Vec<FileResource>,
    #[serde(default, deserialize_with = "null_or")]
    pub(super) provider_inputs: BTreeMap<String, serde_json::Value>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileResource {
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) r#type: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) name: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) id: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) parent: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) provider: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) version: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) plugin_download_url: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) logical_name: String,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(super) properties: Vec<String>,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub(super) component: bool,
    #[serde(
        default,
        deserialize_with = "null_or",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub(super) remote: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameterization: Option<FileParameterization>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extension: Option<FileExtension>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inputs: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outputs: Option<serde_json::Value>,
}

/// Base plugin of a parameterized package. The package itself is the one in the type.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileParameterization {
    #[serde(default)]
    pub(super) plugin_name: String,
    #[serde(default)]
    pub(super) plugin_version: String,
    #[serde(default)]
    pub(super) value: String,
}

/// Extension of the plugin that serves the type.
#[derive(Deserialize, Serialize)]
pub(super) struct FileExtension {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) value: String,
}

/// Deserializes a field that SDKs write as `null` instead of omitting it.
fn null_or<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    field: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(field)?.unwrap_or_default())
}

const TEXTS: Form = Form::List("[]string", &Form::Text("string"));
const PROPERTIES: Form = Form::Map("map[string]interface {}", &Form::Any);

const PARAMETERIZATION: Form = Form::Struct(
    "operations",
    "importParameterization",
    &[
        ("pluginName", Form::Text("string")),
        ("pluginVersion", Form::Text("string")),
        ("value", Form::Bytes),
    ],
);

const EXTENSION: Form = Form::Struct(
    "operations",
    "importExtension",
    &[
        ("name", Form::Text("string")),
        ("version", Form::Text("string")),
        ("value", Form::Bytes),
    ],
);

const RESOURCE: Form = Form::Struct(
    "operations",
    "importSpec",
    &[
        ("type", Form::Text("tokens.Type")),
        ("name", Form::Text("string")),
        ("id", Form::Text("resource.ID")),
        ("parent", Form::Text("string")),
        ("provider", Form::Text("string")),
        ("version", Form::Text("string")),
        ("pluginDownloadUrl", Form::Text("string")),
        ("properties", TEXTS),
        ("component", Form::Bool),
        ("remote", Form::Bool),
        ("inputs", PROPERTIES),
        ("outputs", PROPERTIES),
        ("logicalName", Form::Text("string")),
        ("parameterization", PARAMETERIZATION),
        ("extension", EXTENSION),
    ],
);

const FILE: Form = Form::Struct(
    "operations",
    "importFile",
    &[
        (
            "nameTable",
            Form::Map("map[string]urn.URN", &Form::Text("urn.URN")),
        ),
        (
            "resources",
            Form::List("[]operations.importSpec", &RESOURCE),
        ),
        (
            "providerInputs",
            Form::Map("map[string]map[string]interface {}", &PROPERTIES),
        ),
    ],
);

/// Reads a file.
pub(super) fn read(path: &str, cwd: &Path) -> Result<ImportFile, Error> {
    let failed = |why: String| Error::user(format!("could not read import file: {why}"));
    let bytes = std::fs::read(cwd.join(path)).map_err(|error| {
        failed(match error.kind() {
            std::io::ErrorKind::IsADirectory => format!("read {path}: {}", go::reason(&error)),
            _ => go::open(path, &error),
        })
    })?;
    parse(&String::from_utf8_lossy(&bytes)).map_err(failed)
}

/// Parses the text of a file.
pub(super) fn parse(text: &str) -> Result<ImportFile, String> {
    let document = decode(text, FILE)?;
    let file: Option<ImportFile> =
        serde_json::from_value(document).map_err(|error| error.to_string())?;
    Ok(file.unwrap_or_default())
}
