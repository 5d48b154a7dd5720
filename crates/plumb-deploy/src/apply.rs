//! What steps do, and what becomes of the state (`engine.md` 5).

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{
    CreateRequest, DeleteRequest, Parameterization, ProviderCall, ProviderError, ProviderReply,
    ReadRequest, ReadResponse, ResourceStatus, UpdateRequest,
};
use plumb_resource::{OperationType, ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_state::journal::{EntryKind, OperationId, Slot};
use plumb_state::{Extension, PendingOperation};
use plumb_value::Value;

use crate::arena::StateIdx;
use crate::chain::{ChainIdx, Running, StepEnd};
use crate::deployment::{Deployment, Failure, Stage};
use crate::marks::Mark;
use crate::provider_inputs;
use crate::setup::Operation;
use crate::step::{How, Step};

/// What a finished step leaves behind.
pub(crate) struct Applied {
    pub(crate) state: Option<ResourceState>,
    pub(crate) failure: Option<StepFailure>,
}

/// Why a step failed.
pub(crate) struct StepFailure {
    pub(crate) message: String,
    pub(crate) status: Damage,
}

/// What a failed step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Nothing.
    None,
    /// The resource exists but is not ready.
    Partial,
    /// Nobody knows.
    Unknown,
    /// Nothing: the engine itself refused to delete something protected.
    Protected,
}

impl Applied {
    fn done(state: Option<ResourceState>) -> Self {
        Applied {
            state,
            failure: None,
        }
    }

    fn failed(message: impl Into<String>, status: Damage) -> Self {
        Applied {
            state: None,
            failure: Some(StepFailure {
                message: message.into(),
                status,
            }),
        }
    }

    pub(crate) fn from_error(error: &ProviderError) -> Self {
        let status = match error.status {
            ResourceStatus::Unchanged => Damage::None,
            ResourceStatus::Unknown => Damage::Unknown,
            ResourceStatus::Partial(_) => Damage::Partial,
        };
        Applied::failed(error.message.as_str(), status)
    }
}

impl Deployment {
    /// Puts the intent of a step into the journal and answers its fence.
    pub(crate) fn record_intent(&mut self, operation: OperationId, step: &Step) -> u64 {
        if self.ctx.options.is_preview() {
            return 0;
        }
        let Some(kind) = step.op.operation_type() else {
            return 0;
        };
        let old = step.old.map(|old| self.arena.state(old).clone());
        let resource = match (&step.new, old) {
            (Some(new), old) if kind == OperationType::Updating => {
                // Until the update is done the object is still known by its old id and outputs.
                let mut new = new.as_ref().clone();
                if let Some(old) = old {
                    new.id = old.id.clone();
                    new.outputs = old.outputs.clone();
                }
                Arc::new(new)
            }
            (Some(new), _) => Arc::new(new.as_ref().clone()),
            (None, Some(old)) => old,
            (None, None) => return 0,
        };
        let pending = PendingOperation {
            resource,
            operation: kind,
        };
        self.outbox.journal(
            operation,
            EntryKind::Begin {
                operation: Some(pending),
            },
        )
    }

    /// Does a step. `None` when it waits for a provider.
    pub(crate) fn perform(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        fence: u64,
    ) -> Option<StepEnd> {
        match step.op {
            StepOp::Same => self.perform_same(idx, step, operation),
            StepOp::Create | StepOp::CreateReplacement => {
                self.perform_create(idx, step, operation, fence)
            }
            StepOp::Update => self.perform_update(idx, step, operation, fence),
            StepOp::Delete | StepOp::DeleteReplaced | StepOp::Discard | StepOp::DiscardReplaced => {
                self.perform_delete(idx, step, operation, fence)
            }
            StepOp::Replace => {
                self.finish_marker(&step);
                Some(StepEnd {
                    state: None,
                    fence: 0,
                    is_failed: false,
                })
            }
            StepOp::RemovePendingReplace => {
                Some(self.complete(step, operation, Applied::done(None)))
            }
            StepOp::Read | StepOp::ReadReplacement => {
                self.perform_read(idx, step, operation, fence)
            }
            StepOp::Refresh => self.perform_refresh(idx, step, operation),
            StepOp::Import | StepOp::ImportReplacement => {
                self.perform_import(idx, step, operation, fence)
            }
        }
    }

