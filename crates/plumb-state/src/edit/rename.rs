//! Renaming of resources and stacks.

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{ResourceState, Urn};
use plumb_value::{PropertyMap, ResourceReference, Value};

use super::Editable;
use crate::Snapshot;
use crate::normalize::{drop_empty_dependencies, rewrite_urns};

/// Why a resource was not renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// There is another one with the new name.
    #[error("The chosen new urn for the state corresponds to an already existing resource")]
    Taken {
        /// The new URN.
        urn: Urn,
    },
}

/// Gives the resource at `index`, where [`super::locate`] found it, another name, also wherever others refer to it.
/// Returns its new URN. The property dependencies of all others lose what depends on nothing.
pub fn rename_resource(
    snapshot: &mut impl Editable,
    index: usize,
    name: &str,
) -> Result<Urn, RenameError> {
    let snapshot = snapshot.snapshot_mut();
    let old = snapshot.resources[index].urn.clone();
    let new = old.with_name(name);
    if new == old {
        return Ok(new);
    }
    if snapshot.resources.iter().any(|state| state.urn == new) {
        return Err(RenameError::Taken { urn: new });
    }
    rename_all(snapshot, &mut |urn| (*urn == old).then(|| new.clone()));
    for state in snapshot.resources.iter_mut().filter(|it| it.urn != new) {
        drop_empty_dependencies(state);
    }
    Ok(new)
}

/// Names of a stack and its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackIdentity {
    /// Name of the stack, without organization and project.
    pub stack: EcoString,
    /// Name of the project; `None` keeps the one that each URN has.
    pub project: Option<EcoString>,
}

/// Moves everything to a stack of another name. The root stack resource, whose name is made of both names, follows.
///
/// In an encrypted snapshot, references inside secrets keep the old URN; that is all that is lost.
pub fn rename_stack(snapshot: &mut impl Editable, identity: &StackIdentity) {
    rename_all(snapshot.snapshot_mut(), &mut |urn| {
        let renamed = in_stack(urn, identity);
        (renamed != *urn).then_some(renamed)
    });
}

fn in_stack(urn: &Urn, identity: &StackIdentity) -> Urn {
    let project = identity.project.as_deref().unwrap_or_else(|| urn.project());
    if urn.is_root_stack() {
        return Urn::root_stack(&identity.stack, project);
    }
    Urn::new(
        &identity.stack,
        project,
        "",
        urn.qualified_type(),
        urn.name(),
    )
}

/// Applies a renaming everywhere: resources, pending operations, snippets, references inside properties.
fn rename_all(snapshot: &mut Snapshot, rename: &mut impl FnMut(&Urn) -> Option<Urn>) {
    for state in &mut snapshot.resources {
        rename_state(Arc::make_mut(state), rename);
    }
    for pending in &mut snapshot.pending_operations {
        rename_state(Arc::make_mut(&mut pending.resource), rename);
    }
    for reference in snapshot
        .snippets
        .iter_mut()
        .flat_map(|snippet| snippet.references.values_mut())
    {
        if let Some(renamed) = rename_text(reference, rename) {
            *reference = renamed;
        }
    }
    let unknown = std::mem::take(&mut snapshot.unknown.resources);
    snapshot.unknown.resources = unknown
        .into_iter()
        .map(|((urn, id), members)| ((rename(&urn).unwrap_or(urn), id), members))
        .collect();
}

pub(super) fn rename_state(
    state: &mut ResourceState,
    rename: &mut impl FnMut(&Urn) -> Option<Urn>,
) {
    rewrite_urns(state, rename);
    for alias in state.aliases.make_mut() {
        if let Some(renamed) = rename(alias) {
            *alias = renamed;
        }
    }
    for map in [&mut state.inputs, &mut state.outputs] {
        if map.values().any(holds_reference) {
            *map = Arc::new(rename_in_map(map, rename));
        }
    }
    if holds_reference(&state.replacement_trigger) {
        state.replacement_trigger = rename_in_value(&state.replacement_trigger, rename);
    }
}

fn rename_text(text: &str, rename: &mut impl FnMut(&Urn) -> Option<Urn>) -> Option<EcoString> {
    let renamed = rename(&Urn::parse(text).ok()?)?;
    Some(renamed.as_str().into())
}

fn holds_reference(value: &Value) -> bool {
    value.any(&mut |value| matches!(value, Value::Resource(_)))
}

fn rename_in_map(map: &PropertyMap, rename: &mut impl FnMut(&Urn) -> Option<Urn>) -> PropertyMap {
    map.iter()
        .map(|(key, value)| (key.clone(), rename_in_value(value, rename)))
        .collect()
}

fn rename_in_value(value: &Value, rename: &mut impl FnMut(&Urn) -> Option<Urn>) -> Value {
    value.map(&mut |value| match value {
        Value::Resource(reference) => match rename_text(&reference.urn, rename) {
            Some(urn) => Value::Resource(Arc::new(ResourceReference {
                urn,
                ..ResourceReference::clone(&reference)
            })),
            None => Value::Resource(reference),
        },
        other => other,
    })
}
