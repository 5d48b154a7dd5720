//! Decisions about registrations: same, create, update or replace (`engine.md` 4.3 G, 4.6).
//!
//! A [`registration`] passes its stages: [`arrival`], [`check`] (with [`naming`]), [`policies`], comparison
//! ([`crate::steps::compare`]), decision. The decision itself is in this file; [`left_out`] keeps what targets leave out,
//! [`replace`] finds what a replacement includes, and [`plans`] holds the decision against a plan. [`reads`] and [`import`] are
//! decisions about objects that the stack did not create. Every decision leaves by [`exit`].

pub(crate) mod arrival;
pub(crate) mod check;
pub(crate) mod exit;
pub(crate) mod import;
pub(crate) mod left_out;
pub(crate) mod naming;
pub(crate) mod plans;
pub(crate) mod policies;
pub(crate) mod reads;
pub(crate) mod registration;
pub(crate) mod replace;

use std::sync::Arc;

use ecow::EcoVec;
use plumb_resource::ResourceKind;
use plumb_resource::provider::{DiffChanges, DiffRequest, DiffResult, ProviderCall};
use plumb_state::journal::EntryKind;

use crate::decide::policies::After;
use crate::decide::registration::{Checked, RegStage, Scope, Turn};
use crate::deployment::Deployment;
use crate::event::Milestone;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::RegIdx;
use crate::request::Outcome;
use crate::status::Failure;
use crate::step::{Order, Replaced, Step, StepKind, StepReason};
use crate::steps::{compare, provider_inputs};
use crate::work::Work;

/// Warning that a provider cannot compare, because its own configuration is not known (PULUMI-03).
const DIFF_UNAVAILABLE: &str = "The provider for this resource has inputs that are not known during preview.\n\
    This preview may not correctly represent the changes that will be applied during an update.";

impl Deployment {
    /// Decides about a checked registration, or has it wait while another one collects what it must replace.
    pub(crate) fn decide_checked(&mut self, idx: RegIdx) {
        if self.registration(idx).scope == Scope::Refused {
            return self.refuse_checked(idx);
        }
        // An object that was deleted while its new inputs were checked has them checked again, and only that result is planned.
        if !self.went_meanwhile(idx) && !self.plan_goal(idx) {
            return;
        }
        self.consult_policies(idx, After::Decide);
    }

    /// Whether the old resource went for the replacement of another one while it was checked as one that is there.
    fn went_meanwhile(&self, idx: RegIdx) -> bool {
        let registration = self.registration(idx);
        registration.old.is_some()
            && self.urns.has(&registration.urn, UrnFlag::Deleted)
            && self.is_checked_beside_old(idx)
    }

    /// Whether its replacement must be checked before it is made. Components are not, nor is what is left out.
    fn is_checked_beside_old(&self, idx: RegIdx) -> bool {
        let registration = self.registration(idx);
        registration.goal.kind != ResourceKind::Component
            && registration.scope == Scope::Included
            && registration.checked == Checked::BesideOld
    }

    /// Whether another registration collects what it must replace, which may include this one.
    pub(crate) fn is_gate_closed_to(&self, idx: RegIdx) -> bool {
        self.gate.holder.is_some_and(|holder| holder != idx)
    }

    /// Has a registration wait until the gate is open; it goes on with `turn`.
    pub(crate) fn wait_at_gate(&mut self, idx: RegIdx, turn: Turn) {
        self.registration_mut(idx).stage = RegStage::Waiting(turn);
        self.gate.waiting.push_back(idx);
    }

    /// Takes the gate, so that nobody else decides before [`Deployment::release_gate`].
    pub(crate) fn hold_gate(&mut self, idx: RegIdx) {
        self.gate.holder = Some(idx);
    }

    pub(crate) fn release_gate(&mut self) {
        self.gate.holder = None;
        for idx in std::mem::take(&mut self.gate.waiting) {
            self.work.push_back(Work::Decide(idx));
        }
    }

    /// The gate is open: a registration that waited goes on, and nothing that it has found out is asked again.
    pub(crate) fn take_turn(&mut self, idx: RegIdx) {
        if self.status.has_failed() {
            return;
        }
        match std::mem::replace(&mut self.registration_mut(idx).stage, RegStage::Done) {
            RegStage::Waiting(Turn::Diffed(diff)) => self.diffed(idx, *diff),
            RegStage::Waiting(Turn::Replace(diff)) => self.plan_replacement(idx, *diff),
            _ => self.decide(idx),
        }
    }

