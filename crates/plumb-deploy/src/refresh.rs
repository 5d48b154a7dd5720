//! Refreshes: making the state as the world is (`engine.md` 7.3, 7.4).

use std::sync::Arc;

use plumb_resource::provider::{
    DiffChanges, DiffRequest, DiffResult, ProviderCall, ProviderError, ProviderReply, ReadRequest,
    ReadResponse, ResourceStatus,
};
use plumb_resource::{ResourceId, ResourceKind, ResourceState, StepOp};
use plumb_state::journal::{Entry, EntryKind, Fold, OperationId};

use crate::apply::Applied;
use crate::arena::{Arena, Olds, StateIdx};
use crate::chain::{ChainIdx, Owner, Running, StepEnd};
use crate::deployment::{Deployment, Failure, Stage, Waiter};
use crate::marks::Mark;
use crate::registration::RegIdx;
use crate::setup::Operation;
use crate::step::{How, Step, Why};

/// A resource as it was read, before it is compared.
#[derive(Debug)]
pub(crate) struct Refreshed {
    new: ResourceState,
}

impl Deployment {
    /// Whether anything must be read before the program runs.
    pub(crate) fn wants_refresh_phase(&self) -> bool {
        let options = &self.ctx.options;
        if options.run_program {
            return false;
        }
        options.refresh
            || (self.ctx.operation == Operation::Update
                && self
                    .olds
                    .order()
                    .iter()
                    .any(|idx| self.arena.state(*idx).refresh_before_update))
    }

    /// Reads every resource that the operation is about, all side by side.
    pub(crate) fn start_refresh(&mut self) {
        if !self.check_refresh_targets() {
            return self.fail(Failure::Refused);
        }
        self.stage = Stage::Refreshing;
        let everything = self.ctx.options.refresh || self.ctx.operation == Operation::Refresh;
        let states = self.olds.order().to_vec();
        self.refresh_states(&states, everything);
    }

    fn refresh_states(&mut self, states: &[StateIdx], everything: bool) {
        for idx in states {
            let state = self.arena.state(*idx).clone();
            let is_selected = self.is_selected(&state, self.ctx.options.targets.is_constrained());
            self.note_selected(&state.urn, is_selected, false);
            if state.view_of.is_some()
                || !is_selected
                || !(everything || state.refresh_before_update)
            {
                continue;
            }
            let step = Step::new(StepOp::Refresh, state.urn.clone()).old(Some(*idx));
            self.start_chain(Owner::Engine, vec![step]);
        }
    }

    /// Reads the old state of a registration, before the registration is decided.
    pub(crate) fn refresh_for_registration(&mut self, idx: RegIdx, old: StateIdx) {
        let registration = self.registration(idx);
        let step = Step::new(StepOp::Refresh, registration.urn.clone())
            .old(Some(old))
            .new_state(registration.new.clone())
            .how(How::PersistedRefresh);
        self.start_chain(Owner::RefreshFor(idx), vec![step]);
    }

    pub(crate) fn perform_refresh(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
    ) -> Option<StepEnd> {
        let state = self.arena.state(step.old?).clone();
        if state.kind != ResourceKind::Custom || state.pending_replacement {
            // Where the program runs, components and providers count as changed by what it says.
            let found = match step.how {
                How::PersistedRefresh if !state.pending_replacement => StepOp::Update,
                _ => StepOp::Same,
            };
            return Some(self.refresh_ends(step, operation, Some(state.as_ref().clone()), found));
        }
        let instance = match state
            .provider
            .as_ref()
            .map(|reference| self.ensure_provider(reference))
            .transpose()
        {
            Ok(Some(instance)) => instance,
            Ok(None) => {
                return Some(self.refresh_ends(
                    step,
                    operation,
                    Some(state.as_ref().clone()),
                    StepOp::Same,
                ));
            }
            Err(message) => {
                let message = format!(
                    "could not load provider for resource {}: {message}",
                    state.urn
                );
                return Some(self.complete(
                    step,
                    operation,
                    Applied::from_error(&ProviderError::clean(message)),
                ));
            }
        };
        let request = ProviderCall::Read(ReadRequest {
            urn: step.urn.clone(),
            id: state.id.clone(),
            inputs: Some(state.inputs.clone()),
            outputs: state.outputs.clone(),
            timeout: state.custom_timeouts.read,
        });
        self.step_calls(idx, step.by(Some(instance)), operation, request, 0)
    }

