//! Programs for resources that exist already: what `import` prints (`codegen.md` 15).
//!
//! 1. Each resource gets the identifier by which the program calls it.
//! 2. Its inputs are those of its schema, in the order of their names; what the schema does not know is left out, and what it
//!    requires and the state lacks gets the simplest value of its type. Without a schema, the inputs are taken as they are.
//! 3. A text that is the id, the name or the ARN of exactly one other of these resources becomes a reference to it, unless the
//!    reference would close a circle. A comment marks it, because equal texts can be a coincidence.
//! 4. Secrets become settings, so that no program has them in plain text.
//!
//! Values that YAML cannot express are left out and listed in the notes.

mod declaration;
mod identifiers;
mod references;
mod settings;
mod text;
mod value;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_project::yaml::{Comments, Data, Document, Item, Layout, Node, Sequence, emit};
use plumb_resource::{ResourceState, Urn};
use plumb_schema::PackageSchema;

use declaration::Declaration;
pub(crate) use declaration::short_token;
use identifiers::{Taken, plain};
use references::{PropertyReference, References, Users};
pub use settings::Setting;
use settings::Settings;
pub(crate) use text::{escaped_before_reference, key, string};
use value::{Found, Printer};
pub(crate) use value::{call, flow_if_empty};
pub use whole::{WholeProgram, whole_program};

/// A resource to declare.
pub struct Imported<'a> {
    /// Imported resources.
    pub state: &'a ResourceState,
    /// The package that has its type; none if nobody knows it.
    pub package: Option<Arc<PackageSchema>>,
    /// Whether the declaration says that it is protected.
    pub is_protected: bool,
}

/// A piece of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The text.
    pub text: String,
    /// Notes about values that YAML cannot express.
    pub notes: Vec<String>,
}

/// The program that gets the declarations.
#[derive(Clone, Default)]
pub struct Target {
    /// Names that the user gave resources, these and others.
    pub names: BTreeMap<Urn, String>,
    /// Names of secret settings by their values.
    pub known_secrets: BTreeMap<String, String>,
    /// Whether it is in YAML: such programs do not fill in the defaults of schemas, and read settings as JSON where they can.
    pub is_yaml: bool,
}

/// Declarations with their settings.
#[derive(Default)]
pub struct Declarations {
    /// The declarations in YAML, and notes about what they lack.
    pub code: Code,
    /// New settings, which must be set before the program runs.
    pub settings: Vec<Setting>,
}

/// The declarations of `resources` for a program.
pub fn declarations(resources: &[Imported<'_>], target: Target) -> Declarations {
    let identifiers = identifiers(resources, &target.names);
    let references = References::of_imported(resources, &identifiers);
    let mut users = Users::of_options(resources, &identifiers);
    let taken = identifiers.values().cloned().collect();
    let mut settings = Settings::new(target.known_secrets, taken, target.is_yaml);
    let mut notes = Vec::new();
    let mut declared = Node::empty_mapping();
    for resource in resources {
        let state = resource.state;
        if !is_declared(state) {
            notes.push(format!(
                "{} is a component of a program, which YAML programs cannot declare; it is left out",
                state.urn
            ));
            continue;
        }
        let name = &identifiers[&state.urn];
        let mut printer = Printer::new(resource.package.as_deref(), &references, &mut settings);
        printer.owner.clone_from(name);
        printer.has_defaults = !target.is_yaml;
        printer.excluded = users.needing(name);
        let mut one = Declaration {
            resource,
            identifiers: &identifiers,
            notes: &mut notes,
        };
        let (node, found) = one.node(printer);
        for Found { reference, .. } in &found {
            users.add(&reference.resource, name);
        }
        add(&mut declared, name, node, guesses(&found));
    }
    let text = program(&settings, declared);
    Declarations {
        code: Code { text, notes },
        settings: settings.into_added(),
    }
}

/// The text of a program with these resources.
fn program(settings: &Settings, resources: Node) -> String {
    let mut root = Node::empty_mapping();
    let config = settings.declarations();
    if has_entries(&config) {
        put(&mut root, "config", config);
    }
    put(&mut root, "resources", resources);
    emit(&Document {
        head: Vec::new(),
        root: Some(root),
        foot: Vec::new(),
    })
}

/// Comments about references that are guesses.
fn guesses(found: &[Found]) -> Vec<String> {
    let lines = found.iter().map(|Found { place, reference }| {
        let PropertyReference { resource, property } = reference;
        format!("# A guess, from equal texts: {place} is {resource}.{property}.")
    });
    lines.collect()
}

fn is_declared(state: &ResourceState) -> bool {
    state.is_custom() || state.provider.is_some()
}

/// Name of each resource in the program: the user's choice, or the resource's name.
fn identifiers(resources: &[Imported<'_>], names: &BTreeMap<Urn, String>) -> BTreeMap<Urn, String> {
    let mut taken = Taken::default();
    let mut all = BTreeMap::new();
    for (urn, name) in names {
        let name = plain(name);
        taken.insert(&name);
        all.insert(urn.clone(), name);
    }
    for resource in resources.iter().filter(|it| is_declared(it.state)) {
        let urn = &resource.state.urn;
        if !all.contains_key(urn) {
            all.insert(urn.clone(), taken.name_of(urn));
        }
    }
    all
}

/// Appends an entry to a mapping that does not have it, with comments above it.
pub(crate) fn add(node: &mut Node, name: &str, value: Node, head: Vec<String>) {
    if let Data::Mapping(mapping) = &mut node.data {
        let comments = Comments {
            head,
            ..Comments::default()
        };
        mapping.entries.push((key(name), Item { value, comments }));
    }
}

pub(crate) fn put(node: &mut Node, key: &str, value: Node) {
    let Data::Mapping(mapping) = &mut node.data else {
        return;
    };
    mapping.set(key, value);
    let mut entries = mapping.entries.iter_mut();
    let entry = entries.find(|(written, _)| written.key_text().as_deref() == Some(key));
    if let Some((written, _)) = entry {
        *written = text::key(key);
    }
}

pub(crate) fn has_entries(node: &Node) -> bool {
    node.as_mapping()
        .is_some_and(|mapping| !mapping.entries.is_empty())
}

pub(crate) fn list(items: Vec<Node>) -> Node {
    let layout = if items.is_empty() {
        Layout::Flow
    } else {
        Layout::Block
    };
    Node::new(Data::Sequence(Sequence {
        layout,
        items: items.into_iter().map(Item::new).collect(),
    }))
}

#[cfg(test)]
mod tests;
