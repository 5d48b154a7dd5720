//! Owners of views (`engine.md` 8.2).
//!
//! A view names its owner by URN, which several copies of a resource share while old copies wait for deletion. **The
//! position decides between copies**: a view comes after its own copy.

use plumb_resource::{ResourceState, Urn};
use rustc_hash::FxHashMap;

/// Indices of the owners of views, by the indices of the views.
///
/// The owner is the last copy before the view that is live if the view is live, and pending deletion if the view is. If
/// there is none, any copy before the view is the owner, otherwise the first copy after it.
pub fn owners_of_views<'a>(
    states: impl Iterator<Item = &'a ResourceState> + Clone,
) -> FxHashMap<usize, usize> {
    let mut owners = FxHashMap::default();
    if states.clone().all(|state| state.view_of.is_none()) {
        return owners;
    }
    let mut latest: FxHashMap<(&Urn, bool), usize> = FxHashMap::default();
    let mut early: Vec<(usize, &Urn, bool)> = Vec::new();
    let mut first: FxHashMap<(&Urn, bool), usize> = FxHashMap::default();
    for (index, state) in states.enumerate() {
        let Some(owner) = &state.view_of else {
            latest.insert((&state.urn, state.delete), index);
            first.entry((&state.urn, state.delete)).or_insert(index);
            continue;
        };
        match copy_in(&latest, owner, state.delete) {
            Some(found) => {
                owners.insert(index, found);
            }
            None => early.push((index, owner, state.delete)),
        }
    }
    let late = early.into_iter().filter_map(|(index, owner, delete)| {
        copy_in(&first, owner, delete).map(|found| (index, found))
    });
    owners.extend(late);
    owners
}

fn copy_in(copies: &FxHashMap<(&Urn, bool), usize>, owner: &Urn, delete: bool) -> Option<usize> {
    let fitting = [(owner, delete), (owner, !delete)];
    fitting.iter().find_map(|copy| copies.get(copy)).copied()
}