    fn perform_same(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
    ) -> Option<StepEnd> {
        let mut new = step.new.as_deref().cloned()?;
        if step.how == How::SkippedCreate {
            self.mark_unknown(idx);
            return Some(self.complete(step, operation, Applied::done(Some(new))));
        }
        let old = self.arena.state(step.old?).clone();
        new.id = old.id.clone();
        new.outputs = old.outputs.clone();
        if new.kind == ResourceKind::Provider && step.how != How::Untargeted {
            // A provider that is as it was keeps running on its old inputs (PROV-28).
            if let Err(message) = self.keep_provider(&new.urn, &old.id, &old.inputs) {
                return Some(self.complete(
                    step,
                    operation,
                    Applied::failed(message, Damage::None),
                ));
            }
        }
        Some(self.complete(step, operation, Applied::done(Some(new))))
    }

    fn perform_create(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        fence: u64,
    ) -> Option<StepEnd> {
        let new = step.new.as_deref()?;
        match new.kind {
            ResourceKind::Component => {
                let applied = self.stamped(new.clone());
                Some(self.complete(step, operation, applied))
            }
            ResourceKind::Provider => {
                let mut new = new.clone();
                new.id = if self.ctx.options.is_preview() {
                    ResourceId::Unknown
                } else {
                    ResourceId::Known(self.seeds.uuid())
                };
                let applied = match self.configure_provider(&new.urn, &new.id, &new.inputs) {
                    Ok(_) => {
                        new.outputs = provider_inputs::without_internal(&new.inputs);
                        self.stamped(new)
                    }
                    Err(message) => Applied::failed(message, Damage::None),
                };
                Some(self.complete(step, operation, applied))
            }
            ResourceKind::Custom => {
                let request = ProviderCall::Create(CreateRequest {
                    urn: new.urn.clone(),
                    inputs: new.inputs.clone(),
                    timeout: new.custom_timeouts.create,
                    preview: self.ctx.options.is_preview(),
                });
                self.step_calls(idx, step, operation, request, fence)
            }
        }
    }

    /// A new state, created now.
    fn stamped(&self, mut new: ResourceState) -> Applied {
        new.created = Some(self.now);
        new.modified = Some(self.now);
        Applied::done(Some(new))
    }

    fn perform_update(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        fence: u64,
    ) -> Option<StepEnd> {
        let old = self.arena.state(step.old?).clone();
        let mut new = step.new.as_deref().cloned()?;
        new.id = old.id.clone();
        new.created = old.created;
        match new.kind {
            ResourceKind::Component => {
                new.outputs = old.outputs.clone();
                new.modified = Some(self.now);
                Some(self.complete(step, operation, Applied::done(Some(new))))
            }
            ResourceKind::Provider => {
                new.modified = Some(self.now);
                let applied = match self.configure_provider(&new.urn, &new.id, &new.inputs) {
                    Ok(_) => {
                        new.outputs = provider_inputs::without_internal(&new.inputs);
                        Applied::done(Some(new))
                    }
                    Err(message) => Applied::failed(message, Damage::None),
                };
                Some(self.complete(step, operation, applied))
            }
            ResourceKind::Custom => {
                let request = ProviderCall::Update(UpdateRequest {
                    urn: new.urn.clone(),
                    id: old.id.clone(),
                    old_inputs: old.inputs.clone(),
                    old_outputs: old.outputs.clone(),
                    new_inputs: new.inputs.clone(),
                    ignore_changes: new.ignore_changes.clone(),
                    timeout: new.custom_timeouts.update,
                    preview: self.ctx.options.is_preview(),
                });
                self.step_calls(idx, step, operation, request, fence)
            }
        }
    }

