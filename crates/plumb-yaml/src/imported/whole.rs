//! Programs for everything in a state: what `export-program` writes.
//!
//! 1. Every resource that a program can declare is declared under its name, so that the next run finds it unchanged.
//! 2. A property that depends on other resources refers to their outputs, if its text is one of them or contains one.
//!    The dependencies are in the state, so this is no guess, unlike in an import.
//! 3. Secrets become settings. A secret that is the value of a known setting refers to that setting.
//! 4. Local components cannot be declared without their code. Their resources are declared without a parent, with an alias
//!    that is their former URN.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use plumb_project::yaml::{Document, Node, emit};
use plumb_resource::{CustomTimeouts, ResourceState, Urn};
use plumb_schema::{Primitive, Properties, Property, Resource, Type, TypeKind};
use plumb_value::{ArchiveSource, AssetSource, PropertyKey, PropertyMap, Value};
use rustc_hash::FxHashMap;

use super::declaration::Declaration;
use super::identifiers::Taken;
use super::references::{PropertyReference, References, SHORTEST};
use super::settings::{Setting, Settings, of_json};
use super::value::{Found, Printer, is_absent, is_needed};
use super::{Code, Imported, Target, has_entries, list, put};

/// A program with its settings.
pub struct WholeProgram {
    /// The program in YAML, and notes about what it lacks.
    pub code: Code,
    /// New settings, which must be set before the program runs.
    pub settings: Vec<Setting>,
    /// Files and folders in the project that assets and archives name.
    pub files: BTreeSet<PathBuf>,
}

/// The program that declares these resources and stack outputs; `resources` are all of a stack, in order.
pub fn whole_program(
    resources: &[Imported<'_>],
    outputs: &PropertyMap,
    target: Target,
) -> WholeProgram {
    let all: BTreeMap<&Urn, &ResourceState> = resources
        .iter()
        .map(|it| (&it.state.urn, it.state))
        .collect();
    let mut notes = Vec::new();
    let declared: Vec<&Imported<'_>> = resources
        .iter()
        .filter(|it| match place_of(it.state, &all) {
            Place::Declared => true,
            Place::Implied => false,
            Place::Missing(why) => {
                notes.push(format!("{}: {why}", it.state.urn));
                false
            }
        })
        .collect();
    let identifiers = identifiers(&declared);
    let mut files = BTreeSet::new();
    for resource in &declared {
        for value in resource.state.inputs.values() {
            collect_files(value, &mut files);
        }
    }
    let taken = identifiers.values().cloned().collect();
    let mut settings = Settings::new(target.known_secrets, taken, target.is_yaml);
    let mut nodes = Node::empty_mapping();
    for resource in &declared {
        let mut one = Whole {
            resource,
            all: &all,
            identifiers: &identifiers,
            settings: &mut settings,
            notes: &mut notes,
        };
        let node = one.node();
        put(&mut nodes, &identifiers[&resource.state.urn], node);
    }
    let outputs = outputs_node(outputs, &declared, &identifiers, &mut settings);
    let mut root = Node::empty_mapping();
    for (key, node) in [
        ("config", settings.declarations()),
        ("resources", nodes),
        ("outputs", outputs),
    ] {
        if has_entries(&node) {
            put(&mut root, key, node);
        }
    }
    let text = emit(&Document {
        head: Vec::new(),
        root: Some(root),
        foot: Vec::new(),
    });
    WholeProgram {
        code: Code { text, notes },
        settings: settings.into_added(),
        files,
    }
}

/// Adds the files that a value names by paths within the project.
fn collect_files(value: &Value, files: &mut BTreeSet<PathBuf>) {
    let mut add = |path: &str| {
        let path = Path::new(path);
        let is_inside =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.components().all(is_inside) {
            files.insert(path.to_owned());
        }
    };
    match value {
        Value::Asset(asset) => {
            if let AssetSource::Path(path) = &asset.source {
                add(path);
            }
        }
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Path(path) => add(path),
            ArchiveSource::Assets(members) => {
                for member in members.values() {
                    collect_files(member, files);
                }
            }
            ArchiveSource::Uri(_) | ArchiveSource::Elided => {}
        },
        Value::Array(items) => items.iter().for_each(|it| collect_files(it, files)),
        Value::Object(map) => map.values().for_each(|it| collect_files(it, files)),
        Value::Secret(inner) => collect_files(inner, files),
        _ => {}
    }
}

