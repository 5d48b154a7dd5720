//! List of resources to `import` (`cli.md` 3.6): the file of `--file`, or the arguments of the command.

use std::collections::BTreeMap;
use std::path::Path;

use plumb_resource::Urn;
use serde::{Deserialize, Deserializer, Serialize};

use super::args::{Discovered, ImportArgs};
use crate::go::json::{Form, decode};
use crate::{Error, go};

/// The file of `--file`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImportFile {
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

/// List from flags and arguments; `None` for a converter, which runs later.
pub(super) fn asked(args: &ImportArgs, cwd: &Path) -> Result<Option<ImportFile>, Error> {
    if !args.discovered.is_empty() {
        return Ok(Some(discovered(&args.discovered)));
    }
    match (&args.file, &args.from) {
        (Some(path), _) => {
            let is_inline = !args.arguments.is_empty()
                || !args.properties.is_empty()
                || args.parent.as_deref().is_some_and(|it| !it.is_empty())
                || args.provider.as_deref().is_some_and(|it| !it.is_empty());
            if is_inline {
                return Err(Error::user(
                    "an inline resource may not be specified in conjunction with an import file",
                ));
            }
            if args.from.is_some() {
                return Err(Error::user(
                    "a converter may not be specified in conjunction with an import file",
                ));
            }
            read(path, cwd).map(Some)
        }
        (None, Some(_)) => Ok(None),
        (None, None) => inline(args).map(Some),
    }
}

/// The resources of `--discover` that were chosen.
fn discovered(chosen: &[Discovered]) -> ImportFile {
    let resources = chosen.iter().cloned();
    let resources = resources.map(|chosen| FileResource {
        r#type: chosen.type_token,
        name: chosen.name,
        id: chosen.id,
        ..FileResource::default()
    });
    ImportFile {
        resources: resources.collect(),
        ..ImportFile::default()
    }
}

fn read(path: &str, cwd: &Path) -> Result<ImportFile, Error> {
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

/// The single resource in the arguments.
fn inline(args: &ImportArgs) -> Result<ImportFile, Error> {
    let missing = |what: &str| {
        Err(Error::user(format!(
            "an inline resource must be specified if no converter or import file is used, missing {what}"
        )))
    };
    let [type_token, name, id] = match args.arguments.as_slice() {
        [] => return missing("type, name, and id"),
        [_] => return missing("name and id"),
        [_, _] => return missing("id"),
        [type_token, name, id] => [type_token, name, id].map(Clone::clone),
        _ => return Err(Error::user("only expected at most three arguments")),
    };
    let mut file = ImportFile::default();
    let mut resource = FileResource {
        r#type: type_token,
        name,
        id,
        properties: args.properties.clone(),
        ..FileResource::default()
    };
    if let Some(text) = args.parent.as_deref().filter(|text| !text.is_empty()) {
        let (name, urn) = named_urn(text, "parent");
        if Urn::parse(&urn).is_err() {
            return Err(Error::user(format!("invalid parent URN: '{text}'")));
        }
        file.name_table.insert(name.clone(), urn);
        resource.parent = name;
    }
    if let Some(text) = args.provider.as_deref().filter(|text| !text.is_empty()) {
        let (name, urn) = named_urn(text, "provider");
        if file.name_table.contains_key(&name) {
            return Err(Error::user(format!(
                "provider and parent must have distinct names, both were '{name}'"
            )));
        }
        file.name_table.insert(name.clone(), urn);
        resource.provider = name;
    }
    file.resources.push(resource);
    Ok(file)
}

/// Parses a flag of the form `name=URN`. Any other text is a URN without a name.
fn named_urn(text: &str, name: &str) -> (String, String) {
    match text.split_once('=') {
        Some((named, urn)) if !named.is_empty() && Urn::parse(urn).is_ok() => {
            (named.to_owned(), urn.to_owned())
        }
        _ => (name.to_owned(), text.to_owned()),
    }
}