    pub(crate) fn refresh_answered(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        running: Running,
        result: Result<ProviderReply, ProviderError>,
    ) -> Option<StepEnd> {
        match running {
            Running::Call | Running::ImportCheck(_) => {
                self.read_for_refresh(idx, step, operation, result)
            }
            Running::RefreshDiff(refreshed) => Some(match result {
                Ok(ProviderReply::Diffed(diff)) => {
                    self.compared(step, operation, refreshed.new, diff.inverted())
                }
                Ok(_) => self.complete(step, operation, Applied::from_error(&unexpected("Diff"))),
                Err(error) => self.complete(step, operation, Applied::from_error(&error)),
            }),
        }
    }

    fn read_for_refresh(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        result: Result<ProviderReply, ProviderError>,
    ) -> Option<StepEnd> {
        let old = self.arena.state(step.old?).clone();
        let mut init_errors = Vec::new();
        let response = match result {
            Ok(ProviderReply::Read(response)) => response,
            Ok(_) => {
                return Some(self.complete(
                    step,
                    operation,
                    Applied::from_error(&unexpected("Read")),
                ));
            }
            Err(error) => {
                let ResourceStatus::Partial(partial) = &error.status else {
                    return Some(self.complete(step, operation, Applied::from_error(&error)));
                };
                init_errors.clone_from(&partial.reasons);
                let mut message = String::from("Refreshed resource is in an unhealthy state:");
                for reason in &partial.reasons {
                    message.push_str("\n* ");
                    message.push_str(reason);
                }
                self.warning(Some(&step.urn), &message);
                ReadResponse {
                    id: partial.id.clone(),
                    inputs: partial.inputs.clone(),
                    outputs: partial.outputs.clone(),
                    refresh_before_update: partial.refresh_before_update,
                }
            }
        };
        let Some(outputs) = response.outputs.filter(|_| response.id != ResourceId::None) else {
            return Some(self.refresh_ends(step, operation, None, StepOp::Delete));
        };
        let mut new = ResourceState {
            id: response.id,
            inputs: response.inputs.unwrap_or_else(|| old.inputs.clone()),
            outputs,
            init_errors,
            refresh_before_update: response.refresh_before_update,
            ..old.as_ref().clone()
        };
        if new.inputs != old.inputs || new.outputs != old.outputs {
            new.modified = Some(self.now);
        }
        self.compare_refreshed(idx, step, operation, &old, new)
    }

    /// Finds out whether what was read differs, as the user sees it.
    fn compare_refreshed(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        old: &Arc<ResourceState>,
        new: ResourceState,
    ) -> Option<StepEnd> {
        if old.external || self.ctx.options.legacy_refresh_diff {
            let found = if old.outputs == new.outputs {
                StepOp::Same
            } else {
                StepOp::Update
            };
            return Some(self.refresh_ends(step, operation, Some(new), found));
        }
        let request = ProviderCall::Diff(DiffRequest {
            urn: step.urn.clone(),
            id: new.id.clone(),
            old_inputs: new.inputs.clone(),
            old_outputs: new.outputs.clone(),
            new_inputs: old.inputs.clone(),
            allow_unknowns: self.ctx.options.is_preview(),
            ignore_changes: old.ignore_changes.clone(),
        });
        let instance = step.instance?;
        self.step_waits(
            idx,
            step,
            operation,
            Running::RefreshDiff(Box::new(Refreshed { new })),
        );
        self.call(Waiter::Chain(idx), instance, request, 0);
        None
    }

    fn compared(
        &mut self,
        step: Step,
        operation: OperationId,
        new: ResourceState,
        diff: DiffResult,
    ) -> StepEnd {
        let old = step.old.map(|old| self.arena.state(old).clone());
        let is_identical = old.as_deref().is_some_and(|old| {
            old.inputs == new.inputs
                && old.outputs == new.outputs
                && old.id == new.id
                && old.init_errors == new.init_errors
        });
        let diff = match (&old, diff.changes) {
            (Some(old), DiffChanges::Unknown) => {
                crate::compare::fallback_diff(&old.inputs, &new.inputs, diff)
            }
            _ => diff,
        };
        let found = if is_identical || diff.changes == DiffChanges::None {
            StepOp::Same
        } else {
            StepOp::Update
        };
        let why = match found {
            StepOp::Same => Why::default(),
            _ => Why {
                keys: Vec::new(),
                diffs: diff.changed_keys,
                detailed_diff: diff.detailed_diff,
            },
        };
        self.refresh_ends(step.because(why), operation, Some(new), found)
    }

