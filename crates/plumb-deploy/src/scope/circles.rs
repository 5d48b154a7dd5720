//! Circles that an operation about some resources could close (`state.md` 2.1): what it leaves as it is goes on referring to
//! what the program may have refer to it now.

use plumb_resource::{ResourceState, Urn};
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::steps::step::{Step, StepKind};

/// URNs that resources outside the scope refer to.
#[derive(Debug, Default)]
pub(crate) struct KeptReferences {
    all: FxHashSet<Urn>,
    /// The URNs among them that this run has not recorded yet. Until it does they keep their old references, and if their step
    /// fails they keep them for good.
    open: FxHashSet<Urn>,
}

impl Deployment {
    /// `state` stays to the letter, and so does what it refers to.
    pub(crate) fn keep_references(&mut self, state: &ResourceState) {
        for urn in state.references_and_provider() {
            if self.urns.of_run(self.current_urn(urn)).is_none() {
                self.targeting.kept.open.insert(urn.clone());
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
        let circle = steps
            .iter()
            .filter(|step| !is_kept(step))
            .filter(|step| may_close_any || self.is_kept_reference(&step.urn))
            .find_map(|step| Some((step.urn.clone(), self.circle_through(step.new_state()?)?)));
        let Some((urn, kept)) = circle else {
            return true;
        };
        let message = format!(
            "Resource '{urn}' depends on '{kept}', which depends on it in turn and is left as it is. Include both, or \
             neither."
        );
        self.refuse(Some(&urn), &message);
        false
    }

    fn is_kept_reference(&self, urn: &Urn) -> bool {
        let former = self.aliases.former.get(urn).into_iter();
        former
            .chain([urn])
            .any(|urn| self.targeting.kept.all.contains(urn))
    }

    /// Whether something is kept that refers to what the run has not recorded yet.
    fn has_open_reference(&mut self) -> bool {
        let mut open = std::mem::take(&mut self.targeting.kept.open);
        open.retain(|urn| self.urns.of_run(self.current_urn(urn)).is_none());
        self.targeting.kept.open = open;
        !self.targeting.kept.open.is_empty()
    }

    /// A resource that refers to `new`, among those that `new` refers to, directly or through others.
    pub(crate) fn circle_through(&self, new: &ResourceState) -> Option<Urn> {
        let mut found: Vec<&Urn> = new.references_and_provider().collect();
        let mut seen: FxHashSet<&Urn> = found.iter().copied().collect();
        while let Some(urn) = found.pop() {
            let Some(idx) = self.urns.latest(urn) else {
                continue;
            };
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
}