/// Treatment of a resource of the state.
enum Place {
    Declared,
    /// Something else makes it.
    Implied,
    /// The program lacks it, for this reason.
    Missing(&'static str),
}

fn place_of(state: &ResourceState, all: &BTreeMap<&Urn, &ResourceState>) -> Place {
    let is_gone = state.delete || state.pending_replacement;
    if state.urn.is_root_stack() || state.urn.is_default_provider() || is_gone {
        return Place::Implied;
    }
    if state.view_of.is_some() || ancestors(state, all).any(is_remote_component) {
        return Place::Implied;
    }
    if is_local_component(state) {
        return Place::Missing(
            "the component is not declared, because its code is not in the state; its resources are, with aliases",
        );
    }
    let token = state.urn.type_text();
    if token.starts_with("pulumi-python:dynamic") || token.starts_with("pulumi-nodejs:dynamic") {
        return Place::Missing(
            "a dynamic resource cannot be declared, because its provider is a part of the former program",
        );
    }
    Place::Declared
}

fn is_remote_component(state: &ResourceState) -> bool {
    !state.is_custom() && state.provider.is_some()
}

fn is_local_component(state: &ResourceState) -> bool {
    !state.is_custom() && state.provider.is_none() && !state.urn.is_root_stack()
}

/// The parents of a resource, the nearest first.
fn ancestors<'a>(
    state: &'a ResourceState,
    all: &'a BTreeMap<&Urn, &'a ResourceState>,
) -> impl Iterator<Item = &'a ResourceState> {
    let parent_of = |state: &ResourceState| all.get(state.parent.as_ref()?).copied();
    std::iter::successors(parent_of(state), move |state| parent_of(state))
}

