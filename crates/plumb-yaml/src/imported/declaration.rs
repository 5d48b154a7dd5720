//! The declaration of one imported resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_project::yaml::Node;
use plumb_resource::{ResourceState, Urn};
use plumb_schema::Resource;

use super::value::{Found, Printer};
use super::{Imported, has_entries, list, put};

/// One resource, with the names that its declaration uses.
pub(super) struct Declaration<'a, 'n> {
    pub(super) resource: &'a Imported<'a>,
    /// Names in the program.
    pub(super) identifiers: &'a BTreeMap<Urn, String>,
    pub(super) notes: &'n mut Vec<String>,
}

impl Declaration<'_, '_> {
    /// The declaration with properties that `printer` prints, and the references in it.
    pub(super) fn node(&mut self, mut printer: Printer<'_>) -> (Node, Vec<Found>) {
        let mut node = self.head();
        let schema = self.schema();
        let inputs = &self.resource.state.inputs;
        let properties = match &schema {
            Some(resource) => printer.object(inputs, &resource.input_properties),
            None => printer.map(inputs, None),
        };
        let Printer { found, missing, .. } = printer;
        self.note(missing);
        if has_entries(&properties) {
            put(&mut node, "properties", properties);
        }
        let options = self.options(&found);
        if has_entries(&options) {
            put(&mut node, "options", options);
        }
        (node, found)
    }

    /// Notes what cannot be written.
    pub(super) fn note(&mut self, missing: Vec<String>) {
        let urn = &self.resource.state.urn;
        let missing = missing.into_iter().map(|it| format!("{urn}: {it}"));
        self.notes.extend(missing);
    }

    /// The type, and the name if the program calls it something else.
    pub(super) fn head(&self) -> Node {
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

    pub(super) fn schema(&mut self) -> Option<Arc<Resource>> {
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

    /// The options; what the properties refer to is no further dependency.
    pub(super) fn options(&mut self, found: &[Found]) -> Node {
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
        let rest = self.unmentioned_dependencies(found);
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

    fn unmentioned_dependencies(&self, found: &[Found]) -> Vec<Urn> {
        let is_mentioned = |urn: &Urn| {
            let name = self.identifiers.get(urn);
            name.is_some_and(|name| found.iter().any(|it| it.reference.resource == *name))
        };
        let state: &ResourceState = self.resource.state;
        let rest = state.dependencies.iter().filter(|urn| !is_mentioned(urn));
        rest.cloned().collect()
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
