//! Repair of a snapshot with unordered or dangling references (`state.md` 2.3).
//!
//! 1. Sort, so that each resource comes after those that it refers to ([`order_of`]).
//! 2. Walk in that order and drop references to resources not seen yet. A resource whose parent was dropped or renamed
//!    gets the URN that follows from its new parent ([`prune`]).
//! 3. Drop empty property dependencies, as every edit of references does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use ecow::EcoVec;
use plumb_resource::{ProviderRef, ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{ReferenceKind, edges};
use crate::normalize::drop_empty_dependencies;
use crate::{EncryptedSnapshot, Snapshot, owners_of_views};

/// The result of a repair.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired<S = Snapshot> {
    /// The repaired snapshot. It may still be invalid, because a missing provider cannot be restored.
    pub snapshot: S,
    /// Resources that changed their place, in the new order.
    pub reordered: Vec<Urn>,
    /// Resources that lost references or changed their URN.
    pub pruned: Vec<Pruned>,
}

/// Changes to one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Former URN of the resource.
    pub urn: Urn,
    /// New URN, if it changed.
    pub renamed: Option<Urn>,
    /// Dropped references.
    pub dropped: Vec<DroppedReference>,
}

/// A dropped reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedReference {
    /// Kind of reference.
    pub kind: ReferenceKind,
    /// Target of the reference.
    pub target: Urn,
}

/// Error for a dependency cycle, which no order satisfies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("snapshot has cyclic dependencies: {}", circle.iter().map(Urn::as_str).collect::<Vec<_>>().join(" -> "))]
pub struct CycleError {
    /// Resources of the cycle: each refers to the next, and the last to the first.
    pub circle: Vec<Urn>,
}

/// Repairs a snapshot as far as possible, and reports the changes.
pub fn repair(snapshot: &Snapshot) -> Result<Repaired, CycleError> {
    let order = order_of(&snapshot.resources)?;
    let mut reordered = Vec::new();
    let mut resources = Vec::with_capacity(order.len());
    for (place, &index) in order.iter().enumerate() {
        let state = &snapshot.resources[index];
        if place != index {
            reordered.push(state.urn.clone());
        }
        resources.push(state.clone());
    }
    let pruned = prune(&mut resources);
    resources.iter_mut().for_each(drop_empty_dependencies);
    Ok(Repaired {
        snapshot: Snapshot {
            resources,
            ..snapshot.clone()
        },
        reordered,
        pruned,
    })
}

impl EncryptedSnapshot {
    /// Repairs like [`repair`], without the secrets manager.
    pub fn repair(&self) -> Result<Repaired<EncryptedSnapshot>, CycleError> {
        let Repaired {
            snapshot,
            reordered,
            pruned,
        } = repair(&self.inner)?;
        let snapshot = EncryptedSnapshot {
            inner: snapshot,
            has_byte_strings: self.has_byte_strings,
        };
        Ok(Repaired {
            snapshot,
            reordered,
            pruned,
        })
    }
}

/// Resolves references to entries.
struct Lookup<'a> {
    live: FxHashMap<&'a Urn, usize>,
    deleted: FxHashMap<&'a Urn, usize>,
    providers: FxHashMap<ProviderRef, usize>,
}

impl<'a> Lookup<'a> {
    fn new(resources: &'a [Arc<ResourceState>]) -> Self {
        let mut lookup = Lookup {
            live: FxHashMap::default(),
            deleted: FxHashMap::default(),
            providers: FxHashMap::default(),
        };
        for (index, state) in resources.iter().enumerate() {
            let copies = if state.delete {
                &mut lookup.deleted
            } else {
                &mut lookup.live
            };
            copies.entry(&state.urn).or_insert(index);
            if let Some(provider) = state.as_provider_ref() {
                lookup.providers.entry(provider).or_insert(index);
            }
        }
        lookup
    }

    /// Indices of the entries that `state` refers to. A copy that waits for deletion prefers such copies.
    fn needs(&self, state: &ResourceState) -> Vec<usize> {
        let (first, second) = if state.delete {
            (&self.deleted, &self.live)
        } else {
            (&self.live, &self.deleted)
        };
        let provider = state
            .provider
            .as_ref()
            .and_then(|provider| self.providers.get(provider));
        let others = state
            .references()
            .filter_map(|urn| first.get(urn).or_else(|| second.get(urn)));
        provider.into_iter().chain(others).copied().collect()
    }
}