    /// Part G: the first case that applies.
    pub(crate) fn decide(&mut self, idx: RegIdx) {
        if self.status.has_failed() {
            return;
        }
        if self.is_gate_closed_to(idx) {
            return self.wait_at_gate(idx, Turn::Decide);
        }
        let urn = self.registration(idx).urn.clone();
        self.tell_milestone(|| Milestone::DecisionStarted(urn));
        let registration = self.registration(idx);
        if registration.scope == Scope::Included && self.ctx.options.has_targets() {
            let new = registration.new.clone();
            self.queue_sames_before(&new);
        }
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        // What went under its former name is compared, if the operation is about it.
        let has_gone = match registration.scope {
            Scope::Included => self.urns.has(&urn, UrnFlag::Deleted) && registration.old.is_some(),
            Scope::LeftOut | Scope::Refused => self.is_deleted_for_replacement(idx),
        };
        if has_gone {
            return self.recreate(idx);
        }
        if self.old_of(idx).is_some_and(|old| old.external) {
            return self.take_ownership(idx);
        }
        // Its dependents follow it. What belongs to the operation only because every provider does is no target.
        if registration.scope == Scope::LeftOut {
            self.note_selected(&urn, false);
        } else if self.is_target(&registration.new) {
            self.note_selected(&urn, true);
        }
        let registration = self.registration(idx);
        match (registration.old, registration.scope) {
            (Some(_), Scope::Included) => self.start_diff(idx),
            (None, Scope::Included) => self.create_new(idx),
            (Some(_), Scope::LeftOut) => self.untargeted_same(idx),
            (None, Scope::LeftOut) => self.skip_create(idx),
            (_, Scope::Refused) => self.fail(Failure::Refused),
        }
    }

    fn create_new(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let create = StepKind::Create {
            new: registration.new.clone(),
            instance: registration.instance,
            replaces: None,
        };
        self.urns.mark(&urn, UrnFlag::Created);
        self.run_steps(idx, vec![Step::new(urn, create)]);
    }

    /// Case 1: the old resource went for the replacement of another; this is its own replacement.
    pub(crate) fn recreate(&mut self, idx: RegIdx) {
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        if !self.extend_provider(idx) {
            return;
        }
        if self.is_checked_beside_old(idx) {
            // The result must not depend on when the old object was deleted.
            self.registration_mut(idx).stage = RegStage::RecheckingDeleted;
            return self.ask_check(idx, true);
        }
        if !self.plan_again(idx) {
            return;
        }
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        self.urns.unmark(&urn, UrnFlag::Deleted);
        self.urns.mark(&urn, UrnFlag::Replaced);
        let former = self.arena.state(old).urn.clone();
        self.removal.urns.remove(&former);
        let keys = self
            .removal
            .replaced_keys
            .get(&old)
            .cloned()
            .unwrap_or_default();
        let replaces = Replaced {
            old,
            order: Order::DeleteFirst,
        };
        let replace = self.replace_step(idx, replaces);
        let create = self.create_replacement(idx, replaces).because(StepReason {
            keys,
            ..StepReason::default()
        });
        self.run_steps(idx, vec![replace, create]);
    }

    /// Case 2: what was only read so far becomes ours.
    fn take_ownership(&mut self, idx: RegIdx) {
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        let urn = self.registration(idx).urn.clone();
        if !self.extend_provider(idx) {
            return;
        }
        let replaces = Replaced {
            old,
            order: Order::CreateFirst,
        };
        let create = self.create_replacement(idx, replaces);
        let replace = self.replace_step(idx, replaces);
        // Not a replacement for others, because the old object was never ours: `replaceWith` and `deletedWith` do not apply.
        self.urns.mark(&urn, UrnFlag::Created);
        self.run_steps(idx, vec![create, replace]);
    }

    /// Finds out how the resource differs: without the provider where that is possible, in the order of `engine.md` 4.6.
    fn start_diff(&mut self, idx: RegIdx) {
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        let old = self.arena.state(old).clone();
        let registration = self.registration(idx);
        let trigger = &registration.new.replacement_trigger;
        if trigger.contains_unknowns() && !self.ctx.options.is_preview() {
            let urn = registration.urn.clone();
            return self.refuse(
                Some(&urn),
                &format!("replacement trigger contains unknowns for {urn}"),
            );
        }
        if self.is_triggered(idx) {
            // The provider is not called, even if inputs changed too, so the replacement has no reasons.
            return self.diffed(idx, DiffResult::of(DiffChanges::Some));
        }
        if let Some(diff) = self.diff_by_rule(idx) {
            return self.diffed(idx, diff);
        }
        let new_provider = self.registration(idx).new.provider.clone();
        match (&old.provider, &new_provider) {
            (None, None) => self.diff_inputs(idx),
            (Some(before), Some(after)) if before == after => self.diff_inputs(idx),
            // The same provider under another name, unless it is being replaced (PROV-07).
            (Some(before), Some(after))
                if before.id() == after.id()
                    && self.aliases.claimed.get(before.urn()) == Some(after.urn()) =>
            {
                self.diff_inputs(idx);
            }
            (Some(before), Some(_)) => match self.old_provider(before) {
                Some(before) => self.ask_provider_diff(idx, &before),
                None => self.diff_inputs(idx),
            },
            (None, Some(_)) | (Some(_), None) => {
                self.diffed(idx, compare::must_replace("provider"));
            }
        }
    }

