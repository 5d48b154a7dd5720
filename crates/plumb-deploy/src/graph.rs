//! Who depends on whom in the base snapshot (`engine.md` 4.9, 7.2).

use plumb_resource::{ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arena::{Arena, StateIdx};
use crate::deployment::Deployment;

impl Deployment {
    /// Everything in the base that depends on `root`, directly or through others, in snapshot order. Being a child is not
    /// depending.
    pub(crate) fn dependents_of(&self, root: StateIdx) -> Vec<StateIdx> {
        let Some(position) = self.olds.position(root) else {
            return Vec::new();
        };
        let mut urns: FxHashSet<&Urn> = FxHashSet::from_iter([&self.arena.state(root).urn]);
        let mut dependents = Vec::new();
        for idx in &self.olds.order()[position + 1..] {
            let state = self.arena.state(*idx);
            if needs(state).any(|urn| urns.contains(urn)) {
                urns.insert(&state.urn);
                dependents.push(*idx);
            }
        }
        dependents
    }
}

/// What a resource needs to exist: all its references but the parent, and its provider.
fn needs(state: &ResourceState) -> impl Iterator<Item = &Urn> {
    state
        .provider
        .iter()
        .map(plumb_resource::ProviderRef::urn)
        .chain(&state.dependencies)
        .chain(state.property_dependencies.values().flatten())
        .chain(&state.deleted_with)
        .chain(&state.replace_with)
}

/// Sorts states that are to be deleted into layers: each may go when the layers before it are gone.
///
/// A resource goes after everything that depends on it: its children, its dependents, what it provides for. What depends
/// on a component depends on everything below that component too (COMP-03).
///
/// `states` are in snapshot order, so that whatever one refers to comes before it; `current` tells what a resource is
/// called now that another still knows by its former name. With n states and e references this takes O(n + e) steps, and
/// those along the chains of parents.
pub(crate) fn layers<'a>(
    arena: &'a Arena,
    states: &[StateIdx],
    current: impl Fn(&'a Urn) -> &'a Urn,
) -> Vec<Vec<StateIdx>> {
    // The level of a state is one more than the highest level of anything that it depends on.
    let mut level_of: FxHashMap<&Urn, usize> = FxHashMap::default();
    // For components: the highest level of anything below them, so far.
    let mut level_below: FxHashMap<&Urn, usize> = FxHashMap::default();
    let mut parents: FxHashMap<&Urn, &Urn> = FxHashMap::default();
    let mut components: FxHashSet<&Urn> = FxHashSet::default();
    let mut levels: Vec<Vec<StateIdx>> = Vec::new();
    for idx in states {
        let state = arena.state(*idx);
        let own = |urn: &Urn| level_of.get(urn).copied();
        let below = |urn: &Urn| {
            components
                .contains(urn)
                .then(|| level_below.get(urn).copied())
                .flatten()
        };
        let parent = state.parent.as_ref().map(&current);
        let level = needs(state)
            .map(&current)
            .flat_map(|urn| own(urn).into_iter().chain(below(urn)))
            .chain(parent.and_then(own))
            .map(|level| level + 1)
            .max()
            .unwrap_or(0);
        let urn = current(&state.urn);
        let known = level_of.entry(urn).or_insert(level);
        *known = (*known).max(level);
        if !state.is_custom() {
            components.insert(urn);
        }
        let mut ancestor = parent;
        if let Some(parent) = parent {
            parents.insert(urn, parent);
        }
        while let Some(urn) = ancestor.filter(|urn| components.contains(*urn)) {
            let highest = level_below.entry(urn).or_insert(level);
            *highest = (*highest).max(level);
            ancestor = parents.get(urn).copied();
        }
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(*idx);
    }
    levels.reverse();
    levels
}