    fn perform_delete(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        fence: u64,
    ) -> Option<StepEnd> {
        let state = self.arena.state(step.old?).clone();
        let is_plain = step.op == StepOp::Delete || step.op == StepOp::Discard;
        if state.protect && is_plain && !state.delete && !self.ctx.options.ignore_protect {
            let urn = &state.urn;
            let message = format!(
                "resource \"{urn}\" cannot be deleted\nbecause it is protected. To unprotect the resource, either \
                 remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`, or use the \
                 command:\n`pulumi state unprotect '{urn}'`"
            );
            return Some(self.complete(
                step,
                operation,
                Applied::failed(message, Damage::Protected),
            ));
        }
        let goes_with_another = state
            .deleted_with
            .as_ref()
            .is_some_and(|urn| self.deleting_urns.contains(urn));
        let is_left_alone = self.ctx.options.is_preview()
            || state.external
            || state.retain_on_delete
            || goes_with_another
            || state.kind != ResourceKind::Custom
            || state.view_of.is_some();
        if is_left_alone || step.instance.is_none() {
            if state.kind == ResourceKind::Provider && !self.ctx.options.is_preview() {
                self.close_provider(&state.urn, &state.id);
            }
            return Some(self.complete(step, operation, Applied::done(None)));
        }
        let request = ProviderCall::Delete(DeleteRequest {
            urn: state.urn.clone(),
            id: state.id.clone(),
            inputs: state.inputs.clone(),
            outputs: state.outputs.clone(),
            timeout: state.custom_timeouts.delete,
        });
        self.step_calls(idx, step, operation, request, fence)
    }

    fn perform_read(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        fence: u64,
    ) -> Option<StepEnd> {
        let new = step.new.as_deref()?;
        if new.id == ResourceId::Unknown {
            let applied = Applied::done(Some(new.clone()));
            return Some(self.complete(step, operation, applied));
        }
        let request = ProviderCall::Read(ReadRequest {
            urn: new.urn.clone(),
            id: new.id.clone(),
            inputs: Some(new.inputs.clone()),
            outputs: new.inputs.clone(),
            timeout: new.custom_timeouts.read,
        });
        self.step_calls(idx, step, operation, request, fence)
    }

    /// A provider answered the call of a step. `None` when the step makes another call.
    pub(crate) fn step_answered(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        running: Running,
        result: Result<ProviderReply, ProviderError>,
    ) -> Option<StepEnd> {
        let applied = match step.op {
            StepOp::Refresh => return self.refresh_answered(idx, step, operation, running, result),
            StepOp::Import | StepOp::ImportReplacement => {
                return self.import_answered(idx, step, operation, running, result);
            }
            StepOp::Create | StepOp::CreateReplacement => self.created(&step, result),
            StepOp::Update => self.updated(&step, result),
            StepOp::Read | StepOp::ReadReplacement => self.read_answered(&step, result),
            StepOp::Delete | StepOp::DeleteReplaced => match result {
                Ok(_) => Applied::done(None),
                Err(error) => Applied::from_error(&error),
            },
            StepOp::Same
            | StepOp::Replace
            | StepOp::Discard
            | StepOp::DiscardReplaced
            | StepOp::RemovePendingReplace => Applied::done(None),
        };
        Some(self.complete(step, operation, applied))
    }

    fn created(&mut self, step: &Step, result: Result<ProviderReply, ProviderError>) -> Applied {
        let Some(mut new) = step.new.as_deref().cloned() else {
            return Applied::done(None);
        };
        let mut failure = None;
        match result {
            Ok(ProviderReply::Created(response)) => {
                if response.id == ResourceId::None && !self.ctx.options.is_preview() {
                    return Applied::failed(
                        "provider did not return an ID from Create",
                        Damage::Unknown,
                    );
                }
                new.id = match response.id {
                    ResourceId::None => ResourceId::Unknown,
                    id => id,
                };
                new.outputs = response.outputs;
                new.refresh_before_update = response.refresh_before_update;
            }
            Ok(_) => {
                return Applied::failed(
                    "the provider answered something else than Create",
                    Damage::Unknown,
                );
            }
            Err(error) => {
                let ResourceStatus::Partial(partial) = &error.status else {
                    return Applied::from_error(&error);
                };
                new.id = partial.id.clone();
                new.outputs = partial.outputs.clone().unwrap_or_default();
                new.init_errors.clone_from(&partial.reasons);
                new.refresh_before_update = partial.refresh_before_update;
                failure = Some(partial_failure(&partial.reasons));
            }
        }
        Applied {
            failure,
            ..self.stamped(new)
        }
    }

