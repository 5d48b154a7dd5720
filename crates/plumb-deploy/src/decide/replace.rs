//! Replacements, and what they drag along (`engine.md` 4.6, 4.9).

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{DiffRequest, DiffResult, ProviderCall};
use plumb_resource::{ProviderRef, ResourceKind, ResourceState, Urn};
use plumb_value::{PropertyMap, Value};
use rustc_hash::FxHashSet;

use crate::decide::registration::{RegStage, Turn};
use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::graph::needs;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::RegIdx;
use crate::status::Failure;
use crate::step::{Deletion, Order, Replaced, Step, StepKind, StepReason};
use crate::steps::shown::shown_value;
use crate::steps::{compare, provider_inputs};

/// A state that must be deleted before a resource can be replaced, and the properties for which.
type DependentReplacement = (StateIdx, Vec<EcoString>);

/// The search for what must be deleted before a resource can be replaced.
#[derive(Debug)]
pub(crate) struct Collection {
    diff: DiffResult,
    candidates: VecDeque<StateIdx>,
    /// Candidates that something had been decided about.
    passed_by: Vec<StateIdx>,
    replaced: FxHashSet<Urn>,
    found: Vec<DependentReplacement>,
    asking: Option<StateIdx>,
}

impl Deployment {
    /// A difference demands a replacement: refuses it where it must not happen, and has the inputs checked as those of a new
    /// resource.
    pub(crate) fn start_replacement(&mut self, idx: RegIdx, diff: DiffResult) {
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        let old = self.arena.state(old).clone();
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        if registration.new.protect && old.protect && !self.ctx.options.ignore_protect {
            let message = format!(
                "unable to replace resource \"{urn}\"\nas it is currently marked for protection. To unprotect the \
                 resource, remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`"
            );
            self.error(Some(&urn), &message);
            if !self.ctx.options.is_preview() {
                return self.fail(Failure::Refused);
            }
            self.status.refuse_in_preview();
        }
        if self.registration(idx).goal.import_id.is_some()
            && !self.may_replace_imported(idx, &old, &diff)
        {
            return;
        }
        let is_component = self.registration(idx).goal.kind == ResourceKind::Component;
        if is_component || self.is_replace_target(idx) {
            return self.plan_replacement(idx, diff);
        }
        self.registration_mut(idx).stage = RegStage::Rechecking(Box::new(diff));
        self.ask_check(idx, true);
    }

    /// A resource that still names the id that it was imported by may not be replaced (PULUMI-34).
    fn may_replace_imported(
        &mut self,
        idx: RegIdx,
        old: &ResourceState,
        diff: &DiffResult,
    ) -> bool {
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let mut message = String::from(
            "previously-imported resources that still specify an ID may not be replaced; please remove the `import` \
             declaration from your program;",
        );
        for key in &diff.replace_keys {
            let shown =
                |inputs: &PropertyMap| shown_value(inputs.get(key), self.ctx.options.show_secrets);
            let (before, after) = (shown(&old.inputs), shown(&registration.new.inputs));
            let _ = write!(message, "\n{key}: {before} => {after}");
        }
        if self.ctx.options.is_preview() {
            self.warning(Some(&urn), &message);
            return true;
        }
        self.refuse(Some(&urn), &message);
        false
    }

    /// The inputs of the replacement are checked: makes the steps, or first finds out what must go with the old one.
    pub(crate) fn plan_replacement(&mut self, idx: RegIdx, diff: DiffResult) {
        if self.is_gate_closed_to(idx) {
            return self.wait_at_gate(idx, Turn::Replace(Box::new(diff)));
        }
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        if self.urns.has(&urn, UrnFlag::Deleted) {
            return self.recreate(idx);
        }
        let deletes_first = registration
            .goal
            .delete_before_replace
            .unwrap_or(diff.delete_before_replace);
        self.urns.mark(&urn, UrnFlag::Replaced);
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        // What went for the replacement of another one in this run has no deletion of its own to come first.
        let waits_for_itself =
            self.arena.state(old).pending_replacement && !self.is_deleted_for_replacement(idx);
        if !deletes_first && !waits_for_itself {
            let steps = self.create_first(idx, old, &diff);
            return self.run_steps(idx, steps);
        }
        self.hold_gate(idx);
        let collection = self.collection_for(old, diff);
        self.collect_dependents(idx, collection);
    }

    fn collection_for(&self, old: StateIdx, diff: DiffResult) -> Collection {
        Collection {
            diff,
            candidates: self.dependents_of(old).into(),
            passed_by: Vec::new(),
            replaced: FxHashSet::from_iter([self.arena.state(old).urn.clone()]),
            found: Vec::new(),
            asking: None,
        }
    }

