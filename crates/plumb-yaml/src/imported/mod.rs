//! Programs for resources that exist already: what `import` prints (`codegen.md` 15).
//!
//! 1. Each resource gets the identifier by which the program calls it.
//! 2. Its inputs are those of its schema, in the order of their names; what the schema does not know is left out, and what it
//!    requires and the state lacks gets the simplest value of its type. Without a schema, the inputs are taken as they are.
//! 3. A text that is the id, the name or the ARN of exactly one other of these resources becomes a reference to it.
//!
//! Values that YAML cannot express are left out and listed in the notes.

mod settings;
mod value;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_project::yaml::{Data, Document, Item, Layout, Node, Sequence, emit};
use plumb_resource::{ResourceState, Urn};
use plumb_schema::{PackageSchema, Resource};
use plumb_value::Value;
use rustc_hash::FxHashMap;

pub use settings::Setting;
use value::Printer;
pub(crate) use value::{call, escaped, flow_if_empty, key, string};
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

/// The declarations of `resources`; `names` are what the user calls resources, these and others.
pub fn declarations(resources: &[Imported<'_>], names: &BTreeMap<Urn, String>) -> Code {
    let identifiers = identifiers(resources, names);
    let mut code = Code::default();
    let mut declared = Node::empty_mapping();
    for resource in resources {
        let state = resource.state;
        if !state.is_custom() && state.provider.is_none() {
            code.notes.push(format!(
                "{} is a component of a program, which YAML programs cannot declare; it is left out",
                state.urn
            ));
            continue;
        }
        let mut one = Declaration {
            resource,
            identifiers: &identifiers,
            guesses: guesses(resources, state, &identifiers),
            notes: &mut code.notes,
        };
        let node = one.node();
        put(&mut declared, &identifiers[&state.urn], node);
    }
    let mut root = Node::empty_mapping();
    put(&mut root, "resources", declared);
    code.text = emit(&Document {
        head: Vec::new(),
        root: Some(root),
        foot: Vec::new(),
    });
    code
}

/// Name of each resource in the program: the user's choice, or the resource's name.
fn identifiers(resources: &[Imported<'_>], names: &BTreeMap<Urn, String>) -> BTreeMap<Urn, String> {
    let mut all: BTreeMap<Urn, String> = names
        .iter()
        .map(|(urn, name)| (urn.clone(), name.replace('.', "_")))
        .collect();
    let is_declared = |state: &ResourceState| state.is_custom() || state.provider.is_some();
    for resource in resources.iter().filter(|it| is_declared(it.state)) {
        let urn = &resource.state.urn;
        all.entry(urn.clone())
            .or_insert_with(|| urn.name().replace('.', "_"));
    }
    all
}

/// Texts that stand for something of another resource. What could mean two things means nothing.
fn guesses(
    resources: &[Imported<'_>],
    own: &ResourceState,
    identifiers: &BTreeMap<Urn, String>,
) -> FxHashMap<String, String> {
    let mut found: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for resource in resources {
        let state = resource.state;
        let mut tell = |text: &str, what: &str| {
            let reference = format!("${{{}.{what}}}", identifiers[&state.urn]);
            found.entry(text.to_owned()).or_default().push(reference);
        };
        if !state.id.as_str().is_empty() {
            tell(state.id.as_str(), "id");
        }
        for what in ["name", "arn"] {
            if let Some(Value::String(text)) = state.outputs.get(what) {
                tell(text, what);
            }
        }
    }
    let own = format!("${{{}.", identifiers[&own.urn]);
    found
        .into_iter()
        .filter_map(|(text, mut references)| match references.as_slice() {
            [one] if !text.is_empty() && !one.starts_with(&own) => {
                Some((text, references.remove(0)))
            }
            _ => None,
        })
        .collect()
}

struct Declaration<'a, 'n> {
    resource: &'a Imported<'a>,
    identifiers: &'a BTreeMap<Urn, String>,
    guesses: FxHashMap<String, String>,
    notes: &'n mut Vec<String>,
}

impl Declaration<'_, '_> {
    fn node(&mut self) -> Node {
        let mut node = self.head();
        let (properties, referenced) = self.properties();
        if has_entries(&properties) {
            put(&mut node, "properties", properties);
        }
        let options = self.options(&referenced);
        if has_entries(&options) {
            put(&mut node, "options", options);
        }
        node
    }

    /// The type, and the name if the program calls it something else.
    fn head(&self) -> Node {
        let state = self.resource.state;
        let mut node = Node::empty_mapping();
        put(
            &mut node,
            "type",
            Node::string(short_token(state.urn.type_text())),
        );
        if self.identifiers[&state.urn] != state.urn.name() {
            put(&mut node, "name", Node::string(state.urn.name()));
        }
        node
    }

    fn schema(&mut self) -> Option<Arc<Resource>> {
        let token = self.resource.state.urn.type_text();
        let package = self.resource.package.as_ref()?;
        let found = if token.starts_with("pulumi:providers:") {
            Some(package.provider())
        } else {
            package.resource(token)
        };
        match found? {
            Ok(resource) => Some(resource),
            Err(error) => {
                self.notes
                    .push(format!("the schema of {token} cannot be used: {error}"));
                None
            }
        }
    }

    /// The properties, and the identifiers that they mention.
    fn properties(&mut self) -> (Node, Vec<String>) {
        let schema = self.schema();
        let state = self.resource.state;
        let mut printer = Printer::new(self.resource.package.as_deref(), &self.guesses);
        let node = match &schema {
            Some(resource) => printer.object(&state.inputs, &resource.input_properties),
            None => printer.map(&state.inputs, None),
        };
        let (mentioned, missing) = (printer.mentioned, printer.missing);
        for what in missing {
            self.notes.push(format!("{}: {what}", state.urn));
        }
        (node, mentioned)
    }

    fn options(&mut self, mentioned: &[String]) -> Node {
        let state = self.resource.state;
        let mut options = Node::empty_mapping();
        if let Some(parent) = state.parent.as_ref().filter(|urn| !urn.is_root_stack())
            && let Some(name) = self.reference(parent)
        {
            put(&mut options, "parent", name);
        }
        let provider = state
            .provider
            .as_ref()
            .map(|provider| provider.urn().clone());
        if let Some(provider) = provider.filter(|urn| !urn.is_default_provider())
            && let Some(name) = self.reference(&provider)
        {
            put(&mut options, "provider", name);
        }
        let is_mentioned = |urn: &&Urn| {
            self.identifiers
                .get(urn)
                .is_some_and(|name| mentioned.contains(name))
        };
        let rest: Vec<Urn> = state
            .dependencies
            .iter()
            .filter(|urn| !is_mentioned(urn))
            .cloned()
            .collect();
        self.put_list(&mut options, "dependsOn", &rest);
        if self.resource.is_protected {
            put(&mut options, "protect", Node::plain("true"));
        }
        if state.retain_on_delete {
            put(&mut options, "retainOnDelete", Node::plain("true"));
        }
        if !state.ignore_changes.is_empty() {
            let paths = state
                .ignore_changes
                .iter()
                .map(|path| Node::string(path.as_str()));
            put(&mut options, "ignoreChanges", list(paths.collect()));
        }
        if let Some(urn) = &state.deleted_with
            && let Some(name) = self.reference(urn)
        {
            put(&mut options, "deletedWith", name);
        }
        self.put_list(&mut options, "replaceWith", &state.replace_with);
        options
    }

    fn put_list(&mut self, options: &mut Node, key: &str, urns: &[Urn]) {
        let names: Vec<Node> = urns.iter().filter_map(|urn| self.reference(urn)).collect();
        if !names.is_empty() {
            put(options, key, list(names));
        }
    }

    /// `${name}` for a resource that has one here.
    fn reference(&mut self, urn: &Urn) -> Option<Node> {
        let Some(name) = self.identifiers.get(urn) else {
            self.notes.push(format!(
                "{} refers to {urn}, for which the program has no name; give it one in the `nameTable` of an import file, or \
                 with `--parent NAME=URN` or `--provider NAME=URN`",
                self.resource.state.urn
            ));
            return None;
        };
        Some(Node::string(format!("${{{name}}}")))
    }
}

/// The token as programs write it, without what follows from the rest.
pub(crate) fn short_token(token: &str) -> String {
    let parts: Vec<&str> = token.split(':').collect();
    let [package, module, name] = parts.as_slice() else {
        return token.to_owned();
    };
    let repeats = |last: &str| {
        let mut letters = name.chars();
        let first = letters.next().map(char::to_lowercase);
        first.is_some_and(|first| first.chain(letters).eq(last.chars()))
    };
    let module = match module.rsplit_once('/') {
        Some((module, last)) if repeats(last) => module,
        _ => module,
    };
    match module {
        "" | "index" => format!("{package}:{name}"),
        module => format!("{package}:{module}:{name}"),
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
        *written = value::key(key);
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