    /// Whether the replacement trigger says that the resource is to be replaced.
    fn is_triggered(&self, idx: RegIdx) -> bool {
        let trigger = &self.registration(idx).new.replacement_trigger;
        self.old_of(idx)
            .is_some_and(|old| compare::trigger_fires(&old.replacement_trigger, trigger))
    }

    /// Differences that follow from other resources or from what the user said.
    fn diff_by_rule(&self, idx: RegIdx) -> Option<DiffResult> {
        let new = &self.registration(idx).new;
        if self.is_replace_target(idx) {
            return Some(compare::must_replace("id"));
        }
        if new
            .replace_with
            .iter()
            .any(|urn| self.urns.has(urn, UrnFlag::Replaced))
        {
            return Some(compare::must_replace("replaceWith"));
        }
        if new
            .deleted_with
            .as_ref()
            .is_some_and(|urn| self.urns.has(urn, UrnFlag::Replaced))
        {
            return Some(compare::must_replace("deletedWith"));
        }
        None
    }

    /// Asks the new provider whether moving a resource to it from the old one demands a replacement.
    fn ask_provider_diff(&mut self, idx: RegIdx, before: &plumb_resource::ResourceState) {
        let registration = self.registration(idx);
        let Some(instance) = registration.instance else {
            return self.diff_inputs(idx);
        };
        let after = self.providers.inputs(instance).clone();
        let request = ProviderCall::DiffConfig(DiffRequest {
            urn: registration
                .new
                .provider
                .as_ref()
                .map_or_else(|| before.urn.clone(), |it| it.urn().clone()),
            id: before.id.clone(),
            old_inputs: provider_inputs::without_internal(&before.inputs),
            old_outputs: provider_inputs::outputs_of(before),
            new_inputs: provider_inputs::without_internal(&after),
            // Updates too: a targeted one can leave inputs of a provider unknown.
            allow_unknowns: true,
            ignore_changes: EcoVec::new(),
        });
        self.registration_mut(idx).stage = RegStage::DiffingProvider;
        self.ask_for(idx, instance, request);
    }

    pub(crate) fn provider_diffed(&mut self, idx: RegIdx, diff: &DiffResult) {
        if diff.is_replace() {
            self.diffed(idx, compare::must_replace("provider"));
        } else {
            self.diff_inputs(idx);
        }
    }

    /// Steps 5 to 7 of the diff: by inputs, or by the provider.
    fn diff_inputs(&mut self, idx: RegIdx) {
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        let old = self.arena.state(old).clone();
        let registration = self.registration(idx);
        let new_inputs = registration.new.inputs.clone();
        if self.ctx.options.legacy_diff && compare::are_equal(&old.inputs, &new_inputs) {
            return self.diffed(idx, DiffResult::of(DiffChanges::None));
        }
        match registration.goal.kind {
            ResourceKind::Component => {
                let changes = if compare::are_equal(&old.inputs, &new_inputs) {
                    DiffChanges::None
                } else {
                    DiffChanges::Some
                };
                self.diffed(idx, DiffResult::of(changes));
            }
            ResourceKind::Provider => {
                let Some(instance) = self.providers.unconfigured(&registration.urn) else {
                    return self.internal_error("a provider that was checked is not loaded");
                };
                let request = ProviderCall::DiffConfig(DiffRequest {
                    urn: registration.urn.clone(),
                    id: old.id.clone(),
                    old_inputs: provider_inputs::without_internal(&old.inputs),
                    old_outputs: provider_inputs::outputs_of(&old),
                    new_inputs: provider_inputs::without_internal(&new_inputs),
                    allow_unknowns: self.ctx.options.is_preview(),
                    ignore_changes: registration.goal.ignore_changes.clone(),
                });
                self.registration_mut(idx).stage = RegStage::Diffing;
                self.ask_for(idx, instance, request);
            }
            ResourceKind::Custom => self.ask_diff(idx, &old),
        }
    }

