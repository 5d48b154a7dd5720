//! What `import` is asked to adopt (`cli.md` 3.6).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_deploy::setup::{ImportSpec, ImportSubject};
use plumb_resource::provider::{Parameterization, PluginSpec};
use plumb_resource::{TypeToken, Urn};
use plumb_value::{PropertyMap, Value};
use serde::{Deserialize, Deserializer, Serialize};

use super::args::ImportArgs;
use crate::Error;

/// The file of `--file`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImportFile {
    #[serde(default, deserialize_with = "null_or")]
    pub(super) name_table: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "null_or")]
    pub(super) resources: Vec<FileResource>,
    #[serde(default, deserialize_with = "null_or")]
    pub(super) provider_inputs: serde_json::Map<String, serde_json::Value>,
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
        alias = "pluginDownloadURL",
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

/// The plugin of a package that is served with a parameter; the package itself is that of the type.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileParameterization {
    pub(super) plugin_name: String,
    #[serde(default)]
    pub(super) plugin_version: String,
    #[serde(default)]
    pub(super) value: String,
}

/// A package that adds to what the plugin of the type serves.
#[derive(Deserialize, Serialize)]
pub(super) struct FileExtension {
    pub(super) name: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) value: String,
}

/// A field that SDKs write as `null` when there is nothing to say.
fn null_or<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    field: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(field)?.unwrap_or_default())
}

/// What to import, and what the user calls resources.
#[derive(Clone)]
pub(super) struct Listing {
    pub(super) specs: Vec<ImportSpec>,
    pub(super) names: BTreeMap<Urn, String>,
}

impl Listing {
    /// The URN that an entry gets in `stack` of `project`.
    pub(super) fn urn(spec: &ImportSpec, stack: &str, project: &str) -> Urn {
        let parent = spec.parent.as_ref().map_or("", Urn::qualified_type);
        Urn::new(stack, project, parent, &spec.type_token, &spec.name)
    }
}

/// What to import into `stack` of `project`.
pub(super) fn listing(args: &ImportArgs, stack: &str, project: &str) -> Result<Listing, Error> {
    match &args.file {
        Some(path) => {
            if !args.arguments.is_empty() {
                return Err(Error::user(
                    "an inline resource may not be specified in conjunction with an import file",
                ));
            }
            let text = std::fs::read_to_string(path).map_err(|error| {
                Error::user(format!("could not read import file {path}: {error}"))
            })?;
            let file: ImportFile = serde_json::from_str(&text).map_err(|error| {
                Error::user(format!("could not parse import file {path}: {error}"))
            })?;
            from_file(&file, args.protect, stack, project)
                .map_err(|problems| Error::user(problems.join("\n")))
        }
        None => inline(args),
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

fn inline(args: &ImportArgs) -> Result<Listing, Error> {
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
    let named = parent.iter().chain(&provider);
    let names = named
        .map(|(name, urn)| (urn.clone(), name.clone()))
        .collect();
    let spec = ImportSpec {
        type_token: type_token.as_str().into(),
        name: name.as_str().into(),
        subject: ImportSubject::Object {
            id: id.as_str().into(),
        },
        parent: parent.map(|(_, urn)| urn),
        provider: provider.map(|(_, urn)| urn),
        plugin: PluginSpec::named(package_of(type_token)),
        extension: None,
        protect: args.protect,
        properties: args.properties.iter().map(Into::into).collect(),
        inputs: None,
        outputs: None,
    };
    Ok(Listing {
        specs: vec![spec],
        names,
    })
}

/// The package that serves a type, or that a provider provides.
fn package_of(type_token: &str) -> &str {
    type_token
        .strip_prefix("pulumi:providers:")
        .unwrap_or_else(|| type_token.split(':').next().unwrap_or_default())
}

pub(super) fn from_file(
    file: &ImportFile,
    protect: bool,
    stack: &str,
    project: &str,
) -> Result<Listing, Vec<String>> {
    let mut problems = Vec::new();
    if !file.provider_inputs.is_empty() {
        problems.push(
            "'providerInputs' is not supported: list the provider among the 'resources', with its 'inputs'"
                .to_owned(),
        );
    }
    let mut urns: BTreeMap<&str, Urn> = BTreeMap::new();
    for (name, text) in &file.name_table {
        match Urn::parse(text) {
            Ok(urn) => drop(urns.insert(name, urn)),
            Err(error) => problems.push(format!("'{name}' in 'nameTable': {error}")),
        }
    }
    problems.append(&mut name_resources(file, &mut urns, stack, project));
    let mut specs = Vec::new();
    for resource in &file.resources {
        match spec(resource, &urns, protect) {
            Ok(spec) => specs.push(spec),
            Err(problem) => problems.push(problem),
        }
    }
    let names = urns
        .into_iter()
        .map(|(name, urn)| (urn, name.to_owned()))
        .collect();
    if problems.is_empty() {
        Ok(Listing { specs, names })
    } else {
        Err(problems)
    }
}

/// Gives the resources of a file their URNs, by their names in the file. A name may be used before the entry that defines
/// it. Answers which parents there are not.
fn name_resources<'a>(
    file: &'a ImportFile,
    urns: &mut BTreeMap<&'a str, Urn>,
    stack: &str,
    project: &str,
) -> Vec<String> {
    let mut waiting: Vec<&FileResource> = file.resources.iter().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|resource| {
            let parent = urns.get(resource.parent.as_str());
            if parent.is_none() && !resource.parent.is_empty() {
                return true;
            }
            let parent_type = parent.map_or("", Urn::qualified_type);
            let name = resource.logical_name();
            let urn = Urn::new(stack, project, parent_type, &resource.r#type, name);
            urns.insert(&resource.name, urn);
            false
        });
        if waiting.len() == before {
            break;
        }
    }
    let missing = |resource: &&FileResource| {
        format!(
            "the parent '{}' for resource '{}' has no entry in 'nameTable'",
            resource.parent, resource.name
        )
    };
    waiting.iter().map(missing).collect()
}