    fn updated(&mut self, step: &Step, result: Result<ProviderReply, ProviderError>) -> Applied {
        let (Some(mut new), Some(old)) = (step.new.as_deref().cloned(), step.old) else {
            return Applied::done(None);
        };
        let old = self.arena.state(old).clone();
        new.id = old.id.clone();
        new.created = old.created;
        new.modified = Some(self.now);
        match result {
            Ok(ProviderReply::Updated(response)) => {
                new.outputs = response.outputs;
                new.refresh_before_update = response.refresh_before_update;
                Applied::done(Some(new))
            }
            Ok(_) => Applied::failed(
                "the provider answered something else than Update",
                Damage::Unknown,
            ),
            Err(error) => {
                let ResourceStatus::Partial(partial) = &error.status else {
                    return Applied::from_error(&error);
                };
                // What was asked for is not reached: the next run must see the difference again (PULUMI-15).
                new.inputs = old.inputs.clone();
                new.outputs = partial
                    .outputs
                    .clone()
                    .unwrap_or_else(|| old.outputs.clone());
                new.init_errors.clone_from(&partial.reasons);
                new.refresh_before_update = partial.refresh_before_update;
                Applied {
                    state: Some(new),
                    failure: Some(partial_failure(&partial.reasons)),
                }
            }
        }
    }

    fn read_answered(
        &mut self,
        step: &Step,
        result: Result<ProviderReply, ProviderError>,
    ) -> Applied {
        let Some(mut new) = step.new.as_deref().cloned() else {
            return Applied::done(None);
        };
        let mut failure = None;
        let response = match result {
            Ok(ProviderReply::Read(response)) => response,
            Ok(_) => {
                return Applied::failed(
                    "the provider answered something else than Read",
                    Damage::None,
                );
            }
            Err(error) => {
                let ResourceStatus::Partial(partial) = &error.status else {
                    return Applied::from_error(&error);
                };
                new.init_errors.clone_from(&partial.reasons);
                failure = Some(partial_failure(&partial.reasons));
                ReadResponse {
                    id: partial.id.clone(),
                    inputs: partial.inputs.clone(),
                    outputs: Some(partial.outputs.clone().unwrap_or_default()),
                    refresh_before_update: partial.refresh_before_update,
                }
            }
        };
        let Some(outputs) = response.outputs.filter(|_| response.id != ResourceId::None) else {
            let message = format!("resource '{}' does not exist", new.id.as_str());
            return Applied::failed(message, Damage::None);
        };
        new.id = response.id;
        new.outputs = outputs;
        new.refresh_before_update = response.refresh_before_update;
        let old = step.old.map(|old| self.arena.state(old).clone());
        let changed = old
            .as_ref()
            .is_some_and(|old| old.inputs != new.inputs || old.outputs != new.outputs);
        new.created = old.as_ref().and_then(|old| old.created);
        new.modified = if changed {
            Some(self.now)
        } else {
            old.as_ref().and_then(|old| old.modified)
        };
        Applied {
            state: Some(new),
            failure,
        }
    }

    /// Puts the outcome of a step into the journal, the state and the events.
    pub(crate) fn complete(
        &mut self,
        step: Step,
        operation: OperationId,
        applied: Applied,
    ) -> StepEnd {
        let Applied { state, failure } = applied;
        let status = failure.as_ref().map(|failure| failure.status);
        if matches!(
            status,
            Some(Damage::None | Damage::Unknown | Damage::Protected)
        ) {
            let fence = self.record_failure(operation, &step);
            let failure = failure.expect("a status comes from a failure");
            self.step_failed(&step, &failure, None);
            return StepEnd {
                state: None,
                fence,
                is_failed: true,
            };
        }
        let state = state.map(|state| self.with_secret_outputs(state, &step));
        let (idx, fence) = self.record_success(operation, &step, state);
        self.tell_step_done(&step, idx, failure.is_none());
        if let Some(failure) = &failure {
            self.step_failed(&step, failure, idx);
        }
        StepEnd {
            state: idx,
            fence,
            is_failed: failure.is_some(),
        }
    }

