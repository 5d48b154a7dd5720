//! Resources that an import adopts, and the names by which they refer to each other (`cli.md` 3.6).

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_deploy::setup::{ImportSpec, ImportSubject};
use plumb_resource::provider::{Parameterization, PluginSpec};
use plumb_resource::{TypeToken, Urn};
use plumb_value::{PropertyMap, Value};

use super::import_document::{FileExtension, FileResource, ImportFile};
use crate::Error;
use crate::go::parse_version;

/// Resources to import, and their names in generated code.
#[derive(Clone, Default)]
pub(super) struct Listing {
    pub(super) specs: Vec<ImportSpec>,
    /// Providers that are not listed as resources, but whose inputs the file contains.
    pub(super) providers: Vec<ImportSpec>,
    pub(super) names: BTreeMap<Urn, String>,
}

impl Listing {
    /// URN of an entry in `stack` of `project`.
    pub(super) fn urn(spec: &ImportSpec, stack: &str, project: &str) -> Urn {
        let parent = spec.parent.as_ref().map_or("", Urn::qualified_type);
        Urn::new(stack, project, parent, &spec.type_token, &spec.name)
    }

    /// Error for a type token that no provider can serve.
    pub(super) fn check_types(&self) -> Result<(), Error> {
        let managed = self
            .specs
            .iter()
            .filter(|spec| spec.subject != ImportSubject::Component);
        for spec in managed {
            let token = spec.type_token.as_str();
            if TypeToken::managed(token).is_err() {
                return Err(Error::user(format!(
                    "import type {token:?} is not a valid resource type token. Type tokens must be of the format \
                     <package>:<module>:<type> - refer to the import section of the provider resource documentation."
                )));
            }
        }
        Ok(())
    }
}

/// Package of a type; for a provider type, the package it provides.
fn package_of(type_token: &str) -> &str {
    type_token
        .strip_prefix("pulumi:providers:")
        .unwrap_or_else(|| type_token.split(':').next().unwrap_or_default())
}

/// Resolves the entries of a file for `stack` of `project`. Problems are collected and reported in rounds: missing members
/// first, then ambiguous names, then references.
pub(super) fn from_file(
    file: &ImportFile,
    protect: bool,
    stack: &str,
    project: &str,
) -> Result<Listing, Error> {
    let mut problems = lacks(file);
    if !problems.is_empty() {
        return Err(Error::several(problems));
    }
    let mut table = BTreeMap::new();
    for (name, text) in &file.name_table {
        // An invalid URN is an error here if it is used as a parent. Whether it is a provider is checked where it is used.
        match Urn::parse(text) {
            Ok(urn) => drop(table.insert(name.as_str(), urn)),
            Err(error) if file.resources.iter().any(|it| it.parent == *name) => {
                problems.push(format!("'{name}' in 'nameTable': {error}"));
            }
            Err(_) => {}
        }
    }
    if !problems.is_empty() {
        return Err(Error::several(problems));
    }
    let named = Naming::new(file, table).resolve(stack, project)?;
    let mut specs = Vec::with_capacity(file.resources.len());
    for (index, resource) in file.resources.iter().enumerate() {
        specs.push(Entry { index, resource }.spec(&named, file, protect, &mut problems));
    }
    if !problems.is_empty() {
        return Err(Error::several(problems));
    }
    let providers = named_providers(file, &named, &specs, &mut problems);
    if !problems.is_empty() {
        return Err(Error::several(problems));
    }
    Ok(Listing {
        specs,
        providers,
        names: named.shown,
    })
}

/// Providers of the name table whose inputs the file contains (`providerInputs`).
fn named_providers(
    file: &ImportFile,
    named: &Named<'_>,
    specs: &[ImportSpec],
    problems: &mut Vec<String>,
) -> Vec<ImportSpec> {
    let mut providers: BTreeMap<&Urn, ImportSpec> = BTreeMap::new();
    for ((index, resource), spec) in file.resources.iter().enumerate().zip(specs) {
        let declared = file
            .resources
            .iter()
            .any(|it| it.key() == resource.provider);
        let inputs = file.provider_inputs.get(&resource.provider);
        let Some((urn, inputs)) = spec.provider.as_ref().zip(inputs.filter(|_| !declared)) else {
            continue;
        };
        if providers.contains_key(urn) || named.urns.get(resource.provider.as_str()) != Some(urn) {
            continue;
        }
        let entry = Entry { index, resource };
        let inputs = entry.properties("provider inputs", Some(inputs), problems);
        let provider = ImportSpec {
            type_token: urn.type_text().into(),
            name: urn.name().into(),
            subject: ImportSubject::Object { id: "".into() },
            parent: None,
            provider: None,
            plugin: spec.plugin.clone(),
            extension: None,
            protect: false,
            properties: Vec::new(),
            inputs,
            outputs: None,
        };
        providers.insert(urn, provider);
    }
    providers.into_values().collect()
}

