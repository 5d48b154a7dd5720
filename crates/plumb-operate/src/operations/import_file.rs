//! The file of `preview --import-file`: resources that a preview would create, as a list for `import` (`cli.md`
//! 3.6).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use plumb_events::Event;
use plumb_resource::{ResourceKind, ResourceState, StepOp, Urn};
use plumb_state::Snapshot;
use plumb_value::Value;
use serde::Serialize;

use crate::json::{Indent, pretty};

/// Placeholder for an id that the user fills in.
const PLACEHOLDER: &str = "<PLACEHOLDER>";

/// Writes the resources created by the steps of `events`; `base` is the state before.
pub(super) fn write(path: &Path, events: &[Event], base: &Snapshot) -> std::io::Result<()> {
    let document = document(&created(events), base);
    fs::write(path, pretty(&document, Indent::Four))
}

fn created(events: &[Event]) -> Vec<Arc<ResourceState>> {
    let steps = events.iter().filter_map(|event| match event {
        Event::ResourcePre(step) => Some(&step.metadata),
        _ => None,
    });
    let creates = steps.filter(|step| step.op == StepOp::Create);
    let states = creates.filter_map(|step| step.new.as_ref().map(|view| Arc::clone(view.shared())));
    states.filter(|state| !state.urn.is_root_stack()).collect()
}

/// The file, with its members in the order in which they are written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    name_table: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<Entry>,
}

/// A resource to import.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    type_token: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    component: bool,
    #[serde(skip_serializing_if = "is_false")]
    remote: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_name: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde calls.
fn is_false(value: &bool) -> bool {
    !value
}

fn document(created: &[Arc<ResourceState>], base: &Snapshot) -> Document {
    let mut names = Names::default();
    let listed = created
        .iter()
        .filter(|state| state.kind != ResourceKind::Provider);
    let listed: Vec<&Arc<ResourceState>> = listed.collect();
    for state in &listed {
        names.give(&state.urn);
    }
    let new: BTreeSet<&Urn> = created.iter().map(|state| &state.urn).collect();
    let mut name_table = BTreeMap::new();
    let mut known = |urn: &Urn, names: &mut Names| -> Option<String> {
        if let Some(name) = names.by_urn.get(urn) {
            return Some(name.clone());
        }
        let is_there = !new.contains(urn) && base.resources.iter().any(|state| state.urn == *urn);
        is_there.then(|| {
            let name = names.give(urn);
            name_table.insert(name.clone(), urn.as_str().to_owned());
            name
        })
    };
    let mut resources = Vec::new();
    for state in listed {
        let name = names.by_urn[&state.urn].clone();
        let is_component = !state.is_custom();
        let parent = state.parent.as_ref().filter(|urn| !urn.is_root_stack());
        let mut entry = Entry {
            type_token: state.urn.type_text().to_owned(),
            logical_name: (name != state.urn.name()).then(|| state.urn.name().to_owned()),
            name,
            id: state.is_custom().then_some(PLACEHOLDER),
            component: is_component,
            remote: is_component && state.provider.is_some(),
            parent: parent.and_then(|urn| known(urn, &mut names)),
            ..Entry::default()
        };
        if let Some(urn) = state.provider.as_ref().map(|it| it.urn().clone()) {
            if !urn.is_default_provider() {
                entry.provider = known(&urn, &mut names);
            }
            let all = || base.resources.iter().chain(created);
            let inputs = all().find(|it| it.urn == urn).map(|it| &it.inputs);
            if let Some(Value::String(version)) = inputs.and_then(|inputs| inputs.get("version")) {
                entry.version = Some(version.as_str().to_owned());
            }
        }
        resources.push(entry);
    }
    Document {
        name_table,
        resources,
    }
}

/// Names in the file: those of the resources, with the type appended where two would be equal.
#[derive(Default)]
struct Names {
    by_urn: BTreeMap<Urn, String>,
    taken: BTreeSet<String>,
}

impl Names {
    fn give(&mut self, urn: &Urn) -> String {
        let simple = urn.type_text().rsplit(':').next().unwrap_or_default();
        let plain = urn.name().to_owned();
        let with_type = format!("{plain}{simple}");
        let numbered = (2..).map(|number| format!("{with_type}{number}"));
        let mut candidates = [plain, with_type.clone()].into_iter().chain(numbered);
        let free = candidates.find(|name| !self.taken.contains(name));
        let name = free.unwrap_or_default();
        self.taken.insert(name.clone());
        self.by_urn.insert(urn.clone(), name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(parent: &str, token: &str, name: &str, kind: ResourceKind) -> Arc<ResourceState> {
        let urn = Urn::new("dev", "p", parent, token, name);
        Arc::new(ResourceState::new(urn, kind))
    }

    #[test]
    fn names_are_unique_and_parents_go_by_name() {
        let group = state("", "p:index:Group", "a", ResourceKind::Component);
        let mut thing = ResourceState::clone(&state(
            "p:index:Group",
            "lab:index:Thing",
            "a",
            ResourceKind::Custom,
        ));
        thing.parent = Some(group.urn.clone());
        let mut other =
            ResourceState::clone(&state("", "lab:index:Thing", "b", ResourceKind::Custom));
        let old = state("", "p:index:Group", "old", ResourceKind::Component);
        other.parent = Some(old.urn.clone());
        let base = Snapshot {
            resources: vec![old.clone()],
            ..Snapshot::default()
        };
        let document = document(&[group, Arc::new(thing), Arc::new(other)], &base);
        assert_eq!(
            serde_json::to_value(document).unwrap(),
            serde_json::json!({
                "nameTable": { "old": old.urn.as_str() },
                "resources": [
                    { "type": "p:index:Group", "name": "a", "component": true },
                    { "type": "lab:index:Thing", "name": "aThing", "logicalName": "a", "id": "<PLACEHOLDER>", "parent": "a" },
                    { "type": "lab:index:Thing", "name": "b", "id": "<PLACEHOLDER>", "parent": "old" },
                ],
            })
        );
    }
}
