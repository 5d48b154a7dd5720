//! Who depends on whom in the base snapshot (`engine.md` 4.9, 7.2).

use plumb_resource::{ResourceKind, ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::facts::arena::{Arena, StateIdx};

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

/// References that must exist as long as `state` does: its provider and all references except the parent.
pub(crate) fn needs(state: &ResourceState) -> impl Iterator<Item = &Urn> {
    state
        .provider
        .iter()
        .map(plumb_resource::ProviderRef::urn)
        .chain(&state.dependencies)
        .chain(state.property_dependencies.values().flatten())
        .chain(&state.deleted_with)
        .chain(&state.replace_with)
}

/// Of a URN with several copies: which of them a reference stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copies<'s> {
    /// Every one that it can mean.
    All,
    /// The live one for a live resource, one that is due for deletion for another such copy.
    Meant,
    /// As `Meant`, except that a live resource never means a state in `replaced`, even if the live one is not among the states.
    /// Example: provider `p` depends on `a`, which this run has replaced. `p` needs the new `a`, not the old copy, nor what
    /// only that needed.
    Present { replaced: &'s FxHashSet<StateIdx> },
}

/// The order of deletions: every state that a reference can mean, in the order in which references are resolved, so that a
/// state comes after everything that it refers to.
pub(crate) struct DeleteOrder<'a, F> {
    pub(crate) arena: &'a Arena,
    pub(crate) states: &'a [StateIdx],
    /// The present URN of a resource, given a URN by which another state may still refer to it.
    pub(crate) current: F,
}

impl<'a, F: Fn(&'a Urn) -> &'a Urn> DeleteOrder<'a, F> {
    /// States that those for which `holds` is true need, directly or through others: the states that they refer to, and all
    /// descendants of a component that they refer to (COMP-03). If a URN has several copies, a state needs the `copies` that come
    /// before it.
    pub(crate) fn needed(
        &self,
        copies: Copies<'_>,
        holds: impl Fn(StateIdx) -> bool,
    ) -> FxHashSet<StateIdx> {
        let mut places: FxHashMap<&Urn, Vec<usize>> = FxHashMap::default();
        let mut children: FxHashMap<&Urn, Vec<usize>> = FxHashMap::default();
        for (place, idx) in self.states.iter().enumerate() {
            let state = self.arena.state(*idx);
            places.entry(self.urn(state)).or_default().push(place);
            if let Some(parent) = &state.parent {
                let parent = (self.current)(parent);
                children.entry(parent).or_default().push(place);
            }
        }
        let mut needed: FxHashSet<StateIdx> = FxHashSet::default();
        for (place, idx) in self.states.iter().enumerate().rev() {
            let state = self.arena.state(*idx);
            if !needed.contains(idx) && !holds(*idx) {
                continue;
            }
            let before = |places: &FxHashMap<&Urn, Vec<usize>>, urn: &'a Urn| -> Vec<usize> {
                let places = places.get((self.current)(urn)).into_iter().flatten();
                let places = places.copied().filter(|other| *other < place).collect();
                match copies {
                    Copies::All => places,
                    Copies::Meant => self.meant(state, places),
                    Copies::Present { replaced } => {
                        let mut places = self.meant(state, places);
                        let is_meant = |idx: StateIdx| {
                            state.delete || !replaced.contains(&idx) || self.provides(idx, state)
                        };
                        places.retain(|place| is_meant(self.states[*place]));
                        places
                    }
                }
            };
            let parents = state.parent.iter().flat_map(|urn| before(&places, urn));
            needed.extend(parents.map(|place| self.states[place]));
            let mut found: Vec<usize> = needs(state).flat_map(|urn| before(&places, urn)).collect();
            while let Some(place) = found.pop() {
                needed.insert(self.states[place]);
                let state = self.arena.state(self.states[place]);
                if !state.is_custom() {
                    found.extend(before(&children, &state.urn));
                }
            }
        }
        needed
    }

    /// The copies of a URN that `state` means, of those at `places`: a live resource means the live one, and a copy that is
    /// due for deletion another such copy, if there is one. A provider is meant by its id.
    fn meant(&self, state: &ResourceState, mut places: Vec<usize>) -> Vec<usize> {
        let at = |place: &usize| self.arena.state(self.states[*place]);
        if places.iter().any(|place| at(place).delete == state.delete) {
            places.retain(|place| {
                at(place).delete == state.delete || self.provides(self.states[*place], state)
            });
        }
        places
    }

    /// Whether `state` names this very copy as its provider.
    fn provides(&self, copy: StateIdx, state: &ResourceState) -> bool {
        let copy = self.arena.state(copy);
        copy.kind == ResourceKind::Provider && copy.as_provider_ref() == state.provider
    }

    fn urn(&self, state: &'a ResourceState) -> &'a Urn {
        (self.current)(&state.urn)
    }

    /// Sorts the states in `going` into layers: each may go when the layers before it are gone.
    ///
    /// A resource goes after everything that depends on it: its children, its dependents, what it provides for. What
    /// depends on a component depends on everything below that component too (COMP-03), also where the component stays.
    ///
    /// With n states and e references this takes O(n + e) steps, and those along the chains of parents.
    pub(crate) fn layers(&self, going: &FxHashSet<StateIdx>) -> Vec<Vec<StateIdx>> {
        // The level of a state is one more than the highest level of anything that it depends on.
        let mut level_of: FxHashMap<&Urn, usize> = FxHashMap::default();
        // For components: the highest level of anything below them, so far.
        let mut level_below: FxHashMap<&Urn, usize> = FxHashMap::default();
        let mut parents: FxHashMap<&Urn, &Urn> = FxHashMap::default();
        let mut components: FxHashSet<&Urn> = FxHashSet::default();
        let mut levels: Vec<Vec<StateIdx>> = Vec::new();
        for idx in self.states {
            let state = self.arena.state(*idx);
            let urn = self.urn(state);
            let parent = state.parent.as_ref().map(&self.current);
            if let Some(parent) = parent {
                parents.insert(urn, parent);
            }
            if !state.is_custom() {
                components.insert(urn);
            }
            if !going.contains(idx) {
                continue;
            }
            let own = |urn: &Urn| level_of.get(urn).copied();
            let below = |urn: &Urn| level_below.get(urn).copied();
            let level = needs(state)
                .map(&self.current)
                .flat_map(|urn| own(urn).into_iter().chain(below(urn)))
                .chain(parent.and_then(own))
                .map(|level| level + 1)
                .max()
                .unwrap_or(0);
            let known = level_of.entry(urn).or_insert(level);
            *known = (*known).max(level);
            let mut ancestor = parent;
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
}