    fn record_failure(&mut self, operation: OperationId, step: &Step) -> u64 {
        if self.ctx.options.is_preview() || step.op.operation_type().is_none() {
            return 0;
        }
        self.outbox.journal(operation, EntryKind::Failure)
    }

    fn step_failed(&mut self, step: &Step, failure: &StepFailure, state: Option<StateIdx>) {
        self.tell_step_failed(step, failure, state);
        self.marks.set(&step.urn, Mark::Errored);
        self.report.maybe_corrupt |= failure.status == Damage::Unknown;
        let ends_later = matches!(
            self.stage,
            Stage::Refreshing | Stage::Importing | Stage::LateRefresh
        );
        if ends_later || self.ctx.options.continue_on_error || failure.status == Damage::Protected {
            self.deferred_failure
                .get_or_insert_with(|| failure.message.clone());
        } else {
            self.fail(Failure::Step {
                cause: failure.message.clone(),
            });
        }
    }

    /// Marks outputs as secret that the program says are, or that come from secret inputs (STEPGEN-03).
    fn with_secret_outputs(&mut self, mut state: ResourceState, step: &Step) -> ResourceState {
        if step.op == StepOp::Same && step.how == How::Untargeted {
            return state;
        }
        let is_secret_input = |key: &str| state.inputs.get(key).is_some_and(Value::is_secret);
        let to_hide: Vec<_> = state
            .outputs
            .iter()
            .filter(|(key, value)| {
                !value.is_secret()
                    && (state.additional_secret_outputs.contains(key)
                        || is_secret_input(key.as_str()))
            })
            .map(|(key, _)| key.clone())
            .collect();
        if state
            .additional_secret_outputs
            .iter()
            .any(|key| key.as_str() == "id")
        {
            let message = format!(
                "Could not make 'id' a secret on resource {}: the 'id' property cannot be secret",
                state.urn
            );
            let urn = state.urn.clone();
            self.warning(Some(&urn), &message);
        }
        if !to_hide.is_empty() {
            let outputs = Arc::make_mut(&mut state.outputs);
            for key in to_hide {
                if let Some(value) = outputs.get_mut(key.as_str()) {
                    *value = Value::secret(value.clone());
                }
            }
        }
        state
    }

    /// Takes the outcome of a successful (or half successful) step into journal and arena.
    fn record_success(
        &mut self,
        operation: OperationId,
        step: &Step,
        state: Option<ResourceState>,
    ) -> (Option<StateIdx>, u64) {
        match step.op {
            StepOp::Same => self.record_same(operation, step, state),
            StepOp::Create
            | StepOp::CreateReplacement
            | StepOp::ReadReplacement
            | StepOp::ImportReplacement => {
                let (mut remove, mut delete) = (None, None);
                if let Some(old) = step.old {
                    if self.arena.state(old).pending_replacement {
                        remove = Some(self.arena.slot(old));
                    } else if step.how != How::DeleteFirst {
                        delete = Some(self.arena.slot(old));
                        self.arena.update(old, |old| old.delete = true);
                    }
                }
                self.record_new(operation, state, remove, delete)
            }
            StepOp::Import => self.record_new(operation, state, None, None),
            StepOp::Update | StepOp::Read => {
                let remove = step.old.map(|old| self.arena.slot(old));
                self.record_new(operation, state, remove, None)
            }
            StepOp::Delete
            | StepOp::DeleteReplaced
            | StepOp::Discard
            | StepOp::DiscardReplaced
            | StepOp::RemovePendingReplace => self.record_removal(operation, step),
            StepOp::Refresh | StepOp::Replace => (None, 0),
        }
    }

    fn record_removal(&mut self, operation: OperationId, step: &Step) -> (Option<StateIdx>, u64) {
        let Some(old) = step.old else {
            return (None, 0);
        };
        let slot = Some(self.arena.slot(old));
        let waits = step.how == How::DeleteFirst && !self.arena.state(old).delete;
        if waits {
            self.arena.update(old, |old| old.pending_replacement = true);
        }
        let (remove, pending_replacement) = if waits { (None, slot) } else { (slot, None) };
        let kind = EntryKind::Success {
            state: None,
            remove,
            delete: None,
            pending_replacement,
            is_refresh: false,
        };
        (None, self.journal(operation, kind))
    }