impl FileResource {
    fn logical_name(&self) -> &str {
        if self.logical_name.is_empty() {
            &self.name
        } else {
            &self.logical_name
        }
    }

    fn subject(&self) -> Result<ImportSubject, String> {
        let (token, name) = (&self.r#type, &self.name);
        match (self.component || self.remote, self.id.as_str()) {
            (true, "") if self.remote => Ok(ImportSubject::RemoteComponent),
            (true, "") => Ok(ImportSubject::Component),
            (true, _) => Err(format!(
                "import {name} cannot specify an ID as it's a component"
            )),
            (false, "") => Err(format!("resource '{name}' of type '{token}' has no ID")),
            (false, id) => Ok(ImportSubject::Object { id: id.into() }),
        }
    }

    /// The plugin that serves the type.
    fn plugin(&self) -> Result<PluginSpec, String> {
        let package = package_of(&self.r#type);
        let mut plugin = match &self.parameterization {
            None => PluginSpec {
                version: self.parse_version(&self.version)?,
                ..PluginSpec::named(package)
            },
            Some(it) => PluginSpec {
                version: self.parse_version(&it.plugin_version)?,
                parameterization: Some(self.parameter(package, &self.version, &it.value)?),
                ..PluginSpec::named(&it.plugin_name)
            },
        };
        let url = self.plugin_download_url.trim_end_matches('/');
        plugin.download_url = (!url.is_empty()).then(|| url.into());
        Ok(plugin)
    }

    fn parse_version(&self, text: &str) -> Result<Option<semver::Version>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        semver::Version::parse(text.trim_start_matches('v'))
            .map(Some)
            .map_err(|error| {
                let name = &self.name;
                format!("could not parse version '{text}' of resource '{name}': {error}")
            })
    }

    fn parameter(
        &self,
        name: &str,
        version: &str,
        value: &str,
    ) -> Result<Parameterization, String> {
        let value = STANDARD.decode(value).map_err(|error| {
            let resource = &self.name;
            format!("the parameter of resource '{resource}' is not base64: {error}")
        })?;
        Ok(Parameterization {
            name: name.into(),
            version: version.into(),
            value: value.into(),
        })
    }

    /// Supplied inputs or outputs, in the form of state files.
    fn properties(&self, value: Option<&serde_json::Value>) -> Result<Option<PropertyMap>, String> {
        let Some(value) = value else { return Ok(None) };
        let name = &self.name;
        match plumb_state::file::parse_value(&value.to_string()) {
            Ok(Value::Object(map)) => Ok(Some(map.as_ref().clone())),
            Ok(_) => Err(format!(
                "the properties of resource '{name}' are not an object"
            )),
            Err(error) => Err(format!(
                "could not read the properties of resource '{name}': {error}"
            )),
        }
    }
}

fn spec(
    resource: &FileResource,
    urns: &BTreeMap<&str, Urn>,
    protect: bool,
) -> Result<ImportSpec, String> {
    let name = &resource.name;
    if resource.r#type.is_empty() {
        return Err(format!("resource '{name}' has no type"));
    }
    let subject = resource.subject()?;
    if subject != ImportSubject::Component
        && let Err(error) = TypeToken::managed(&resource.r#type)
    {
        return Err(format!("resource '{name}': {error}"));
    }
    let provider = match resource.provider.as_str() {
        "" => None,
        provider => Some(urns.get(provider).cloned().ok_or_else(|| {
            format!("the provider '{provider}' for resource '{name}' has no entry in 'nameTable'")
        })?),
    };
    let extension = match &resource.extension {
        None => None,
        Some(it) => Some(resource.parameter(&it.name, &it.version, &it.value)?),
    };
    Ok(ImportSpec {
        type_token: resource.r#type.as_str().into(),
        name: resource.logical_name().into(),
        subject,
        parent: urns.get(resource.parent.as_str()).cloned(),
        provider,
        plugin: resource.plugin()?,
        extension,
        protect,
        properties: resource.properties.iter().map(Into::into).collect(),
        inputs: resource.properties(resource.inputs.as_ref())?,
        outputs: resource.properties(resource.outputs.as_ref())?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn specs_of(file: serde_json::Value) -> Result<Vec<ImportSpec>, Vec<String>> {
        let file: ImportFile = serde_json::from_value(file).unwrap();
        from_file(&file, true, "dev", "proj").map(|listing| listing.specs)
    }

    /// IMPORT-14, IMPORT-15, IMPORT-16: parents and providers by name, wherever they stand.
    #[test]
    fn names_of_the_file_may_be_used_before_they_are_defined() {
        let specs = specs_of(json!({
            "nameTable": {"old": "urn:pulumi:dev::proj::lab:index:Group::old"},
            "resources": [
                {"type": "lab:index:Thing", "name": "a", "id": "1", "parent": "g", "provider": "p"},
                {"type": "lab:index:Group", "name": "g", "component": true, "parent": "old", "logicalName": "group"},
                {"type": "pulumi:providers:lab", "name": "p", "id": "x", "inputs": {"key": "value"}, "version": "1.2.3"},
                {"type": "lab:index:Far", "name": "far", "component": true, "remote": true},
            ],
        }))
        .unwrap();
        let [a, g, p, far] = specs.as_slice() else {
            panic!("{specs:?}");
        };
        let group = Urn::new("dev", "proj", "lab:index:Group", "lab:index:Group", "group");
        assert_eq!(a.parent.as_ref(), Some(&group));
        let provider = Urn::new("dev", "proj", "", "pulumi:providers:lab", "p");
        assert_eq!(a.provider.as_ref(), Some(&provider));
        assert_eq!(
            (g.name.as_str(), &g.subject),
            ("group", &ImportSubject::Component)
        );
        assert_eq!(p.plugin.name, "lab");
        assert_eq!(p.plugin.version, Some(semver::Version::new(1, 2, 3)));
        assert_eq!(p.inputs, Some(PropertyMap::new().with("key", "value")));
        assert_eq!(far.subject, ImportSubject::RemoteComponent);
    }

    /// SDKs write out every field.
    #[test]
    fn null_means_nothing() {
        let thing = json!({"type": "lab:index:Thing", "name": "a", "id": "1", "parent": null, "properties": null});
        let specs = specs_of(json!({"resources": [thing], "nameTable": null}));
        assert_eq!(specs.unwrap().len(), 1);
        assert_eq!(specs_of(json!({"resources": null})).unwrap().len(), 0);
    }

    /// IMPORT-04, IMPORT-09, IMPORT-10
    #[test]
    fn parameters_and_properties_are_read() {
        let specs = specs_of(json!({"resources": [
            {
                "type": "sub:index:Thing", "name": "a", "id": "1", "version": "0.5.0",
                "parameterization": {"pluginName": "base", "pluginVersion": "1.0.0", "value": "eA=="},
                "inputs": {"key": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"s\""}},
                "outputs": {},
            },
            {
                "type": "base:index:Thing", "name": "b", "id": "2",
                "extension": {"name": "ext", "version": "0.1.0", "value": "eA=="},
            },
        ]}))
        .unwrap();
        let parameter = |name: &str, version: &str| Parameterization {
            name: name.into(),
            version: version.into(),
            value: b"x".as_slice().into(),
        };
        let plugin = &specs[0].plugin;
        assert_eq!(plugin.name, "base");
        assert_eq!(plugin.version, Some(semver::Version::new(1, 0, 0)));
        assert_eq!(plugin.parameterization, Some(parameter("sub", "0.5.0")));
        let secret = PropertyMap::new().with("key", Value::secret("s".into()));
        assert_eq!(specs[0].inputs, Some(secret));
        assert_eq!(specs[0].outputs, Some(PropertyMap::new()));
        assert_eq!(specs[1].extension, Some(parameter("ext", "0.1.0")));
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let problems = specs_of(json!({"resources": [
            {"type": "lab:index:Thing", "name": "a"},
            {"name": "b", "id": "1"},
            {"type": "lab:index:Group", "name": "c", "id": "1", "component": true},
            {"type": "lab:index:Thing", "name": "d", "id": "1", "parent": "x"},
            {"type": "lab:index:Thing", "name": "e", "id": "1", "provider": "y"},
        ]}))
        .unwrap_err();
        assert_eq!(
            problems,
            [
                "the parent 'x' for resource 'd' has no entry in 'nameTable'",
                "resource 'a' of type 'lab:index:Thing' has no ID",
                "resource 'b' has no type",
                "import c cannot specify an ID as it's a component",
                "the provider 'y' for resource 'e' has no entry in 'nameTable'",
            ]
        );
    }
}
