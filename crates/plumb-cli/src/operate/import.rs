//! What `import` is asked to adopt (`cli.md` 3.6).

use std::collections::BTreeMap;

use plumb_deploy::setup::ImportSpec;
use plumb_resource::Urn;
use serde::Deserialize;

use super::args::ImportArgs;
use crate::Error;

/// The file of `--file`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImportFile {
    #[serde(default)]
    name_table: BTreeMap<String, String>,
    #[serde(default)]
    resources: Vec<FileResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileResource {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    parent: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    version: String,
    #[serde(default, alias = "pluginDownloadURL")]
    plugin_download_url: String,
    #[serde(default)]
    logical_name: String,
    #[serde(default)]
    properties: Vec<String>,
    #[serde(default)]
    component: bool,
    #[serde(default)]
    remote: bool,
    parameterization: Option<serde_json::Value>,
    extension: Option<serde_json::Value>,
    inputs: Option<serde_json::Value>,
    outputs: Option<serde_json::Value>,
}

/// What to import into `stack` of `project`.
pub(super) fn specs(
    args: &ImportArgs,
    stack: &str,
    project: &str,
) -> Result<Vec<ImportSpec>, Error> {
    match &args.file {
        Some(path) => from_file(path, args, stack, project),
        None => inline(args).map(|spec| vec![spec]),
    }
}

fn named_urn(flag: &str, text: &str) -> Result<(String, Urn), Error> {
    let (name, urn) = text.split_once('=').ok_or_else(|| {
        Error::user(format!(
            "could not parse --{flag} '{text}': expected the form name=urn"
        ))
    })?;
    Ok((name.to_owned(), Urn::parse(urn)?))
}

fn inline(args: &ImportArgs) -> Result<ImportSpec, Error> {
    let [type_token, name, id] = args.arguments.as_slice() else {
        return Err(Error::user(
            "an inline resource must be specified if no converter or import file is used: \
             pulumi import <type> <name> <id>",
        ));
    };
    let parent = args
        .parent
        .as_deref()
        .map(|text| named_urn("parent", text))
        .transpose()?;
    let provider = args
        .provider
        .as_deref()
        .map(|text| named_urn("provider", text))
        .transpose()?;
    Ok(ImportSpec {
        type_token: type_token.as_str().into(),
        name: name.as_str().into(),
        id: id.as_str().into(),
        parent: parent.map(|(_, urn)| urn),
        provider: provider.map(|(_, urn)| urn),
        version: "".into(),
        download_url: "".into(),
        protect: args.protect,
        properties: args.properties.iter().map(Into::into).collect(),
        inputs: None,
    })
}

fn from_file(
    path: &str,
    args: &ImportArgs,
    stack: &str,
    project: &str,
) -> Result<Vec<ImportSpec>, Error> {
    if !args.arguments.is_empty() {
        return Err(Error::user(
            "an inline resource may not be specified in conjunction with an import file",
        ));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::user(format!("could not read import file {path}: {error}")))?;
    let file: ImportFile = serde_json::from_str(&text)
        .map_err(|error| Error::user(format!("could not parse import file {path}: {error}")))?;
    let mut urns: BTreeMap<String, Urn> = BTreeMap::new();
    for (name, urn) in &file.name_table {
        urns.insert(name.clone(), Urn::parse(urn)?);
    }
    let mut problems = Vec::new();
    let mut specs = Vec::new();
    // Names of the file may be used before the entry that defines them.
    let mut waiting: Vec<&FileResource> = file.resources.iter().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut later = Vec::new();
        for resource in waiting {
            let is_known = |name: &str| name.is_empty() || urns.contains_key(name);
            if !is_known(&resource.parent) {
                later.push(resource);
                continue;
            }
            let parent = urns.get(&resource.parent).cloned();
            let name = if resource.logical_name.is_empty() {
                &resource.name
            } else {
                &resource.logical_name
            };
            let parent_type = parent.as_ref().map_or("", Urn::qualified_type);
            let urn = Urn::new(stack, project, parent_type, &resource.r#type, name);
            urns.insert(resource.name.clone(), urn);
            match spec(resource, name, parent, &urns, args) {
                Ok(spec) => specs.push(spec),
                Err(problem) => problems.push(problem),
            }
        }
        if later.len() == before {
            problems.extend(later.iter().map(|resource| {
                format!(
                    "the parent '{}' for resource '{}' has no entry in 'nameTable'",
                    resource.parent, resource.name
                )
            }));
            break;
        }
        waiting = later;
    }
    match problems.as_slice() {
        [] => Ok(specs),
        [only] => Err(Error::user(only.clone())),
        _ => Err(Error::user(problems.join("\n"))),
    }
}

fn spec(
    resource: &FileResource,
    name: &str,
    parent: Option<Urn>,
    urns: &BTreeMap<String, Urn>,
    args: &ImportArgs,
) -> Result<ImportSpec, String> {
    let FileResource {
        r#type: token, id, ..
    } = resource;
    if token.is_empty() {
        return Err(format!("resource '{name}' has no type"));
    }
    if id.is_empty() && !resource.component {
        return Err(format!("resource '{name}' of type '{token}' has no ID"));
    }
    let unbuilt = [
        (resource.component || resource.remote, "components"),
        (
            resource.parameterization.is_some() || resource.extension.is_some(),
            "parameterized packages",
        ),
        (
            resource.inputs.is_some() || resource.outputs.is_some(),
            "supplied inputs and outputs",
        ),
    ];
    if let Some((_, what)) = unbuilt.iter().find(|(used, _)| *used) {
        return Err(format!(
            "resource '{name}': importing {what} is not supported yet"
        ));
    }
    let provider = match resource.provider.as_str() {
        "" => None,
        provider => Some(urns.get(provider).cloned().ok_or_else(|| {
            format!("the provider '{provider}' for resource '{name}' has no entry in 'nameTable'")
        })?),
    };
    Ok(ImportSpec {
        type_token: token.as_str().into(),
        name: name.into(),
        id: id.as_str().into(),
        parent,
        provider,
        version: resource.version.as_str().into(),
        download_url: resource.plugin_download_url.as_str().into(),
        protect: args.protect,
        properties: resource.properties.iter().map(Into::into).collect(),
        inputs: None,
    })
}