/// Sorts entries after those that they refer to; otherwise the order is kept. Cycles remain as they are, except those
/// between old copies that can refer to another copy instead.
///
/// Costs one pass if the order is correct already.
pub(crate) fn restore_order(resources: &mut Vec<Arc<ResourceState>>) {
    let lookup = Lookup::new(resources);
    let is_right = |(index, state): (usize, &Arc<ResourceState>)| {
        lookup.needs(state).into_iter().all(|need| need <= index)
    };
    if resources.iter().enumerate().all(is_right) {
        return;
    }
    let order = order_of(resources).ok();
    if let Some(order) = order.or_else(|| order_by_name(resources)) {
        *resources = with_views(resources, order)
            .into_iter()
            .map(|index| resources[index].clone())
            .collect();
    }
}

/// `order` with every view directly after its owner, because only the position tells to which of several copies it
/// belongs.
fn with_views(resources: &[Arc<ResourceState>], order: Vec<usize>) -> Vec<usize> {
    let owners = owners_of_views(resources.iter().map(Arc::as_ref));
    if owners.is_empty() {
        return order;
    }
    let mut views: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for view in order.iter().filter(|index| owners.contains_key(index)) {
        views.entry(owners[view]).or_default().push(*view);
    }
    let mut ordered = Vec::with_capacity(order.len());
    for index in order.iter().filter(|index| !owners.contains_key(index)) {
        ordered.push(*index);
        ordered.extend(views.remove(index).unwrap_or_default());
    }
    ordered
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    Open,
    Done,
}

/// Order in which every entry comes after those that it refers to, as close to the current order as possible.
fn order_of(resources: &[Arc<ResourceState>]) -> Result<Vec<usize>, CycleError> {
    let lookup = Lookup::new(resources);
    let mut marks = vec![Mark::Unseen; resources.len()];
    let mut order = Vec::with_capacity(resources.len());
    for root in 0..resources.len() {
        if marks[root] != Mark::Unseen {
            continue;
        }
        let mut path = vec![(root, lookup.needs(&resources[root]).into_iter())];
        marks[root] = Mark::Open;
        while let Some((index, needs)) = path.last_mut() {
            let index = *index;
            match needs.next() {
                None => {
                    marks[index] = Mark::Done;
                    order.push(index);
                    path.pop();
                }
                // References of a resource to itself are removed when references are dropped.
                Some(need) if need == index || marks[need] == Mark::Done => {}
                Some(need) if marks[need] == Mark::Open => {
                    let start = path
                        .iter()
                        .position(|(open, _)| *open == need)
                        .unwrap_or_default();
                    let circle = path[start..]
                        .iter()
                        .map(|(open, _)| resources[*open].urn.clone())
                        .collect();
                    return Err(CycleError { circle });
                }
                Some(need) => {
                    marks[need] = Mark::Open;
                    path.push((need, lookup.needs(&resources[need]).into_iter()));
                }
            }
        }
    }
    Ok(order)
}

/// Order in which every reference has some entry with its URN before it, and every provider comes before its resources.
fn order_by_name(resources: &[Arc<ResourceState>]) -> Option<Vec<usize>> {
    let mut bearers: FxHashMap<&Urn, usize> = FxHashMap::default();
    let mut providers: FxHashMap<ProviderRef, usize> = FxHashMap::default();
    for (index, state) in resources.iter().enumerate() {
        *bearers.entry(&state.urn).or_default() += 1;
        let provider = state.as_provider_ref();
        providers.extend(provider.map(|reference| (reference, index)));
    }
    // Entries that wait for the first entry with a URN, and for a provider.
    let mut for_name: FxHashMap<&Urn, Vec<usize>> = FxHashMap::default();
    let mut for_provider: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut missing = vec![0_usize; resources.len()];
    for (index, state) in resources.iter().enumerate() {
        let names: FxHashSet<&Urn> = state.references().collect();
        for name in names {
            let itself = usize::from(*name == state.urn);
            if bearers.get(name).is_some_and(|count| *count > itself) {
                for_name.entry(name).or_default().push(index);
                missing[index] += 1;
            }
        }
        let provider = state.provider.as_ref().and_then(|it| providers.get(it));
        if let Some(provider) = provider {
            for_provider.entry(*provider).or_default().push(index);
            missing[index] += 1;
        }
    }
    let free = (0..resources.len()).filter(|index| missing[*index] == 0);
    let mut free: BinaryHeap<Reverse<usize>> = free.map(Reverse).collect();
    let mut order: Vec<usize> = Vec::with_capacity(resources.len());
    while let Some(Reverse(index)) = free.pop() {
        order.push(index);
        let by_name = for_name.remove(&resources[index].urn);
        let by_provider = for_provider.remove(&index);
        for waiting in [by_name, by_provider].into_iter().flatten().flatten() {
            missing[waiting] -= 1;
            if missing[waiting] == 0 {
                free.push(Reverse(waiting));
            }
        }
    }
    (order.len() == resources.len()).then_some(order)
}