    /// Whether the old state of a registration goes, or went, for the replacement of another one. It may have gone under
    /// the name that it had before.
    pub(crate) fn is_deleted_for_replacement(&self, idx: RegIdx) -> bool {
        let old = self.registration(idx).old;
        old.is_some_and(|old| self.removal.pending.contains(&old))
    }

    /// Whether something has been decided about an old state, under its present URN or as a delete-before-replace.
    fn is_dealt_with(&self, old: StateIdx) -> bool {
        let urn = self.current_urn(&self.arena.state(old).urn);
        self.removal.pending.contains(&old) || self.urns.has_step(urn)
    }

    fn create_first(&self, idx: RegIdx, old: StateIdx, diff: &DiffResult) -> Vec<Step> {
        let replaces = Replaced {
            old,
            order: Order::CreateFirst,
        };
        vec![
            self.create_replacement(idx, replaces).because(why(diff)),
            self.replace_step(idx, replaces).because(why(diff)),
        ]
    }

    /// The step that makes the new half of a replacement.
    pub(crate) fn create_replacement(&self, idx: RegIdx, replaces: Replaced) -> Step {
        let registration = self.registration(idx);
        let create = StepKind::Create {
            new: registration.new.clone(),
            instance: registration.instance,
            replaces: Some(replaces),
        };
        Step::new(registration.urn.clone(), create)
    }

    /// The step that marks a replacement.
    pub(crate) fn replace_step(&self, idx: RegIdx, replaces: Replaced) -> Step {
        let registration = self.registration(idx);
        let new = registration.new.clone();
        Step::new(
            registration.urn.clone(),
            StepKind::Replace { new, replaces },
        )
    }

    /// Goes on through the candidates until a provider must be asked, or there are none left.
    fn collect_dependents(&mut self, idx: RegIdx, mut collection: Collection) {
        while let Some(candidate) = collection.candidates.pop_front() {
            let state = self.arena.state(candidate).clone();
            if self.is_dealt_with(candidate) {
                collection.passed_by.push(candidate);
                continue;
            }
            if state.external
                || state.kind == ResourceKind::Component
                // It is deleted already, perhaps with its provider.
                || state.pending_replacement
            {
                continue;
            }
            let depends = |urn: &Urn| collection.replaced.contains(urn);
            let by_provider = state
                .provider
                .as_ref()
                .is_some_and(|reference| depends(reference.urn()));
            if by_provider || state.deleted_with.as_ref().is_some_and(depends) {
                collection.replaced.insert(state.urn.clone());
                collection.found.push((candidate, Vec::new()));
                continue;
            }
            let Some(inputs) = with_unknowns(&state, &collection.replaced) else {
                continue;
            };
            if self.ask_dependent(idx, &state, inputs) {
                collection.asking = Some(candidate);
                self.registration_mut(idx).stage = RegStage::Collecting(Box::new(collection));
                return;
            }
            if self.status.has_failed() {
                return;
            }
        }
        // Registrations have arrived while providers were asked: a state that was passed on may have to be decided again, and a
        // dependent that was to be replaced with this resource may be replaced for its own reasons.
        let old = self.registration(idx).old;
        match old.filter(|_| self.is_outdated(&collection)) {
            Some(old) => {
                let again = self.collection_for(old, collection.diff);
                self.collect_dependents(idx, again);
            }
            None => self.delete_first(idx, collection),
        }
    }

    /// Whether something else is dealt with by now than when the dependents were gone through.
    fn is_outdated(&self, collection: &Collection) -> bool {
        let mut found = collection.found.iter();
        let mut passed_by = collection.passed_by.iter();
        found.any(|(it, _)| self.is_dealt_with(*it)) || passed_by.any(|it| !self.is_dealt_with(*it))
    }

    /// Asks the provider of a dependent whether it must be replaced when `inputs` are not known. False if it is not asked.
    fn ask_dependent(
        &mut self,
        idx: RegIdx,
        state: &Arc<ResourceState>,
        inputs: PropertyMap,
    ) -> bool {
        let found = if state.kind == ResourceKind::Provider {
            // Users of a provider that must be replaced are replaced with it, so it is asked like any dependent. Example:
            // a provider for the cluster that is to be deleted before its replacement.
            let reference = ProviderRef::new(state.urn.clone(), state.id.as_str());
            self.ensure_provider(&reference).map(Some)
        } else {
            self.instance_for_state(state)
        };
        let instance = match found {
            Ok(Some(instance)) => instance,
            Ok(None) => return false,
            Err(message) => {
                self.refuse(Some(&state.urn), &message);
                return false;
            }
        };
        if self.providers.is_config_unknown(instance) {
            return false;
        }
        self.ask_for(idx, instance, dependent_diff(state, inputs));
        true
    }

