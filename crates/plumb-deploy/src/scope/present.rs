//! States that are still there, and the order in which they may go (`engine.md` 7.2).

use plumb_resource::{ProviderRef, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::graph::DeleteOrder;
use crate::setup::Operation;

impl Deployment {
    /// Every state that is still there and that a reference of something deleted can mean, after what it refers to itself.
    pub(crate) fn everything(&self) -> Vec<StateIdx> {
        let mut seen = FxHashSet::default();
        let olds = self.olds.order().iter();
        let states = self
            .removal
            .registered_during_destroy
            .iter()
            .chain(olds)
            .filter(|idx| !self.is_superseded_by_destroy(**idx))
            .chain(&self.removal.planned)
            .filter(|idx| !self.gone.contains(idx))
            .copied();
        // What did not change stands in both.
        let states: Vec<StateIdx> = states.filter(|idx| seen.insert(*idx)).collect();
        if self.removal.registered_during_destroy.is_empty() {
            return states;
        }
        self.in_order_of_references(states)
    }

    /// Sorts states so that references point backwards, because a state that a destroy has passed on may refer to one that was
    /// registered later. A copy that is due for deletion stays before the states that may mean it.
    fn in_order_of_references(&self, states: Vec<StateIdx>) -> Vec<StateIdx> {
        let mut live: FxHashMap<&Urn, StateIdx> = FxHashMap::default();
        let mut copies: FxHashMap<&Urn, Vec<StateIdx>> = FxHashMap::default();
        let mut places: FxHashMap<StateIdx, usize> = FxHashMap::default();
        let mut providers: FxHashMap<ProviderRef, StateIdx> = FxHashMap::default();
        for (place, idx) in states.iter().enumerate() {
            places.insert(*idx, place);
            let provider = self.arena.state(*idx).as_provider_ref();
            providers.extend(provider.map(|reference| (reference, *idx)));
            let urn = self.current_urn(self.arena.urn(*idx));
            if self.arena.state(*idx).delete {
                copies.entry(urn).or_default().push(*idx);
            } else {
                live.insert(urn, *idx);
            }
        }
        let meant = |idx: StateIdx, urn: &Urn| -> Vec<StateIdx> {
            let urn = self.current_urn(urn);
            let copies = copies.get(urn).into_iter().flatten();
            let earlier = copies.filter(|copy| places[*copy] < places[&idx]);
            earlier.chain(live.get(urn)).copied().collect()
        };
        let mut ordered = Vec::with_capacity(states.len());
        let mut seen = FxHashSet::default();
        let mut waiting: Vec<(StateIdx, bool)> =
            states.into_iter().rev().map(|idx| (idx, false)).collect();
        while let Some((idx, is_ready)) = waiting.pop() {
            if is_ready {
                ordered.push(idx);
            } else if seen.insert(idx) {
                waiting.push((idx, true));
                let references = self.arena.state(idx).references_and_provider();
                let provider = self.arena.state(idx).provider.as_ref();
                let provider = provider.and_then(|reference| providers.get(reference));
                let found = references
                    .flat_map(|urn| meant(idx, urn))
                    .chain(provider.copied());
                waiting.extend(found.map(|idx| (idx, false)));
            }
        }
        ordered
    }

    /// Whether a destroy has registered a resource again: its new references count, not the old ones.
    fn is_superseded_by_destroy(&self, old: StateIdx) -> bool {
        let state = self.arena.state(old);
        let new = self.urns.of_run(self.current_urn(&state.urn));
        let is_another = new.is_some_and(|new| new != old);
        self.ctx.operation == Operation::Destroy && !state.delete && is_another
    }

    pub(crate) fn delete_order<'a>(
        &'a self,
        states: &'a [StateIdx],
    ) -> DeleteOrder<'a, impl Fn(&'a Urn) -> &'a Urn> {
        DeleteOrder {
            arena: &self.arena,
            states,
            current: |urn| self.current_urn(urn),
        }
    }
}