/// A name in the program for each resource.
fn identifiers(resources: &[&Imported<'_>]) -> BTreeMap<Urn, String> {
    let mut taken = Taken::default();
    let named = resources.iter().map(|resource| {
        let urn = &resource.state.urn;
        (urn.clone(), taken.name_of(urn))
    });
    named.collect()
}

/// The outputs of the stack. A text that is the id of one resource, or an output of one resource only, refers to that.
fn outputs_node(
    outputs: &PropertyMap,
    resources: &[&Imported<'_>],
    identifiers: &BTreeMap<Urn, String>,
    settings: &mut Settings,
) -> Node {
    let mut found: FxHashMap<String, Vec<PropertyReference>> = FxHashMap::default();
    for resource in resources {
        for (text, reference) in references_to(resource.state, identifiers) {
            found.entry(text).or_default().push(reference);
        }
    }
    let mut known = References::default();
    for (text, references) in found.into_iter().filter(|(it, _)| it.len() >= SHORTEST) {
        // An id is rarely anything else by chance.
        let mut ids = references.iter().filter(|it| it.property == "id");
        match (ids.next(), ids.next(), &references[..]) {
            (Some(id), None, _) => known.add(text, id.clone()),
            (None, _, [one]) => known.add(text, one.clone()),
            _ => {}
        }
    }
    let mut entries: Vec<_> = outputs.iter().collect();
    entries.sort_by_key(|(key, _)| key.as_str());
    let mut node = Node::empty_mapping();
    for (key, value) in entries {
        let mut printer = Printer::new(None, &known, settings);
        "output".clone_into(&mut printer.owner);
        let value = printer.at(key.as_str(), |it| it.value(value, None));
        put(&mut node, key.as_str(), value);
    }
    node
}

/// Texts that stand for something of a resource, with the reference to it; the first of several for one text is best.
fn references_to(
    state: &ResourceState,
    identifiers: &BTreeMap<Urn, String>,
) -> Vec<(String, PropertyReference)> {
    let Some(name) = identifiers.get(&state.urn) else {
        return Vec::new();
    };
    let mut found: Vec<(String, PropertyReference)> = Vec::new();
    let mut add = |text: &str, property: &str| {
        if !text.is_empty() && found.iter().all(|(known, _)| known != text) {
            let reference = PropertyReference {
                resource: name.clone(),
                property: property.to_owned(),
            };
            found.push((text.to_owned(), reference));
        }
    };
    add(state.id.as_str(), "id");
    let mut outputs: Vec<_> = state.outputs.iter().collect();
    outputs.sort_by_key(|(key, _)| key.as_str());
    for (key, value) in outputs {
        let is_plain = key
            .as_str()
            .chars()
            .all(|it| it.is_alphanumeric() || it == '_');
        if let Value::String(text) = without_marks(value)
            && is_plain
            && !key.as_str().starts_with("__")
        {
            add(text.as_str(), key.as_str());
        }
    }
    found
}

/// A value without its marks as a secret or an output.
fn without_marks(value: &Value) -> &Value {
    match value {
        Value::Secret(inner) => without_marks(inner),
        Value::Output(output) => output
            .value
            .as_ref()
            .map_or(value, |inner| without_marks(inner)),
        other => other,
    }
}

/// The declaration of one resource of the state.
struct Whole<'a, 'n> {
    resource: &'a Imported<'a>,
    all: &'a BTreeMap<&'a Urn, &'a ResourceState>,
    identifiers: &'a BTreeMap<Urn, String>,
    settings: &'n mut Settings,
    notes: &'n mut Vec<String>,
}

impl Whole<'_, '_> {
    fn node(&mut self) -> Node {
        let state = self.reduced_state();
        let resource = Imported {
            state: &state,
            package: self.resource.package.clone(),
            is_protected: state.protect,
        };
        let mut declaration = self.declaration(&resource);
        let mut node = declaration.head();
        let schema = declaration.schema();
        let mut mentioned = Vec::new();
        if state.external && state.urn.type_text() != "pulumi:pulumi:StackReference" {
            let mut get = Node::empty_mapping();
            put(&mut get, "id", Node::string(state.id.as_str()));
            put(&mut node, "get", get);
        } else {
            let shape = schema.as_ref().map(|it| &it.input_properties);
            let (properties, found) = self.properties(shape);
            mentioned = found;
            if has_entries(&properties) {
                put(&mut node, "properties", properties);
            }
        }
        let mut options = self.declaration(&resource).options(&mentioned);
        self.add_options(&mut options, schema.as_deref());
        if has_entries(&options) {
            put(&mut node, "options", options);
        }
        node
    }

    fn is_declared(&self, urn: &Urn) -> bool {
        self.identifiers.contains_key(urn)
    }

    /// The state without what is not declared, so that nothing refers to that.
    fn reduced_state(&self) -> ResourceState {
        let mut state = self.resource.state.clone();
        state.parent = state.parent.filter(|urn| self.is_declared(urn));
        state.deleted_with = state.deleted_with.filter(|urn| self.is_declared(urn));
        state.dependencies.retain(|urn| self.is_declared(urn));
        state.replace_with.retain(|urn| self.is_declared(urn));
        state
    }

    fn declaration<'d>(&'d mut self, resource: &'d Imported<'d>) -> Declaration<'d, 'd> {
        Declaration {
            resource,
            identifiers: self.identifiers,
            notes: self.notes,
        }
    }

    /// The properties, and the references in them.
    fn properties(&mut self, shape: Option<&Properties>) -> (Node, Vec<Found>) {
        let state = self.resource.state;
        let mut node = Node::empty_mapping();
        let (mut mentioned, mut missing) = (Vec::new(), Vec::new());
        let mut names: Vec<&str> = match shape {
            Some(shape) => shape.keys().map(AsRef::as_ref).collect(),
            None => state.inputs.keys().map(PropertyKey::as_str).collect(),
        };
        names.retain(|name| !name.starts_with("__"));
        if shape.is_none() {
            names.sort_unstable();
        }
        for name in names {
            let property = shape.and_then(|shape| shape.get(name));
            let references = self.references_of(name);
            let package = self.resource.package.as_deref();
            let mut printer = Printer::new(package, &references, self.settings);
            printer.finds_parts = true;
            printer.owner.clone_from(&self.identifiers[&state.urn]);
            let value = state.inputs.get(name).filter(|value| !is_absent(value));
            match value {
                Some(value) => {
                    let value = provider_value(state, value, property);
                    let value = printer.at(name, |it| it.property(&value, property));
                    put(&mut node, name, value);
                }
                None => {
                    if let Some(property) = property.filter(|it| is_needed(it)) {
                        put(&mut node, name, printer.zero(&property.ty, 0));
                    }
                }
            }
            mentioned.append(&mut printer.found);
            missing.append(&mut printer.missing);
        }
        for what in missing {
            self.notes.push(format!("{}: {what}", state.urn));
        }
        (node, mentioned)
    }

    /// Texts that stand for something of a resource that the property depends on.
    fn references_of(&self, property: &str) -> References {
        let state = self.resource.state;
        let urns = state.property_dependencies.iter();
        let urns = urns.filter(|(key, _)| key.as_str() == property);
        let mut found = References::default();
        for urn in urns.flat_map(|(_, urns)| urns) {
            if let Some(other) = self.all.get(urn) {
                for (text, reference) in references_to(other, self.identifiers) {
                    found.add(text, reference);
                }
            }
        }
        found
    }

    /// Options that an import does not print, because what it adopts has none.
    fn add_options(&self, options: &mut Node, schema: Option<&Resource>) {
        let state = self.resource.state;
        let package = self.resource.package.as_ref();
        // SDKs send what the schema says.
        let implied = package
            .zip(schema)
            .map(|(package, it)| package.replace_on_changes(it));
        let implied = implied.unwrap_or_default();
        let replaces = state.replace_on_changes.iter();
        let replaces: Vec<&str> = replaces
            .map(AsRef::as_ref)
            .filter(|path| !implied.iter().any(|it| it == path))
            .collect();
        let is_secret = |name: &str| {
            let property = schema.and_then(|it| it.properties.get(name));
            property.is_some_and(|it| it.secret)
        };
        let secrets = state.additional_secret_outputs.iter();
        let secrets: Vec<&str> = secrets
            .map(AsRef::as_ref)
            .filter(|name| !is_secret(name))
            .collect();
        for (key, texts) in [
            ("additionalSecretOutputs", names_of(&secrets)),
            ("replaceOnChanges", names_of(&replaces)),
            ("hideDiffs", names_of(&state.hide_diff)),
        ] {
            if !texts.is_empty() {
                put(options, key, list(texts));
            }
        }
        if !state.custom_timeouts.is_default() {
            put(
                options,
                "customTimeouts",
                timeouts_node(&state.custom_timeouts),
            );
        }
        // The URN has the types of the parents.
        let is_lost = |it: &ResourceState| !it.urn.is_root_stack() && !self.is_declared(&it.urn);
        if ancestors(state, self.all).any(is_lost) {
            let alias = Node::string(state.urn.as_str());
            put(options, "aliases", list(vec![alias]));
        }
    }
}

fn timeouts_node(timeouts: &CustomTimeouts) -> Node {
    let mut node = Node::empty_mapping();
    for (key, seconds) in [
        ("create", timeouts.create),
        ("update", timeouts.update),
        ("delete", timeouts.delete),
        ("read", timeouts.read),
    ] {
        if seconds > 0.0 {
            put(&mut node, key, Node::string(format!("{seconds}s")));
        }
    }
    node
}

fn names_of(texts: &[impl AsRef<str>]) -> Vec<Node> {
    texts.iter().map(|it| Node::string(it.as_ref())).collect()
}

/// A property of a provider, which has nested values as JSON.
fn provider_value(state: &ResourceState, value: &Value, property: Option<&Property>) -> Value {
    let is_text = |ty: &Type| matches!(ty.kind, TypeKind::Primitive(Primitive::String));
    if let (Value::String(text), Some(property)) = (value, property)
        && state.type_token.is_provider()
        && !is_text(&property.ty)
        && let Ok(json) = serde_json::from_str::<serde_json::Value>(text)
    {
        return of_json(&json);
    }
    value.clone()
}