    fn ask_diff(&mut self, idx: RegIdx, old: &plumb_resource::ResourceState) {
        let Some(instance) = self.instance_of(idx) else {
            return;
        };
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        if self.providers.is_config_unknown(instance) {
            self.warning(Some(&urn), DIFF_UNAVAILABLE);
            return self.diffed(idx, DiffResult::of(DiffChanges::Some));
        }
        let request = ProviderCall::Diff(DiffRequest {
            urn,
            id: old.id.clone(),
            old_inputs: old.inputs.clone(),
            old_outputs: old.outputs.clone(),
            new_inputs: registration.new.inputs.clone(),
            allow_unknowns: self.ctx.options.is_preview(),
            ignore_changes: registration.goal.ignore_changes.clone(),
        });
        self.registration_mut(idx).stage = RegStage::Diffing;
        self.ask_for(idx, instance, request);
    }

    /// The difference is known: replace, update or leave.
    pub(crate) fn diffed(&mut self, idx: RegIdx, diff: DiffResult) {
        if self.status.has_failed() {
            return;
        }
        if self.is_gate_closed_to(idx) {
            return self.wait_at_gate(idx, Turn::Diffed(Box::new(diff)));
        }
        if self.urns.has(&self.registration(idx).urn, UrnFlag::Deleted) {
            return self.recreate(idx);
        }
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        let old = self.arena.state(old).clone();
        let registration = self.registration(idx);
        let mut diff = self.resolve_unknown(idx, &old, diff);
        compare::apply_replace_on_changes(
            &mut diff,
            &registration.goal.replace_on_changes,
            &old.init_errors,
        );
        let is_triggered = self.is_triggered(idx);
        // What went under its former name has no mark, but there is nothing left to update.
        let is_gone = old.pending_replacement || self.is_deleted_for_replacement(idx);
        if diff.changes == DiffChanges::Some || is_gone {
            if diff.is_replace() || is_triggered || is_gone {
                return self.start_replacement(idx, diff);
            }
            return self.update(idx, diff);
        }
        if old.init_errors.is_empty() {
            self.same(idx);
        } else {
            self.update(idx, diff);
        }
    }

    /// Where the provider cannot tell, the engine compares inputs; for providers, outputs with inputs.
    fn resolve_unknown(
        &self,
        idx: RegIdx,
        old: &plumb_resource::ResourceState,
        diff: DiffResult,
    ) -> DiffResult {
        if diff.changes != DiffChanges::Unknown {
            return diff;
        }
        let registration = self.registration(idx);
        if registration.goal.kind == ResourceKind::Provider {
            let inputs = provider_inputs::without_internal(&registration.new.inputs);
            let changes = if provider_inputs::outputs_of(old) == inputs {
                DiffChanges::None
            } else {
                DiffChanges::Some
            };
            return DiffResult { changes, ..diff };
        }
        compare::fallback_diff(&old.inputs, &registration.new.inputs, diff)
    }

    fn update(&mut self, idx: RegIdx, diff: DiffResult) {
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let update = StepKind::Update {
            old,
            new: registration.new.clone(),
            instance: registration.instance,
        };
        let step = Step::new(urn.clone(), update).because(StepReason {
            keys: Vec::new(),
            diffs: diff.changed_keys,
            detailed_diff: diff.detailed_diff,
        });
        self.urns.mark(&urn, UrnFlag::Updated);
        self.run_steps(idx, vec![step]);
    }

    /// Nothing is to be done about an imported object, although its inputs may not be those of the program. The state keeps
    /// what was read until the next run; what the program says is secret is secret at once.
    fn hide_program_secrets(&mut self, idx: RegIdx, imported: StateIdx) {
        let read = self.arena.state(imported).inputs.clone();
        let mut inputs = read.as_ref().clone();
        inputs.hide_like(&self.registration(idx).new.inputs);
        if inputs == *read {
            return;
        }
        self.arena.update(imported, |state| {
            crate::steps::record::hide_secret_outputs(state, &inputs);
            state.inputs = Arc::new(inputs);
        });
        let slot = self.arena.slot(imported);
        let state = self.arena.state(imported).clone();
        let operation = self.outbox.operation();
        self.journal(operation, EntryKind::Outputs { slot, state });
    }

    fn same(&mut self, idx: RegIdx) {
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        let urn = self.registration(idx).urn.clone();
        self.urns.mark(&urn, UrnFlag::Same);
        if self.urns.has(&urn, UrnFlag::Imported) {
            self.tell_milestone(|| Milestone::Decided(urn.clone()));
            self.set_of_run(&urn, old);
            self.hide_program_secrets(idx, old);
            let fence = self.outbox.journaled();
            return self.finish_registration(idx, Some(old), Outcome::Success, false, fence);
        }
        let new = self.registration(idx).new.clone();
        self.run_steps(idx, vec![Step::new(urn, StepKind::Same { old, new })]);
    }
}