    pub(crate) fn dependent_diffed(
        &mut self,
        idx: RegIdx,
        mut collection: Collection,
        mut diff: DiffResult,
    ) {
        if let Some(candidate) = collection.asking.take() {
            let state = self.arena.state(candidate).clone();
            compare::apply_replace_on_changes(
                &mut diff,
                &state.replace_on_changes,
                &state.init_errors,
            );
            if diff.is_replace() {
                collection.replaced.insert(state.urn.clone());
                collection.found.push((candidate, diff.replace_keys));
            }
        }
        self.collect_dependents(idx, collection);
    }

    /// Everything is known: deletes dependents in reverse, then the resource, then makes the new one.
    fn delete_first(&mut self, idx: RegIdx, collection: Collection) {
        let root_urn = self.registration(idx).urn.clone();
        let going = self.with_cascade(collection.found, &root_urn);
        let mut steps = Vec::new();
        for (state_idx, keys) in going.into_iter().rev() {
            let state = self.arena.state(state_idx).clone();
            // What an earlier run has deleted for its replacement is gone already.
            if self.removal.pending.contains(&state_idx) || state.pending_replacement {
                continue;
            }
            if state.protect && !state.delete && !self.ctx.options.ignore_protect {
                return self.refuse_protected_dependent(&root_urn, &state.urn);
            }
            // Nothing in this run would create it again.
            if !state.delete && self.is_of_snippet_not_replayed(&state) {
                return self.refuse_dependent_of_snippet(&root_urn, &state);
            }
            let Some(step) = self.delete_for_replacement(state_idx) else {
                return;
            };
            // Of a copy that was due for deletion anyhow there is no replacement.
            if !state.delete {
                self.removal.replaced_keys.insert(state_idx, keys);
                self.urns.mark(&state.urn, UrnFlag::Deleted);
            }
            steps.push(step);
        }
        let Some(old) = self.predecessor_of(idx) else {
            return;
        };
        if self.is_needed_to_the_end(old) {
            steps.extend(self.create_first(idx, old, &collection.diff));
            self.run_steps(idx, steps);
            return self.release_gate();
        }
        if !self.arena.state(old).pending_replacement && !self.is_deleted_for_replacement(idx) {
            let Some(step) = self.delete_for_replacement(old) else {
                return;
            };
            self.urns.mark(&root_urn, UrnFlag::Deleted);
            steps.push(step);
        }
        let why = why(&collection.diff);
        let replaces = Replaced {
            old,
            order: Order::DeleteFirst,
        };
        steps.push(self.replace_step(idx, replaces).because(why.clone()));
        steps.push(self.create_replacement(idx, replaces).because(why));
        self.run_steps(idx, steps);
        self.release_gate();
    }

    /// Whether an old provider must stay until the end of the run whatever it says itself, because something that only goes
    /// then still needs it: the old half of another replacement, or what was read through it. Or something stays.
    fn is_needed_to_the_end(&self, old: StateIdx) -> bool {
        let Some(provider) = self.arena.state(old).as_provider_ref() else {
            return false;
        };
        let needs_it = |idx: &StateIdx| {
            let state = self.arena.state(*idx);
            let urn = self.current_urn(&state.urn);
            let goes_last = if state.external && !state.delete {
                !self.urns.has_step(urn)
            } else {
                state.delete || self.urns.has(urn, UrnFlag::Replaced)
            };
            state.provider.as_ref() == Some(&provider)
                && !self.removal.pending.contains(idx)
                && !state.pending_replacement
                && goes_last
        };
        self.targeting.kept_providers.contains(&provider) || self.olds.order().iter().any(needs_it)
    }

    fn refuse_protected_dependent(&mut self, root: &Urn, dependent: &Urn) {
        let message = format!(
            "unable to replace resource \"{dependent}\" as part of replacing \"{root}\" as it is currently marked for \
             protection. To unprotect the resource, remove the `protect` flag from the resource in your Pulumi program \
             and run `pulumi up`, or use the command:\n`pulumi state unprotect '{dependent}'`"
        );
        self.error(Some(root), &message);
        self.fail(Failure::Refused);
    }

    fn refuse_dependent_of_snippet(&mut self, root: &Urn, dependent: &ResourceState) {
        let (urn, uuid) = (&dependent.urn, dependent.snippet_id.as_deref());
        let message = format!(
            "unable to replace resource \"{root}\" as \"{urn}\" must be replaced with it, which belongs to the snippet \
             '{}' that this run leaves out; target that snippet too, or remove it",
            uuid.unwrap_or_default()
        );
        self.refuse(Some(urn), &message);
    }

