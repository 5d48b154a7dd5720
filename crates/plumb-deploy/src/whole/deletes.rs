//! Deletes at the end of a program: resources that it did not register (`engine.md` 7.2).

use plumb_resource::{ProviderRef, ResourceKind, ResourceState, Urn};
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::graph::Copies;
use crate::facts::urn_flags::UrnFlag;
use crate::setup::Operation;
use crate::status::{Failure, Stage};
use crate::step::{Deletion, Step, StepKind, deletion_of};
use crate::steps::scheduler::Owner;

impl Deployment {
    /// Plans what is left of the base: same steps for what is not targeted, deletes for the rest. Runs the same steps.
    pub(crate) fn start_sames(&mut self) {
        if !self.check_targets_after_program() {
            return self.fail(Failure::Refused);
        }
        let allowed = self.deletable();
        let (sames, mut deletes) = self.unmentioned(allowed.as_ref());
        if self.ctx.operation == Operation::Destroy {
            let mut registered_during_destroy = self.registered_during_destroy(allowed.as_ref());
            registered_during_destroy.append(&mut deletes);
            deletes = registered_during_destroy;
        }
        if self.is_constrained() && !deletes.is_empty() {
            let needed = self.needed_by_what_stays(&deletes);
            deletes.retain(|idx| !needed.contains(idx));
        }
        let is_allowed = self.check_untargeted_deletes(&deletes);
        if !is_allowed && self.ctx.options.is_preview() {
            // It shows everything that would be deleted, too.
            self.status.refuse_in_preview();
        } else if !is_allowed {
            let cause = "delete untargeted resource".to_owned();
            return self.fail(Failure::Step { cause });
        }
        for idx in &sames {
            let urn = self.arena.state(*idx).urn.clone();
            self.plan_unregistered_same(&urn);
        }
        if let Some(allowed) = &allowed {
            self.tell_skipped_that_stay(allowed);
        }
        if !self.plan_deletes(&deletes) {
            return;
        }
        // Nothing depends on an object that was created again.
        deletes.append(&mut self.removal.leftovers);
        self.stage = Stage::Sames;
        self.removal.planned = deletes;
        let steps: Vec<Step> = sames
            .into_iter()
            .map(|idx| self.untargeted_same_step(idx))
            .collect();
        if !steps.is_empty() {
            self.start_chain(Owner::Engine, steps);
        }
    }

    /// Emits a `same` step for each resource that was shown as skipped and that a destroy with targets keeps. Example: the
    /// program says that `a` depends on the new `j`, and the target is `h`: `a` was shown like the skipped `j`, and stays.
    fn tell_skipped_that_stay(&mut self, allowed: &FxHashSet<StateIdx>) {
        for idx in std::mem::take(&mut self.targeting.shown_as_skipped) {
            let Some(state) = self
                .urns
                .of_run(self.current_urn(&self.arena.state(idx).urn))
            else {
                continue;
            };
            if !allowed.contains(&idx) {
                let same = self.untargeted_same_step(state);
                self.announce_step(&same);
                self.tell_step_done(&same, Some(state));
            }
        }
    }

    /// Old states that nothing was done about: those that stay because of targets, and those that go.
    fn unmentioned(&self, allowed: Option<&FxHashSet<StateIdx>>) -> (Vec<StateIdx>, Vec<StateIdx>) {
        let mut sames = Vec::new();
        let mut deletes = Vec::new();
        for idx in self.olds.order().to_vec() {
            let state = self.arena.state(idx);
            let is_left = if state.delete {
                !self.removal.pending.contains(&idx)
            } else {
                let urn = self.current_urn(&state.urn);
                // The program registers it, and the registration failed before its step was decided.
                let is_undecided =
                    self.urns.has(urn, UrnFlag::Seen) && self.urns.has(urn, UrnFlag::Errored);
                !self.urns.is_operated_on(urn) && !is_undecided
            };
            if state.view_of.is_some() || !is_left {
                continue;
            }
            if allowed.is_some_and(|allowed| !allowed.contains(&idx)) {
                // A copy that is due for deletion stays too, and has an event like the rest.
                let is_told = self.urns.has(&state.urn, UrnFlag::Seen)
                    || self.urns.is_operated_on(self.current_urn(&state.urn));
                if !is_told {
                    sames.push(idx);
                }
                continue;
            }
            deletes.push(idx);
        }
        (sames, deletes)
    }

    /// Resources that the program of a destroy registered. They are deleted as well, because the program ran only for its
    /// options. States of the base may refer to them, never the other way round.
    fn registered_during_destroy(&self, allowed: Option<&FxHashSet<StateIdx>>) -> Vec<StateIdx> {
        // Something may have been passed on for another's sake before the program registered it.
        let mut seen = FxHashSet::default();
        let is_condemned = |idx: &StateIdx| {
            let urn = &self.arena.state(*idx).urn;
            let latest = self.urns.of_run(self.current_urn(urn));
            let is_latest = seen.insert(*idx) && latest == Some(*idx);
            is_latest && allowed.is_none_or(|allowed| allowed.contains(idx))
        };
        let registered_during_destroy = self.removal.registered_during_destroy.iter().copied();
        registered_during_destroy.filter(is_condemned).collect()
    }

