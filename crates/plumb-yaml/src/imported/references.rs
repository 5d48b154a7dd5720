//! References between imported resources, found by equal texts.

use std::collections::BTreeMap;

use plumb_resource::{ProviderRef, ResourceState, Urn};
use plumb_value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Imported;

/// Shortest text that is taken for a reference within a longer text, or without a known dependency.
pub(super) const SHORTEST: usize = 4;

/// A property of a resource of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PropertyReference {
    /// Name of the resource in the program.
    pub(super) resource: String,
    /// Name of the property.
    pub(super) property: String,
}

impl PropertyReference {
    /// The reference as programs write it.
    pub(super) fn written(&self) -> String {
        format!("${{{}.{}}}", self.resource, self.property)
    }
}

/// Texts that stand for properties of resources.
#[derive(Debug, Default)]
pub(super) struct References(FxHashMap<String, PropertyReference>);

impl References {
    /// The ids, names and ARNs of imported resources. A text that two resources have refers to neither.
    pub(super) fn of_imported(
        resources: &[Imported<'_>],
        identifiers: &BTreeMap<Urn, String>,
    ) -> Self {
        let mut found: FxHashMap<String, Option<PropertyReference>> = FxHashMap::default();
        for resource in resources {
            // Components of programs have none.
            let Some(name) = identifiers.get(&resource.state.urn) else {
                continue;
            };
            for (text, property) in texts_of(resource.state) {
                let reference = PropertyReference {
                    resource: name.clone(),
                    property: property.to_owned(),
                };
                let entry = found.entry(text.to_owned());
                let entry = entry.or_insert_with(|| Some(reference));
                if entry.as_ref().is_some_and(|it| it.resource != *name) {
                    *entry = None;
                }
            }
        }
        let unique = found
            .into_iter()
            .filter_map(|(text, it)| Some((text, it?)))
            .collect();
        References(unique)
    }

    /// Adds what a text stands for, unless it stands for something already.
    pub(super) fn add(&mut self, text: String, reference: PropertyReference) {
        self.0.entry(text).or_insert(reference);
    }

    pub(super) fn get(&self, text: &str) -> Option<&PropertyReference> {
        self.0.get(text)
    }

    /// The longest text that is a part of a longer one.
    pub(super) fn longest_in(&self, text: &str) -> Option<(&str, &PropertyReference)> {
        let parts = self.0.iter().map(|(part, it)| (part.as_str(), it));
        parts
            .filter(|(part, _)| part.len() >= SHORTEST && text.contains(part))
            .max_by_key(|(part, _)| (part.len(), *part))
    }
}

/// Texts by which other resources may name a resource, the best property for each first.
fn texts_of(state: &ResourceState) -> impl Iterator<Item = (&str, &'static str)> {
    let outputs = ["name", "arn"].into_iter().filter_map(|property| {
        let text = state.outputs.get(property).and_then(Value::as_str)?;
        Some((text, property))
    });
    let id = std::iter::once((state.id.as_str(), "id"));
    id.chain(outputs).filter(|(text, _)| !text.is_empty())
}

/// Resources that refer to others, by their names in the program.
#[derive(Debug, Default)]
pub(super) struct Users {
    of: FxHashMap<String, Vec<String>>,
}

impl Users {
    /// The users that the options of the resources make.
    pub(super) fn of_options(
        resources: &[Imported<'_>],
        identifiers: &BTreeMap<Urn, String>,
    ) -> Self {
        let mut users = Users::default();
        for Imported { state, .. } in resources {
            let Some(user) = identifiers.get(&state.urn) else {
                continue;
            };
            let provider = state.provider.as_ref().map(ProviderRef::urn);
            let others = state.dependencies.iter().chain(&state.replace_with);
            let others = others.chain(state.parent.as_ref()).chain(provider);
            for used in others.chain(state.deleted_with.as_ref()) {
                if let Some(used) = identifiers.get(used) {
                    users.add(used, user);
                }
            }
        }
        users
    }

    pub(super) fn add(&mut self, used: &str, user: &str) {
        let users = self.of.entry(used.to_owned()).or_default();
        users.push(user.to_owned());
    }

    /// A resource, and those that need it to be there first. A reference from it to one of these would close a circle.
    pub(super) fn needing(&self, resource: &str) -> FxHashSet<String> {
        let mut found = FxHashSet::default();
        let mut next = vec![resource];
        while let Some(name) = next.pop() {
            if found.insert(name.to_owned()) {
                next.extend(self.of.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        found
    }
}
