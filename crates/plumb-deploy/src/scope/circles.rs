//! Circles that an operation about some resources could close (`state.md` 2.1): what it leaves as it is goes on referring to
//! what the program may have refer to it now.

use plumb_resource::{ResourceState, Urn};
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::step::{Step, StepKind};

/// URNs that resources outside the scope refer to.
#[derive(Debug, Default)]
pub(crate) struct KeptReferences {
    all: FxHashSet<Urn>,
    /// Stack of those that this run had not recorded when they were added. Until it does they keep their old references, and
    /// if their step fails they keep them for good.
    open: Vec<Urn>,
}

impl Deployment {
    /// `state` stays to the letter, and so does what it refers to.
    pub(crate) fn keep_references(&mut self, state: &ResourceState) {
        for urn in state.references_and_provider() {
            if self.urns.of_run(self.current_urn(urn)).is_none() {
                self.targeting.kept.open.push(urn.clone());
            }
            self.targeting.kept.all.insert(urn.clone());
        }
    }

    /// Refuses steps that would close a circle: a resource outside the scope keeps its old references, and the program may now
    /// make one of the resources that it refers to depend on it. Example: the state has `b` depend on `a`, the program has `a`
    /// depend on `b`, and only `a` is targeted.
    pub(crate) fn check_circles(&mut self, steps: &[Step]) -> bool {
        let is_kept = |step: &&Step| matches!(step.kind, StepKind::Kept { .. });
        // Nobody registers what belongs to a snippet that is left out, nor perhaps what that needs.
        let leaves_snippets_out = !self.ctx.options.target_snippets.is_empty();
        let may_close_any = leaves_snippets_out || self.has_open_reference();
        for step in steps.iter().filter(|step| !is_kept(step)) {
            if !may_close_any && !self.is_kept_reference(&step.urn) {
                continue;
            }
            let Some(new) = step.new_state() else {
                continue;
            };
            if let Some(kept) = self.circle_through(new) {
                let urn = &step.urn;
                let message = format!(
                    "Resource '{urn}' depends on '{kept}', which depends on it in turn and is left as it is. Include both, \
                     or neither."
                );
                self.refuse(Some(urn), &message);
                return false;
            }
        }
        true
    }

    fn is_kept_reference(&self, urn: &Urn) -> bool {
        let former = self.aliases.former.get(urn).into_iter();
        former
            .chain([urn])
            .any(|urn| self.targeting.kept.all.contains(urn))
    }

    /// Whether something is kept that refers to what the run has not recorded yet. Each reference is removed once, because
    /// every decision asks.
    fn has_open_reference(&mut self) -> bool {
        while let Some(urn) = self.targeting.kept.open.last() {
            if self.urns.of_run(self.current_urn(urn)).is_none() {
                return true;
            }
            self.targeting.kept.open.pop();
        }
        false
    }

    /// A resource that refers to `new`, among those that `new` refers to, directly or through others.
    ///
    /// The search stops at settled URNs, unless `new` is settled under a lower number: what can be reached from them has lower
    /// numbers than they. What it visits is settled afterwards where possible. So each resource is visited about once, by the
    /// first search that comes to it. Example: of `a`, `b` on `a`, and `c` on `b`, the search from `c` visits `b` alone, because
    /// the one from `b` has settled `a`.
    pub(crate) fn circle_through(&mut self, new: &ResourceState) -> Option<Urn> {
        let mut visited: Vec<StateIdx> = Vec::new();
        let circle = self.search_circle(new, &mut visited);
        if circle.is_none() {
            self.settle(&visited);
        }
        circle
    }

    fn search_circle(&self, new: &ResourceState, visited: &mut Vec<StateIdx>) -> Option<Urn> {
        let own = self.urns.settled(&new.urn).unwrap_or(u32::MAX);
        let mut found: Vec<&Urn> = new.references_and_provider().collect();
        let mut seen: FxHashSet<&Urn> = found.iter().copied().collect();
        while let Some(urn) = found.pop() {
            if self.urns.settled(urn).is_some_and(|number| number < own) {
                continue;
            }
            let Some(idx) = self.urns.latest(urn) else {
                continue;
            };
            visited.push(idx);
            for next in self.arena.state(idx).references_and_provider() {
                let next = self.current_urn(next);
                if *next == new.urn {
                    return Some(urn.clone());
                }
                if seen.insert(next) {
                    found.push(next);
                }
            }
        }
        None
    }

    /// Settles the URNs of those states that the run has recorded and that refer to settled URNs alone. The last visited come
    /// first, because most of what a state refers to is visited after it.
    fn settle(&mut self, visited: &[StateIdx]) {
        for idx in visited.iter().rev() {
            let urn = self.arena.state(*idx).urn.clone();
            if self.urns.of_run(&urn) == Some(*idx) && self.refers_below(*idx, u32::MAX) {
                self.urns.settle(&urn);
            }
        }
    }

    /// Whether everything that a state refers to is settled under a lower number than `limit`.
    fn refers_below(&self, idx: StateIdx, limit: u32) -> bool {
        let number = |urn: &Urn| self.urns.settled(self.current_urn(urn));
        let mut references = self.arena.state(idx).references_and_provider();
        references.all(|urn| number(urn).is_some_and(|number| number < limit))
    }

    /// Takes `idx` as the state of `urn` in this run. If `urn` is settled and this state refers to others than the one before,
    /// nothing is settled any more.
    pub(crate) fn set_of_run(&mut self, urn: &Urn, idx: StateIdx) {
        let own = self.urns.settled(urn);
        if own.is_some_and(|own| !self.refers_below(idx, own)) {
            self.urns.unsettle_all();
        }
        self.urns.set_of_run(urn, idx);
    }
}
