//! Registrations that targets leave out: they keep their old states (`engine.md` 4.7).

use std::sync::Arc;

use plumb_resource::{ProviderInstanceId, ProviderRef, ResourceState};

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::RegIdx;
use crate::step::{Step, StepKind};

impl Deployment {
    /// An untargeted registration keeps its old state to the letter, under its former name where an alias found it.
    /// Example: with `--target b`, a resource `a` that the program now calls `c` is still `a` in the state, and for the
    /// program, until an update includes it.
    pub(crate) fn untargeted_same(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        let Some(old) = registration.old else { return };
        let urn = registration.urn.clone();
        if let Some(reference) = self.arena.state(old).provider.clone()
            && self.providers.get(&reference).is_none()
        {
            if !self.was_provider(&reference) {
                return self.refuse(
                    Some(&urn),
                    &format!("could not find provider {reference} in old state"),
                );
            }
            if self.urns.has(reference.urn(), UrnFlag::Seen)
                || self.has_other_provider(idx, &reference)
            {
                let message = format!(
                    "provider {reference} for resource {urn} has not been registered yet, this is due to a change of \
                     providers mixed with --target. Change your program back to the original providers"
                );
                return self.refuse(Some(&urn), &message);
            }
        }
        let former = self.arena.state(old).urn.clone();
        if former != urn {
            self.aliases.kept.insert(former.clone());
        }
        let same = self.untargeted_same_step_as(old, &former);
        self.keep_as(idx, old, same);
    }

    /// Keeps the old state of a registration, under its new name, behind the states that it refers to.
    pub(crate) fn keep_registered(&mut self, idx: RegIdx, old: StateIdx) {
        let urn = self.registration(idx).urn.clone();
        let same = self.untargeted_same_step_as(old, &urn);
        self.keep_as(idx, old, same);
    }

    /// Keeps the old state of a registration that depends on a creation that a destroy skips. Events show it as the
    /// program says it is, with the outputs that it has and no id.
    pub(crate) fn keep_on_skipped(&mut self, idx: RegIdx, old: StateIdx) {
        let shown = ResourceState {
            outputs: self.arena.state(old).outputs.clone(),
            ..self.registration(idx).new.as_ref().clone()
        };
        self.targeting.shown_as_skipped.push(old);
        let urn = self.registration(idx).urn.clone();
        let mut same = self.untargeted_same_step_as(old, &urn);
        if let StepKind::Kept {
            shown: as_shown, ..
        } = &mut same.kind
        {
            *as_shown = Some(Arc::new(shown));
        }
        self.keep_as(idx, old, same);
    }

    fn keep_as(&mut self, idx: RegIdx, old: StateIdx, same: Step) {
        let urn = self.registration(idx).urn.clone();
        let mut steps = Vec::new();
        self.sames_of_dependencies(old, &mut steps);
        self.urns.mark(&urn, UrnFlag::Same);
        if same.urn != urn {
            self.urns.mark(&same.urn, UrnFlag::Same);
        }
        steps.push(same);
        self.run_steps(idx, steps);
    }

    /// Whether `reference` named a provider when the run began, other than one that was due for deletion.
    fn was_provider(&self, reference: &ProviderRef) -> bool {
        let provider = self.urns.of_base(reference.urn());
        let provider = provider.map(|idx| self.arena.state(idx));
        match reference.id() {
            ProviderInstanceId::Known(id) => {
                provider.is_some_and(|provider| provider.id.as_str() == id.as_str())
            }
            _ => false,
        }
    }

    fn has_other_provider(&self, idx: RegIdx, reference: &ProviderRef) -> bool {
        self.registration(idx)
            .goal
            .provider
            .as_ref()
            .is_some_and(|provider| provider.urn() != reference.urn())
    }

    /// Leaves out the creation of a resource: the program goes on with unknowns, the state gets nothing.
    pub(crate) fn skip_create(&mut self, idx: RegIdx) {
        let urn = self.registration(idx).urn.clone();
        self.urns.mark(&urn, UrnFlag::Same);
        self.urns.mark(&urn, UrnFlag::SkippedCreate);
        let new = self.registration(idx).new.clone();
        self.run_steps(idx, vec![Step::new(urn, StepKind::SkippedCreate { new })]);
    }
}
