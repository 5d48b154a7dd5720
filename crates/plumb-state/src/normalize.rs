//! Rewriting of URNs in a snapshot after aliases and renames (`state.md` 1.8).

use std::sync::Arc;

use ecow::EcoVec;
use plumb_resource::{ProviderRef, ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{AliasConflict, Snapshot, Snippet};

/// New URNs by former URNs.
type Renames = FxHashMap<Urn, Urn>;

impl Snapshot {
    /// Replaces former URNs in references by current ones, and removes the aliases.
    ///
    /// Descendants of a renamed resource get new URNs too. Without aliases, only one scan is needed.
    pub fn normalize_urns(&mut self) -> Result<(), AliasConflict> {
        let mut renames = aliases_of(&self.resources)?;
        if renames.is_empty() {
            return Ok(());
        }
        let moved = follow_parents(&self.resources, &renames);
        for present in renames.values_mut() {
            if let Some(moved) = moved.get(present) {
                present.clone_from(moved);
            }
        }
        renames.extend(moved);
        for state in &mut self.resources {
            normalize_state(state, &renames);
        }
        for snippet in &mut self.snippets {
            normalize_snippet(snippet, &renames);
        }
        Ok(())
    }
}

fn aliases_of(resources: &[Arc<ResourceState>]) -> Result<Renames, AliasConflict> {
    let mut renames = Renames::default();
    for state in resources {
        for alias in &state.aliases {
            match renames.insert(alias.clone(), state.urn.clone()) {
                Some(first) if first != state.urn => {
                    return Err(AliasConflict {
                        alias: alias.clone(),
                        first,
                        second: state.urn.clone(),
                    });
                }
                _ => {}
            }
        }
    }
    Ok(renames)
}

/// New URNs of resources whose parents were renamed. A resource keeps its URN if another one has the new URN already,
/// until it is registered or deleted.
fn follow_parents(resources: &[Arc<ResourceState>], renames: &Renames) -> Renames {
    let live = resources.iter().filter(|state| !state.delete);
    let mut taken: FxHashSet<Urn> = live.map(|state| state.urn.clone()).collect();
    let mut moved = Renames::default();
    // During a run, a new view of an old resource can come before its parent; it is renamed in a later pass.
    for _ in resources {
        let mut is_settled = true;
        for state in resources {
            let Some(present) = below_present_parent(state, renames, &moved) else {
                continue;
            };
            if moved.get(&state.urn) != Some(&present) && taken.insert(present.clone()) {
                moved.insert(state.urn.clone(), present);
                is_settled = false;
            }
        }
        if is_settled {
            break;
        }
    }
    moved
}

/// New URN of a resource below the current URN of its parent; `None` if it is unchanged.
fn below_present_parent(state: &ResourceState, renames: &Renames, moved: &Renames) -> Option<Urn> {
    let former = state.parent.as_ref()?;
    let renamed = renames.get(former).unwrap_or(former);
    let parent = moved.get(renamed).unwrap_or(renamed);
    if parent == former || parent.type_text() == plumb_resource::ROOT_STACK_TYPE {
        return None;
    }
    // The resource may have another parent by now, and stay recorded below the old one until it is registered.
    let is_below = state.urn == state.urn.with_parent_type(former.qualified_type());
    is_below.then(|| state.urn.with_parent_type(parent.qualified_type()))
}

fn normalize_state(state: &mut Arc<ResourceState>, renames: &Renames) {
    let is_touched = !state.aliases.is_empty()
        || renames.contains_key(&state.urn)
        || state
            .view_of
            .as_ref()
            .is_some_and(|urn| renames.contains_key(urn))
        || state
            .references_and_provider()
            .any(|urn| renames.contains_key(urn));
    if is_touched {
        let state = Arc::make_mut(state);
        rewrite_urns(state, &mut |urn| renames.get(urn).cloned());
        state.aliases.clear();
    }
}

fn normalize_snippet(snippet: &mut Snippet, renames: &Renames) {
    for reference in snippet.references.values_mut() {
        // A reference need not be a valid URN (`state.md` 2.1).
        let renamed = Urn::parse(reference).ok().and_then(|urn| renames.get(&urn));
        if let Some(renamed) = renamed {
            *reference = renamed.as_str().into();
        }
    }
}

/// Removes empty property dependencies, which mean the same as missing ones.
pub(crate) fn drop_empty_dependencies(state: &mut Arc<ResourceState>) {
    if state.property_dependencies.values().any(EcoVec::is_empty) {
        Arc::make_mut(state)
            .property_dependencies
            .retain(|_, urns| !urns.is_empty());
    }
}

/// Replaces every URN of `state`, including those in references, for which `rename` returns a new one. Aliases and
/// properties do not change.
pub(crate) fn rewrite_urns(
    state: &mut ResourceState,
    rename: &mut impl FnMut(&Urn) -> Option<Urn>,
) {
    let mut apply = |urn: &mut Urn| {
        if let Some(renamed) = rename(urn) {
            *urn = renamed;
        }
    };
    apply(&mut state.urn);
    state.parent.iter_mut().for_each(&mut apply);
    state
        .dependencies
        .make_mut()
        .iter_mut()
        .for_each(&mut apply);
    for urns in state.property_dependencies.values_mut() {
        urns.make_mut().iter_mut().for_each(&mut apply);
    }
    state.deleted_with.iter_mut().for_each(&mut apply);
    state
        .replace_with
        .make_mut()
        .iter_mut()
        .for_each(&mut apply);
    state.view_of.iter_mut().for_each(&mut apply);
    if let Some(provider) = &mut state.provider {
        rewrite_provider(provider, rename);
    }
}

fn rewrite_provider(provider: &mut ProviderRef, rename: &mut impl FnMut(&Urn) -> Option<Urn>) {
    if let Some(renamed) = rename(provider.urn()) {
        *provider = provider.with_urn(renamed);
    }
}