    /// Records what a refresh found.
    fn refresh_ends(
        &mut self,
        step: Step,
        operation: OperationId,
        new: Option<ResourceState>,
        found: StepOp,
    ) -> StepEnd {
        let Some(old) = step.old else {
            return StepEnd {
                state: None,
                fence: 0,
                is_failed: false,
            };
        };
        let new = new.map(Arc::new);
        let slot = self.arena.slot(old);
        let is_unchanged = new.as_ref().is_some_and(|new| new == self.arena.state(old));
        self.tell_refreshed(&step, new.clone(), found);
        let entry = Entry {
            operation,
            kind: EntryKind::RefreshSuccess {
                slot: Some(slot),
                state: new.clone(),
            },
        };
        if !is_unchanged {
            self.journal(operation, entry.kind.clone());
            self.refreshes.push(entry);
        }
        let state = if let Some(new) = new {
            self.arena.replace(old, new);
            Some(old)
        } else {
            self.marks.set(&step.urn, Mark::Refreshed);
            self.gone.insert(old);
            None
        };
        StepEnd {
            state,
            fence: self.fence_now(),
            is_failed: false,
        }
    }

    /// The refresh phase is over: what was found becomes the base of the rest.
    pub(crate) fn refreshed(&mut self) {
        if let Some(cause) = self.deferred_failure.take() {
            return self.fail(Failure::Step { cause });
        }
        if !self.rebuild_base() {
            return;
        }
        if self.ctx.operation == Operation::Refresh {
            return self.finish();
        }
        self.after_refresh();
    }

    /// Rebuilds the base from the refreshes: what is gone is dropped, and whatever refers to it mended.
    fn rebuild_base(&mut self) -> bool {
        let entries = std::mem::take(&mut self.refreshes);
        let rebuilt = Entry {
            operation: OperationId(0),
            kind: EntryKind::RebuiltBaseState,
        };
        let mut fold = Fold::new(self.base.clone());
        for entry in entries.into_iter().chain([rebuilt.clone()]) {
            if let Err(error) = fold.apply(entry) {
                self.refuse(
                    None,
                    &format!("failed to rebuild the state after the refresh: {error}"),
                );
                return false;
            }
        }
        let base = fold.base().clone();
        let mut arena = Arena::default();
        match Olds::new(&mut arena, &base.resources) {
            Ok(olds) => {
                self.journal(OperationId(0), rebuilt.kind);
                self.arena = arena;
                self.olds = olds;
                self.base = base;
                self.gone.clear();
                self.targets_actual.clear();
                self.excludes_actual.clear();
                true
            }
            Err(error) => {
                self.refuse(None, &error.to_string());
                false
            }
        }
    }

    /// After a program: what it did not mention is read too.
    pub(crate) fn start_late_refresh(&mut self) {
        self.stage = Stage::LateRefresh;
        let left: Vec<StateIdx> = self
            .olds
            .order()
            .iter()
            .copied()
            .filter(|idx| {
                let state = self.arena.state(*idx);
                let is_done =
                    self.marks.is_operated_on(&state.urn) || self.aliased.contains_key(&state.urn);
                state.delete || (!is_done && !self.gone.contains(idx))
            })
            .collect();
        self.refresh_states(&left, true);
    }

    pub(crate) fn late_refreshed(&mut self) {
        if let Some(cause) = self.deferred_failure.take() {
            return self.fail(Failure::Step { cause });
        }
        if !self.refreshes.is_empty() {
            self.journal(OperationId(0), EntryKind::RebuiltBaseState);
        }
        self.finish();
    }
}

fn unexpected(call: &str) -> ProviderError {
    ProviderError::clean(format!("the provider answered something else than {call}"))
}