    /// The step that deletes the old object of a replacement first; `None` if its provider does not start, which has been
    /// shown.
    fn delete_for_replacement(&mut self, idx: StateIdx) -> Option<Step> {
        let state = self.arena.state(idx).clone();
        let instance = match self.instance_for_state(&state) {
            Ok(instance) => instance,
            Err(message) => {
                self.refuse(Some(&state.urn), &message);
                return None;
            }
        };
        self.removal.pending.insert(idx);
        self.removal.urns.insert(state.urn.clone());
        // What was due for deletion anyhow has no replacement to wait for.
        let deletion = if state.delete {
            Deletion::Unwanted
        } else {
            Deletion::ForReplacement
        };
        let delete = StepKind::Delete {
            old: idx,
            deletion,
            is_external: state.external,
            instance,
        };
        Some(Step::new(state.urn.clone(), delete))
    }

    /// Old states to delete before `root` is replaced, dependents first, each with the properties that cause it. States that
    /// name `root` in `deletedWith` or `replaceWith` need no such property. They are deleted first, but after their own
    /// dependents: with `b` deleted with `root`, and `c` dependent on `b`, the order is `c`, `b`, then the rest.
    fn with_cascade(
        &self,
        found: Vec<DependentReplacement>,
        root: &Urn,
    ) -> Vec<DependentReplacement> {
        let cascade = self.cascade_of(root);
        if cascade.is_empty() {
            return found;
        }
        let mut urns: FxHashSet<&Urn> = FxHashSet::default();
        urns.extend(cascade.iter().map(|idx| &self.arena.state(*idx).urn));
        let (mut going, mut first) = (Vec::new(), Vec::new());
        for (idx, keys) in found {
            let state = self.arena.state(idx);
            if cascade.contains(&idx) {
                continue;
            }
            if needs(state).any(|urn| urns.contains(urn)) {
                urns.insert(&state.urn);
                first.push((idx, keys));
            } else {
                going.push((idx, keys));
            }
        }
        first.extend(cascade.into_iter().map(|idx| (idx, Vec::new())));
        first.sort_by_key(|(idx, _)| self.olds.position(*idx));
        going.extend(first);
        going
    }

    /// Old states that go when `urn` is replaced, because they say so: deletedWith or replaceWith it.
    fn cascade_of(&self, urn: &Urn) -> Vec<StateIdx> {
        let former = self.aliases.former.get(urn);
        let names = |other: &Urn| other == urn || Some(other) == former;
        self.olds
            .order()
            .iter()
            .copied()
            .filter(|idx| {
                let state = self.arena.state(*idx);
                !state.delete
                    && !self.is_dealt_with(*idx)
                    && (state.deleted_with.as_ref().is_some_and(names)
                        || state.replace_with.iter().any(names))
            })
            .collect()
    }
}

fn why(diff: &DiffResult) -> StepReason {
    StepReason {
        keys: diff.replace_keys.clone(),
        diffs: diff.changed_keys.clone(),
        detailed_diff: diff.detailed_diff.clone(),
    }
}

/// The request that asks whether a dependent must be replaced when some of its inputs are not known.
fn dependent_diff(state: &ResourceState, inputs: PropertyMap) -> ProviderCall {
    let inputs = Arc::new(inputs);
    let request = DiffRequest {
        urn: state.urn.clone(),
        id: state.id.clone(),
        old_inputs: state.inputs.clone(),
        old_outputs: state.outputs.clone(),
        new_inputs: inputs.clone(),
        allow_unknowns: true,
        ignore_changes: state.ignore_changes.clone(),
    };
    if state.kind == ResourceKind::Provider {
        ProviderCall::DiffConfig(DiffRequest {
            old_inputs: provider_inputs::without_internal(&state.inputs),
            old_outputs: provider_inputs::outputs_of(state),
            new_inputs: provider_inputs::without_internal(&inputs),
            ..request
        })
    } else {
        ProviderCall::Diff(request)
    }
}

/// The inputs of `state` with those unknown that come from a replaced resource; `None` if there are none.
fn with_unknowns(state: &ResourceState, replaced: &FxHashSet<Urn>) -> Option<PropertyMap> {
    let mut inputs: Option<PropertyMap> = None;
    for (key, dependencies) in &state.property_dependencies {
        if dependencies.iter().any(|urn| replaced.contains(urn))
            && state.inputs.contains_key(key.as_str())
        {
            inputs
                .get_or_insert_with(|| state.inputs.as_ref().clone())
                .insert(key.clone(), Value::UNKNOWN);
        }
    }
    inputs
}