fn prune(resources: &mut [Arc<ResourceState>]) -> Vec<Pruned> {
    let mut seen: FxHashMap<Urn, Urn> = FxHashMap::default();
    let mut pruned = Vec::new();
    for state in resources {
        let urn = state.urn.clone();
        let dropped: Vec<DroppedReference> = edges(state)
            .filter(|(_, target)| !seen.contains_key(*target))
            .map(|(kind, target)| DroppedReference {
                kind,
                target: target.clone(),
            })
            .collect();
        let renamed = new_urn(state, &seen);
        let is_moved = |target: &Urn| seen.get(target).is_some_and(|now| now != target);
        if renamed.is_some() || !dropped.is_empty() || state.references_and_provider().any(is_moved)
        {
            rewrite(Arc::make_mut(state), renamed.clone(), &seen);
        }
        seen.insert(urn.clone(), state.urn.clone());
        if renamed.is_some() || !dropped.is_empty() {
            pruned.push(Pruned {
                urn,
                renamed,
                dropped,
            });
        }
    }
    pruned
}

/// New URN of a resource from its remaining parent; `None` if it is unchanged.
fn new_urn(state: &ResourceState, seen: &FxHashMap<Urn, Urn>) -> Option<Urn> {
    let parent = state.parent.as_ref()?;
    let parent_type = seen
        .get(parent)
        .map(Urn::qualified_type)
        .unwrap_or_default();
    let urn = state.urn.with_parent_type(parent_type);
    (urn != state.urn).then_some(urn)
}

fn rewrite(state: &mut ResourceState, renamed: Option<Urn>, seen: &FxHashMap<Urn, Urn>) {
    if let Some(urn) = renamed {
        state.urn = urn;
    }
    let keep = |urns: &mut EcoVec<Urn>| {
        *urns = urns
            .iter()
            .filter_map(|urn| seen.get(urn).cloned())
            .collect();
    };
    keep(&mut state.dependencies);
    keep(&mut state.replace_with);
    state.property_dependencies.retain(|_, urns| {
        let was_empty = urns.is_empty();
        keep(urns);
        was_empty || !urns.is_empty()
    });
    for target in [&mut state.parent, &mut state.deleted_with] {
        *target = target.take().and_then(|urn| seen.get(&urn).cloned());
    }
    if let Some(view_of) = &mut state.view_of
        && let Some(now) = seen.get(view_of)
    {
        *view_of = now.clone();
    }
    if let Some(provider) = &mut state.provider
        && let Some(now) = seen.get(provider.urn())
    {
        *provider = provider.with_urn(now.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str, delete: bool, needs: &[&str]) -> Arc<ResourceState> {
        let urn = |name: &str| Urn::new("dev", "proj", "", "test:m:Thing", name);
        Arc::new(ResourceState {
            delete,
            dependencies: needs.iter().map(|name| urn(name)).collect(),
            ..ResourceState::new(urn(name), plumb_resource::ResourceKind::Component)
        })
    }

    fn order(mut resources: Vec<Arc<ResourceState>>) -> Vec<(String, bool)> {
        restore_order(&mut resources);
        let told = resources.iter();
        told.map(|it| (it.urn.name().to_owned(), it.delete))
            .collect()
    }

    /// Each old copy comes after the successor of the other; neither depends on the other.
    #[test]
    fn old_copies_that_seem_to_need_each_other_take_what_comes_before() {
        let resources = vec![
            state("a", false, &["h"]),
            state("h", false, &[]),
            state("a", true, &["h"]),
            state("h", true, &["a"]),
        ];
        let names = [("h", false), ("a", false), ("a", true), ("h", true)];
        assert_eq!(
            order(resources),
            names.map(|(it, due)| (it.to_owned(), due))
        );
    }

    /// Only the position tells to which copy a view belongs.
    #[test]
    fn parts_stay_behind_their_copies() {
        let part = |name: &str, owner: &Arc<ResourceState>| {
            let mut part = state(name, owner.delete, &[]).as_ref().clone();
            part.parent = Some(owner.urn.clone());
            part.view_of = Some(owner.urn.clone());
            Arc::new(part)
        };
        let (first, second) = (state("a", true, &["c"]), state("a", true, &[]));
        let resources = vec![
            second.clone(),
            part("of the second", &second),
            first.clone(),
            part("of the first", &first),
            state("c", false, &[]),
        ];
        let names = order(resources);
        let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "of the second", "c", "a", "of the first"]);
    }

    #[test]
    fn a_circle_stays_as_it_is() {
        let resources = vec![state("a", false, &["b"]), state("b", false, &["a"])];
        let names = [("a", false), ("b", false)];
        assert_eq!(
            order(resources),
            names.map(|(it, due)| (it.to_owned(), due))
        );
    }
}