    /// Providers among `deletes` that something left as it is still refers to, and what they need in turn.
    fn needed_by_what_stays(&self, deletes: &[StateIdx]) -> FxHashSet<StateIdx> {
        let going: FxHashSet<StateIdx> = deletes.iter().copied().collect();
        // An old state is present if this run did not record another in its place, or if it waits for its deletion.
        let is_present = |idx: StateIdx| {
            let state = self.arena.state(idx);
            let current = self.current_urn(&state.urn);
            let replacement = self.urns.of_run(current).filter(|new| *new != idx);
            state.delete || replacement.is_none()
        };
        let stays = |idx: &StateIdx| {
            let is_gone = self.gone.contains(idx) || self.arena.state(*idx).pending_replacement;
            is_present(*idx) && !is_gone && !going.contains(idx)
        };
        let staying = self
            .olds
            .order()
            .iter()
            .copied()
            .chain(self.urns.all_of_run());
        let providers: FxHashSet<&ProviderRef> = staying
            .filter(|idx| stays(idx))
            .filter_map(|idx| self.arena.state(idx).provider.as_ref())
            .collect();
        let states = self.everything();
        let is_used = |state: &ResourceState| {
            let reference = state.as_provider_ref();
            reference.is_some_and(|reference| providers.contains(&reference))
        };
        // Only the current references of a provider count, because an update may have dropped some of the old ones.
        let is_used = |idx: StateIdx| is_used(self.arena.state(idx)) && is_present(idx);
        let replaced = self.replaced_in_this_run(&states);
        let copies = Copies::Present {
            replaced: &replaced,
        };
        let mut needed = self.delete_order(&states).needed(copies, is_used);
        needed.extend(deletes.iter().copied().filter(|idx| is_used(*idx)));
        needed
    }

    /// Old states in whose place this run recorded another one.
    fn replaced_in_this_run(&self, states: &[StateIdx]) -> FxHashSet<StateIdx> {
        let is_replaced = |idx: &StateIdx| {
            let latest = self.urns.of_run(self.current_urn(self.arena.urn(*idx)));
            latest.is_some_and(|new| new != *idx && !self.arena.state(new).delete)
        };
        states.iter().copied().filter(is_replaced).collect()
    }

    /// States that may be deleted; `None` if all may.
    fn deletable(&self) -> Option<FxHashSet<StateIdx>> {
        let options = &self.ctx.options;
        if options.has_targets() {
            return Some(self.targets_and_dependents());
        }
        if !options.excludes.is_constrained() {
            return None;
        }
        let forbidden = self.excluded_and_dependencies();
        let states = self.everything().into_iter();
        let is_allowed = |idx: &StateIdx| !forbidden.contains(&self.arena.state(*idx).urn);
        Some(states.filter(is_allowed).collect())
    }

    /// Same steps are done: sorts the deletes into layers.
    pub(crate) fn start_deletes(&mut self) {
        self.stage = Stage::Deletes;
        let planned = self.removal.planned.clone();
        for idx in &planned {
            let state = self.arena.state(*idx).clone();
            self.removal.pending.insert(*idx);
            self.removal.urns.insert(state.urn.clone());
            if !state.delete {
                self.urns.mark(&state.urn, UrnFlag::Deleted);
            }
        }
        self.removal.orphaning = self.still_referred_to();
        let going: FxHashSet<StateIdx> = planned.into_iter().collect();
        let states = self.everything();
        let layers = self.delete_order(&states).layers(&going);
        self.removal.layers = layers.into();
    }

    /// URNs that are to go altogether, although the program has something refer to them that stays.
    fn still_referred_to(&self) -> FxHashSet<Urn> {
        let planned: FxHashSet<StateIdx> = self.removal.planned.iter().copied().collect();
        let staying = || self.urns.all_of_run().filter(|idx| !planned.contains(idx));
        let mut going: FxHashSet<&Urn> = self
            .removal
            .planned
            .iter()
            .map(|it| self.arena.urn(*it))
            .collect();
        for idx in staying() {
            going.remove(self.arena.urn(idx));
        }
        staying()
            .flat_map(|idx| self.arena.state(idx).references())
            .map(|urn| self.current_urn(urn))
            .filter(|urn| going.contains(urn))
            .cloned()
            .collect()
    }

    /// Runs the next layer, or ends the run when there is none.
    pub(crate) fn next_deletes(&mut self) {
        let Some(layer) = self.removal.layers.pop_front() else {
            return self.finish();
        };
        let blocked = self.kept_by_errors();
        for idx in layer {
            if blocked.contains(&idx) {
                self.removal.kept.insert(idx);
                continue;
            }
            match self.delete_step(idx) {
                Ok(step) => {
                    self.start_chain(Owner::Engine, vec![step]);
                }
                Err(message) => {
                    let urn = self.arena.state(idx).urn.clone();
                    self.refuse(
                        Some(&urn),
                        &format!("could not load provider for resource {urn}: {message}"),
                    );
                    return;
                }
            }
        }
    }

    /// States that something needs which failed or was left out: they stay too (COE-01, PROTECT-03). A state that has stayed
    /// for that reason keeps its own dependencies even if the dependent is gone.
    fn kept_by_errors(&self) -> FxHashSet<StateIdx> {
        if !self.status.has_deferred() {
            return FxHashSet::default();
        }
        let states = self.everything();
        self.delete_order(&states).needed(Copies::Meant, |idx| {
            let urn = self.arena.urn(idx);
            let mut names = [urn, self.current_urn(urn)].into_iter();
            self.removal.kept.contains(&idx)
                || names.any(|urn| self.urns.has(urn, UrnFlag::Errored))
        })
    }

    fn delete_step(&mut self, idx: StateIdx) -> Result<Step, String> {
        let state = self.arena.state(idx).clone();
        let deletion = deletion_of(&state);
        let needs_provider = state.kind == ResourceKind::Custom && deletion != Deletion::Forgotten;
        let instance = if needs_provider && !self.ctx.options.is_preview() {
            self.instance_for_state(&state)?
        } else {
            None
        };
        let delete = StepKind::Delete {
            old: idx,
            deletion,
            is_external: state.external,
            instance,
        };
        Ok(Step::new(state.urn.clone(), delete))
    }
}
