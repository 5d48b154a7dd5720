//! Renaming of resources and of stacks.

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{ResourceState, Urn};
use plumb_value::{PropertyMap, ResourceReference, Value};

use super::Editable;
use crate::Snapshot;
use crate::normalize::{drop_empty_dependencies, rewrite_urns};

/// Reason why a resource was not renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// Another resource has the new URN.
    #[error("The chosen new urn for the state corresponds to an already existing resource")]
    Taken {
        /// The new URN.
        urn: Urn,
    },
}

/// Renames the resource at `index`, as returned by [`super::locate`], and updates all references to it. Returns its new
/// URN. Empty property dependencies are removed from all other resources.
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
    /// Name of the project; `None` keeps the project of each URN.
    pub project: Option<EcoString>,
}

/// Moves all URNs to another stack name. The root stack resource, whose name consists of project and stack, is renamed
/// too.
///
/// In an encrypted snapshot, resource references inside secrets keep the old URN.
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

/// Applies a renaming to resources, pending operations, snippets, and references inside properties.
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