/// Problems within single entries: members that are missing, or that exclude each other.
fn lacks(file: &ImportFile) -> Vec<String> {
    let entries = file.resources.iter().enumerate();
    let lacks = entries.flat_map(|(index, resource)| Entry { index, resource }.lacks());
    lacks.collect()
}

/// An entry of the file, and its index.
#[derive(Clone, Copy)]
struct Entry<'a> {
    index: usize,
    resource: &'a FileResource,
}

impl Entry<'_> {
    /// Designation of the entry in messages.
    fn described(self) -> String {
        let FileResource {
            name, id, r#type, ..
        } = self.resource;
        let mut text = match (name.as_str(), id.as_str()) {
            ("", "") => format!("resource {}", self.index),
            ("", id) => format!("resource '{id}'"),
            (name, _) => format!("resource '{name}'"),
        };
        if !r#type.is_empty() {
            text.push_str(&format!(" of type '{type}'", r#type = r#type));
        }
        text
    }

    fn lacks(self) -> Vec<String> {
        let resource = self.resource;
        let has_id = !resource.id.is_empty();
        let (is_provider, is_component) = (is_provider(&resource.r#type), resource.component);
        let has_outputs = resource.outputs.as_ref().and_then(|it| it.as_object());
        let has_outputs = has_outputs.is_some_and(|outputs| !outputs.is_empty());
        let problems = [
            (resource.r#type.is_empty(), "has no type"),
            (resource.key().is_empty(), "has no name"),
            (
                is_provider && has_id,
                "has an ID, but is a provider, which is created rather than read",
            ),
            (
                is_provider && is_component,
                "is a provider and may not be marked as a component",
            ),
            (
                is_provider && has_outputs,
                "is a provider and may not have outputs",
            ),
            (!is_provider && !is_component && !has_id, "has no ID"),
            (
                !is_provider && is_component && has_id,
                "has an ID, but is marked as a component",
            ),
            (
                resource.remote && !is_component,
                "is marked as remote, but not as a component",
            ),
        ];
        let problems = problems.into_iter().filter(|(is_so, _)| *is_so);
        problems
            .map(|(_, problem)| format!("{} {problem}", self.described()))
            .collect()
    }

    /// Import spec of this entry. Invalid values and unresolved references are added to `problems`.
    fn spec(
        self,
        named: &Named<'_>,
        file: &ImportFile,
        protect: bool,
        problems: &mut Vec<String>,
    ) -> ImportSpec {
        let resource = self.resource;
        let provider = self.provider(named, problems);
        let old_inputs = file.provider_inputs.get(resource.key());
        let old_inputs = old_inputs.filter(|_| is_provider(&resource.r#type));
        let inputs = self.properties("inputs", resource.inputs.as_ref().or(old_inputs), problems);
        let outputs = self.properties("outputs", resource.outputs.as_ref(), problems);
        let plugin = self.plugin(problems);
        let extension = resource.extension.as_ref();
        let extension = extension.map(|extension| self.extension(extension, problems));
        for (field, properties) in [("inputs", &inputs), ("outputs", &outputs)] {
            if properties
                .as_ref()
                .is_some_and(PropertyMap::contains_unknowns)
            {
                problems.push(format!(
                    "the {field} for {} contain unknown values; fill them in before importing",
                    self.described()
                ));
            }
        }
        ImportSpec {
            type_token: resource.r#type.as_str().into(),
            name: resource.logical_name().into(),
            subject: match (resource.component, resource.remote) {
                (true, true) => ImportSubject::RemoteComponent,
                (true, false) => ImportSubject::Component,
                (false, _) => ImportSubject::Object {
                    id: resource.id.as_str().into(),
                },
            },
            parent: named.urns.get(resource.parent.as_str()).cloned(),
            provider,
            plugin,
            extension,
            protect,
            properties: resource.properties.iter().map(Into::into).collect(),
            inputs,
            outputs,
        }
    }

    fn provider(self, named: &Named<'_>, problems: &mut Vec<String>) -> Option<Urn> {
        let name = self.resource.provider.as_str();
        if name.is_empty() {
            return None;
        }
        let described = self.described();
        if named.is_ambiguous(name) {
            problems.push(format!("{described} has an ambiguous provider"));
        }
        let urn = named.urns.get(name);
        if urn.is_none() && !named.table.contains(name) {
            problems.push(format!(
                "the provider '{name}' for {described} has no entry in 'nameTable' or 'resources'"
            ));
            return None;
        }
        let urn = urn.filter(|urn| is_provider(urn.type_text()));
        if urn.is_none() {
            problems.push(format!(
                "the provider '{name}' for {described} is not a provider"
            ));
        }
        urn.cloned()
    }

    /// Plugin that serves the type.
    fn plugin(self, problems: &mut Vec<String>) -> PluginSpec {
        let resource = self.resource;
        let package = package_of(&resource.r#type);
        let mut parsed = |kind: &str, text: &str| {
            parse_version(text)
                .inspect_err(|error| {
                    problems.push(format!(
                        "could not parse {kind} '{text}' for {}: {error}",
                        self.described()
                    ));
                })
                .ok()
        };
        let version = match resource.version.as_str() {
            "" => None,
            text => parsed("version", text),
        };
        let mut plugin = match &resource.parameterization {
            None => PluginSpec {
                version,
                ..PluginSpec::named(package)
            },
            Some(it) => PluginSpec {
                version: parsed("parameterization version", &it.plugin_version),
                parameterization: Some(parameter(package, &resource.version, &it.value)),
                ..PluginSpec::named(&it.plugin_name)
            },
        };
        let url = resource.plugin_download_url.trim_end_matches('/');
        plugin.download_url = (!url.is_empty()).then(|| url.into());
        plugin
    }

    fn extension(self, extension: &FileExtension, problems: &mut Vec<String>) -> Parameterization {
        if self.resource.parameterization.is_some() {
            problems.push(format!(
                "{} has both a parameterization and an extension, which are mutually exclusive",
                self.described()
            ));
        }
        parameter(&extension.name, &extension.version, &extension.value)
    }

    /// Inputs or outputs in the file, in the form of state files.
    fn properties(
        self,
        kind: &str,
        value: Option<&serde_json::Value>,
        problems: &mut Vec<String>,
    ) -> Option<PropertyMap> {
        match plumb_state::file::parse_value(&value?.to_string()) {
            Ok(Value::Object(map)) => return Some(map.as_ref().clone()),
            Ok(_) => problems.push(format!(
                "the {kind} for {} are not an object",
                self.described()
            )),
            Err(error) => {
                let is_provider = is_provider(&self.resource.r#type);
                let kind = if is_provider { "provider inputs" } else { kind };
                let described = self.described();
                problems.push(format!(
                    "could not deserialize {kind} for {described}: {error}"
                ));
            }
        }
        None
    }
}

fn is_provider(type_token: &str) -> bool {
    TypeToken::new(type_token).is_provider()
}

/// A parameter. Its base64 is valid: it was checked when the file was read, and converters return bytes.
fn parameter(name: &str, version: &str, value: &str) -> Parameterization {
    let value = STANDARD.decode(value).unwrap_or_default();
    Parameterization {
        name: name.into(),
        version: version.into(),
        value: value.into(),
    }
}

impl FileResource {
    /// Name by which other entries refer to this one.
    fn key(&self) -> &str {
        if self.name.is_empty() {
            &self.logical_name
        } else {
            &self.name
        }
    }

    fn logical_name(&self) -> &str {
        if self.logical_name.is_empty() {
            &self.name
        } else {
            &self.logical_name
        }
    }
}

/// Resources by name.
struct Named<'a> {
    urns: BTreeMap<&'a str, Urn>,
    /// Names in generated code.
    shown: BTreeMap<Urn, String>,
    /// Names in the name table, including those without a valid URN.
    table: BTreeSet<&'a str>,
    /// Names that several entries have.
    ambiguous: BTreeSet<&'a str>,
}

impl Named<'_> {
    fn is_ambiguous(&self, name: &str) -> bool {
        self.ambiguous.contains(name)
    }
}

/// Assigns URNs to the entries of a file. A name may be used before the entry that defines it.
struct Naming<'a> {
    file: &'a ImportFile,
    named: Named<'a>,
    taken_urns: BTreeSet<Urn>,
    taken_names: BTreeSet<String>,
    problems: Vec<String>,
}

impl<'a> Naming<'a> {
    fn new(file: &'a ImportFile, urns: BTreeMap<&'a str, Urn>) -> Self {
        let mut taken_names = BTreeSet::new();
        let mut ambiguous = BTreeSet::new();
        for resource in &file.resources {
            if !taken_names.insert(resource.key().to_owned()) {
                ambiguous.insert(resource.key());
            }
        }
        let shown = urns
            .iter()
            .map(|(name, urn)| (urn.clone(), (*name).to_owned()));
        Naming {
            file,
            taken_urns: urns.values().cloned().collect(),
            taken_names,
            problems: Vec::new(),
            named: Named {
                shown: shown.collect(),
                table: file.name_table.keys().map(String::as_str).collect(),
                urns,
                ambiguous,
            },
        }
    }

    fn resolve(mut self, stack: &str, project: &str) -> Result<Named<'a>, Error> {
        let file = self.file;
        let mut waiting: Vec<Entry<'a>> = (file.resources.iter().enumerate())
            .map(|(index, resource)| Entry { index, resource })
            .collect();
        while !waiting.is_empty() && self.problems.is_empty() {
            let before = waiting.len();
            waiting.retain(|entry| !self.name(*entry, stack, project));
            if waiting.len() == before {
                let circle = |entry: &Entry<'_>| {
                    let parent = &entry.resource.parent;
                    format!(
                        "{} is among the parents of its parent '{parent}'",
                        entry.described()
                    )
                };
                self.problems = waiting.iter().map(circle).collect();
            }
        }
        if self.problems.is_empty() {
            Ok(self.named)
        } else {
            Err(Error::several(self.problems))
        }
    }

    /// Assigns the URN of an entry; false if the URN of its parent is not known yet.
    fn name(&mut self, entry: Entry<'a>, stack: &str, project: &str) -> bool {
        let resource = entry.resource;
        let parent = resource.parent.as_str();
        let mut parent_type = "";
        if !parent.is_empty() {
            let is_to_come = || self.file.resources.iter().any(|it| it.key() == parent);
            if self.named.is_ambiguous(parent) {
                let described = entry.described();
                self.problems
                    .push(format!("{described} has an ambiguous parent"));
            }
            if let Some(urn) = self.named.urns.get(parent) {
                parent_type = urn.qualified_type();
            } else if is_to_come() {
                return false;
            } else {
                let described = entry.described();
                self.problems.push(format!(
                    "the parent '{parent}' for {described} has no entry in 'nameTable'"
                ));
            }
        }
        let token = &resource.r#type;
        let urn = Urn::new(stack, project, parent_type, token, resource.logical_name());
        if !self.taken_urns.insert(urn.clone()) {
            self.problems.push(format!(
                "{} has an ambiguous URN, set name (or logical name) to be unique",
                entry.described()
            ));
        }
        let shown = self.shown_name(resource.key(), token);
        self.named.shown.insert(urn.clone(), shown);
        self.named.urns.insert(resource.key(), urn);
        true
    }

    /// Name of an entry in generated code, with its type appended if the name is taken.
    fn shown_name(&mut self, name: &str, type_token: &str) -> String {
        if !self.named.shown.values().any(|taken| taken == name) {
            return name.to_owned();
        }
        let simple = type_token.rsplit(':').next().unwrap_or_default();
        let mut letters = simple.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        let title: String = first.into_iter().chain(letters).collect();
        let with_type = format!("{name}{title}");
        let numbered = (2..).map(|number| format!("{with_type}{number}"));
        let mut candidates = std::iter::once(with_type.clone()).chain(numbered);
        let free = candidates.find(|name| !self.taken_names.contains(name));
        let free = free.unwrap_or(with_type.clone());
        self.taken_names.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    use crate::operations::import_document::parse;

    fn specs_of(file: serde_json::Value) -> Result<Vec<ImportSpec>, String> {
        let file = parse(&file.to_string())?;
        let listing = from_file(&file, true, "dev", "proj");
        listing
            .map(|listing| listing.specs)
            .map_err(|error| error.text().unwrap_or_default())
    }

    /// IMPORT-14, IMPORT-15, IMPORT-16: parents and providers by name, in any order.
    #[test]
    fn names_of_the_file_may_be_used_before_they_are_defined() {
        let specs = specs_of(json!({
            "nameTable": {"old": "urn:pulumi:dev::proj::lab:index:Group::old"},
            "resources": [
                {"type": "lab:index:Thing", "name": "a", "id": "1", "parent": "g", "provider": "p"},
                {"type": "lab:index:Group", "name": "g", "component": true, "parent": "old", "logicalName": "group"},
                {"type": "pulumi:providers:lab", "name": "p", "inputs": {"key": "value"}, "version": "1.2.3"},
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

    /// Problems are reported in rounds, because a problem of a later round may follow from one of an earlier round.
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

    /// Problems of a file are reported in rounds: those of a later round may follow from those of an earlier one.
    #[test]
    fn all_problems_of_a_round_are_said_at_once() {
        let thing = |name: &str| json!({"type": "lab:index:Thing", "name": name, "id": "1"});
        let with = |name: &str, key: &str, value: &str| {
            let mut thing = thing(name);
            thing[key] = json!(value);
            thing
        };
        for (resources, expected) in [
            (
                json!([
                    {"type": "lab:index:Thing", "name": "a"},
                    {"name": "b", "id": "1"},
                    {"type": "lab:index:Thing", "id": "i"},
                    {},
                    {"type": "my:index:Group", "name": "c", "id": "1", "component": true},
                    {"type": "pulumi:providers:lab", "name": "p", "id": "1", "component": true, "outputs": {"a": 1}},
                    {"type": "my:index:Group", "name": "r", "id": "1", "remote": true},
                    with("d", "parent", "x"),
                ]),
                "11 errors occurred:\n    \
                 1) resource 'a' of type 'lab:index:Thing' has no ID\n    \
                 2) resource 'b' has no type\n    \
                 3) resource 'i' of type 'lab:index:Thing' has no name\n    \
                 4) resource 3 has no type\n    \
                 5) resource 3 has no name\n    \
                 6) resource 3 has no ID\n    \
                 7) resource 'c' of type 'my:index:Group' has an ID, but is marked as a component\n    \
                 8) resource 'p' of type 'pulumi:providers:lab' has an ID, but is a provider, which is created rather than read\n    \
                 9) resource 'p' of type 'pulumi:providers:lab' is a provider and may not be marked as a component\n    \
                 10) resource 'p' of type 'pulumi:providers:lab' is a provider and may not have outputs\n    \
                 11) resource 'r' of type 'my:index:Group' is marked as remote, but not as a component",
            ),
            (
                json!([
                    thing("a"),
                    thing("a"),
                    with("b", "parent", "a"),
                    with("c", "provider", "x")
                ]),
                "2 errors occurred:\n    \
                 1) resource 'a' of type 'lab:index:Thing' has an ambiguous URN, set name (or logical name) to be unique\n    \
                 2) resource 'b' of type 'lab:index:Thing' has an ambiguous parent",
            ),
            (
                json!([with("a", "parent", "x"), with("b", "provider", "x")]),
                "the parent 'x' for resource 'a' of type 'lab:index:Thing' has no entry in 'nameTable'",
            ),
            (
                json!([with("a", "parent", "b"), with("b", "parent", "a")]),
                "2 errors occurred:\n    \
                 1) resource 'a' of type 'lab:index:Thing' is among the parents of its parent 'b'\n    \
                 2) resource 'b' of type 'lab:index:Thing' is among the parents of its parent 'a'",
            ),
            (
                json!([
                    with("a", "provider", "x"),
                    with("b", "provider", "a"),
                    with("c", "version", "one")
                ]),
                "3 errors occurred:\n    \
                 1) the provider 'x' for resource 'a' of type 'lab:index:Thing' has no entry in 'nameTable' or 'resources'\n    \
                 2) the provider 'a' for resource 'b' of type 'lab:index:Thing' is not a provider\n    \
                 3) could not parse version 'one' for resource 'c' of type 'lab:index:Thing': Invalid character(s) found in major number \"one\"",
            ),
        ] {
            let said = specs_of(json!({"resources": resources})).unwrap_err();
            assert_eq!(said, expected);
        }
    }
}
