//! Circles that an operation about some resources could close (`state.md` 2.1): what it leaves as it is goes on referring to
//! what the program may have refer to it now.

use plumb_resource::{ResourceState, Urn};
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::steps::step::{Step, StepKind};

/// What is referred to by resources that are left as they are.
#[derive(Debug, Default)]
pub(crate) struct KeptReferences {
    all: FxHashSet<Urn>,
    /// Those that the run had not recorded yet: until then they go on referring to what they referred to so far, and for
    /// good if they fail.
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

    /// What is left as it is may still refer to a resource that the program has refer to it now.
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

    /// What `new` refers to, perhaps through others, that refers to it.
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