    fn record_same(
        &mut self,
        operation: OperationId,
        step: &Step,
        state: Option<ResourceState>,
    ) -> (Option<StateIdx>, u64) {
        let (Some(state), Some(old)) = (state, step.old) else {
            // The creation of something left out: the program may refer to it, the snapshot must not.
            return (None, 0);
        };
        let before = self.arena.state(old).clone();
        if *before == state {
            if let (Slot::Old(base), false) = (self.arena.slot(old), self.ctx.options.is_preview())
            {
                self.outbox.push(crate::event::Effect::Touch { base });
            }
            self.take_as_new(state.urn.clone(), old);
            return (Some(old), 0);
        }
        let must_wait = differs_in_substance(&before, &state);
        let remove = Some(self.arena.slot(old));
        let (idx, fence) = self.record_new(operation, Some(state), remove, None);
        (idx, if must_wait { fence } else { 0 })
    }

    /// Records a new state; `remove` and `delete` say what becomes of the one before.
    pub(crate) fn record_new(
        &mut self,
        operation: OperationId,
        state: Option<ResourceState>,
        remove: Option<Slot>,
        delete: Option<Slot>,
    ) -> (Option<StateIdx>, u64) {
        let Some(state) = state else { return (None, 0) };
        let urn = state.urn.clone();
        let state = Arc::new(state);
        let kind = EntryKind::Success {
            state: Some(state.clone()),
            remove,
            delete,
            pending_replacement: None,
            is_refresh: false,
        };
        let fence = self.journal(operation, kind);
        let idx = self.arena.push(state, Slot::New(operation));
        self.take_as_new(urn, idx);
        (Some(idx), fence)
    }

    /// The state of a resource in this run is there.
    fn take_as_new(&mut self, urn: Urn, idx: StateIdx) {
        self.news.insert(urn, idx);
        if self.ctx.operation == Operation::Destroy {
            self.condemned.push(idx);
        }
    }

    /// Records the parameter of an extension, so that later runs can apply it again.
    pub(crate) fn record_extension(&mut self, reference: &EcoString, parameter: &Parameterization) {
        let extension = Extension {
            name: parameter.name.clone(),
            version: parameter.version.clone(),
            value: parameter.value.clone(),
        };
        let operation = self.outbox.operation();
        self.journal(
            operation,
            EntryKind::Extension {
                reference: reference.clone(),
                extension,
            },
        );
    }

    /// Puts an entry into the journal; previews have none.
    pub(crate) fn journal(&mut self, operation: OperationId, kind: EntryKind) -> u64 {
        if self.ctx.options.is_preview() {
            return 0;
        }
        self.outbox.journal(operation, kind)
    }
}

/// Whether a same step changed something that the next run must not miss (`engine.md` 9.3).
fn differs_in_substance(old: &ResourceState, new: &ResourceState) -> bool {
    old.urn != new.urn
        || old.type_token != new.type_token
        || old.kind != new.kind
        || old.custom_timeouts != new.custom_timeouts
        || old.retain_on_delete != new.retain_on_delete
        || old.provider != new.provider
        || old.parent != new.parent
        || old.deleted_with != new.deleted_with
        || old.replace_with != new.replace_with
        || old.protect != new.protect
        || old.inputs != new.inputs
        || old.outputs != new.outputs
        || old.dependencies != new.dependencies
        || old.property_dependencies != new.property_dependencies
        || old.hooks != new.hooks
        || old.replacement_trigger != new.replacement_trigger
        || old.taint != new.taint
}

/// The failure of a resource that exists but is not ready.
pub(crate) fn partial_failure(reasons: &[ecow::EcoString]) -> StepFailure {
    let noun = if reasons.len() == 1 {
        "error"
    } else {
        "errors"
    };
    let mut message = format!("{} {noun} occurred:", reasons.len());
    for reason in reasons {
        message.push_str("\n\t* ");
        message.push_str(reason);
    }
    StepFailure {
        message,
        status: Damage::Partial,
    }
}
