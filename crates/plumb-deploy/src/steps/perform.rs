//! Steps begin: their intent goes into the journal, their provider is called (`engine.md` 5).

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{
    CreateRequest, DeleteRequest, ProviderCall, ProviderError, ProviderReply, UpdateRequest,
};
use plumb_resource::{OperationType, ResourceId, ResourceKind, ResourceState, Urn};
use plumb_state::PendingOperation;
use plumb_state::journal::{EntryKind, OperationId};

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::ids::{ChainIdx, Fence};
use crate::step::{Deletion, FailureImpact, Step, StepKind};
use crate::steps::answer::Applied;
use crate::steps::calls::{Announcement, Turn, read_request};
use crate::steps::provider_inputs;
use crate::steps::scheduler::{Running, StepEnd};

/// Next action of a step that has begun.
enum Begun {
    /// Nobody needs to be asked: this is what it leaves behind.
    Applied(Applied),
    /// A provider is to be called.
    Call(ProviderCall),
    /// The step marks something for people, and does nothing.
    Marked,
    /// This state is to be compared with the world.
    Refresh(StateIdx),
    /// This object is to be adopted.
    Import(Arc<ResourceState>),
}

impl Deployment {
    /// Puts the intent of a step into the journal and answers its fence.
    pub(crate) fn record_intent(&mut self, operation: OperationId, step: &Step) -> Fence {
        if self.ctx.options.is_preview() {
            return Fence::NONE;
        }
        let Some(kind) = step.op().operation_type() else {
            return Fence::NONE;
        };
        let old = step.left.or(step.old());
        let old = old.map(|old| self.arena.state(old).clone());
        let resource = match (step.new_state(), old) {
            (Some(new), Some(old)) if kind == OperationType::Updating => {
                // Until the update is done the object is still known by its old id and outputs.
                Arc::new(ResourceState {
                    id: old.id.clone(),
                    outputs: old.outputs.clone(),
                    ..new.as_ref().clone()
                })
            }
            (Some(new), _) => new.clone(),
            (None, Some(old)) => old,
            (None, None) => return Fence::NONE,
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

    /// Does a step, once its hooks have had their say. `None` when it waits for somebody.
    pub(crate) fn perform(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        announcement: Announcement,
    ) -> Option<StepEnd> {
        let fence = self.record_intent(operation, &step);
        let begun = self.begin(idx, &step);
        if announcement == Announcement::Due && !matches!(begun, Begun::Call(_)) {
            self.announce_step(&step);
        }
        match begun {
            Begun::Applied(applied) => self.finish_step(idx, step, operation, applied),
            Begun::Call(request) => {
                self.step_calls(idx, step, operation, request, fence, announcement)
            }
            Begun::Marked => {
                self.finish_marker(&step);
                Some(StepEnd::NOTHING)
            }
            Begun::Refresh(old) => self.perform_refresh(idx, step, old, operation),
            Begun::Import(wanted) => self.begin_import(idx, step, &wanted, operation, fence),
        }
    }

    /// Does a step again that failed, with what has gone wrong so far.
    pub(crate) fn perform_again(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        failures: Vec<EcoString>,
        fence: Fence,
    ) -> Option<StepEnd> {
        match (self.begin(idx, &step), step.instance()) {
            (Begun::Call(request), Some(instance)) => {
                let request = request.with_old_views(self.old_views(&step));
                self.chains
                    .wait(idx, step, operation, Running::Call { failures });
                self.call_for_step(idx, instance, request, fence, Turn::Next);
                None
            }
            (Begun::Applied(applied), _) => self.finish_step(idx, step, operation, applied),
            // Only what calls a provider can have failed with one.
            (Begun::Call(_) | Begun::Marked | Begun::Refresh(_) | Begun::Import(_), _) => {
                Some(StepEnd::NOTHING)
            }
        }
    }

    fn begin(&mut self, idx: ChainIdx, step: &Step) -> Begun {
        match &step.kind {
            StepKind::Same { old, new } => {
                let old = self.arena.state(*old).clone();
                Begun::Applied(self.keep(&old, new))
            }
            StepKind::Kept { old, new, .. } => {
                Begun::Applied(Applied::done(as_before(self.arena.state(*old), new)))
            }
            StepKind::SkippedCreate { new } => {
                self.chains.mark_unknown(idx);
                Begun::Applied(Applied::done(new.clone()))
            }
            StepKind::Create { new, .. } => self.begin_create(new),
            StepKind::Update { old, new, .. } => {
                let old = self.arena.state(*old).clone();
                self.begin_update(&old, new)
            }
            StepKind::Replace { .. } => Begun::Marked,
            StepKind::Delete { old, deletion, .. } => {
                let old = self.arena.state(*old).clone();
                self.begin_delete(step, &old, *deletion)
            }
            StepKind::Read { new, .. } if new.id == ResourceId::Unknown => {
                Begun::Applied(Applied::done(new.clone()))
            }
            StepKind::Read { new, .. } => {
                Begun::Call(read_request(new, Some(new.inputs.clone()), &new.inputs))
            }
            StepKind::Import { new, .. } => Begun::Import(new.clone()),
            StepKind::Refresh { old, .. } => Begun::Refresh(*old),
        }
    }

    /// Nothing changes outside.
    fn keep(&mut self, old: &ResourceState, new: &ResourceState) -> Applied {
        if new.kind == ResourceKind::Provider {
            // A provider that is as it was keeps running on its old inputs (PROV-28).
            if let Err(message) = self.keep_provider(&new.urn, &old.id, &old.inputs) {
                return Applied::failed(message, FailureImpact::None);
            }
        }
        Applied::done(as_before(old, new))
    }

    fn begin_create(&mut self, new: &ResourceState) -> Begun {
        match new.kind {
            ResourceKind::Component => Begun::Applied(self.stamped(new.clone())),
            ResourceKind::Provider => {
                let id = if self.ctx.options.is_preview() {
                    ResourceId::Unknown
                } else {
                    ResourceId::Known(self.seeds.uuid())
                };
                let new = ResourceState { id, ..new.clone() };
                Begun::Applied(match self.configured(new) {
                    Ok(new) => self.stamped(new),
                    Err(failed) => failed,
                })
            }
            ResourceKind::Custom => Begun::Call(ProviderCall::Create(CreateRequest {
                urn: new.urn.clone(),
                inputs: new.inputs.clone(),
                timeout: new.custom_timeouts.create,
                preview: self.ctx.options.is_preview(),
                status: None,
            })),
        }
    }

    fn begin_update(&mut self, old: &ResourceState, new: &ResourceState) -> Begun {
        let new = ResourceState {
            id: old.id.clone(),
            created: old.created,
            modified: Some(self.now),
            ..new.clone()
        };
        match new.kind {
            // Its outputs are those that the program registers now.
            ResourceKind::Component => Begun::Applied(Applied::done(ResourceState {
                modified: old.modified,
                ..new
            })),
            ResourceKind::Provider => {
                Begun::Applied(self.configured(new).map_or_else(|it| it, Applied::done))
            }
            ResourceKind::Custom => Begun::Call(ProviderCall::Update(UpdateRequest {
                urn: new.urn.clone(),
                id: new.id,
                old_inputs: old.inputs.clone(),
                old_outputs: old.outputs.clone(),
                new_inputs: new.inputs,
                ignore_changes: new.ignore_changes,
                timeout: new.custom_timeouts.update,
                preview: self.ctx.options.is_preview(),
                old_views: Vec::new(),
                status: None,
            })),
        }
    }

    /// Configures the provider that `new` is; its outputs are its inputs.
    fn configured(&mut self, mut new: ResourceState) -> Result<ResourceState, Applied> {
        match self.configure_provider(&new.urn, &new.id, &new.inputs) {
            Ok(_) => {
                new.outputs = provider_inputs::without_internal(&new.inputs);
                Ok(new)
            }
            Err(message) => Err(Applied::failed(message, FailureImpact::None)),
        }
    }

    /// A new state, created now.
    pub(crate) fn stamped(&self, new: ResourceState) -> Applied {
        Applied::done(ResourceState {
            created: Some(self.now),
            modified: Some(self.now),
            ..new
        })
    }

    fn begin_delete(&mut self, step: &Step, old: &ResourceState, deletion: Deletion) -> Begun {
        if deletion == Deletion::Forgotten {
            return Begun::Applied(Applied::gone());
        }
        if self.is_guarded(old, deletion) {
            return Begun::Applied(Applied::failed(
                is_protected(&old.urn),
                FailureImpact::Protected,
            ));
        }
        if self.is_left_alone(old) || step.instance().is_none() {
            if old.kind == ResourceKind::Provider && !self.ctx.options.is_preview() {
                self.close_provider(&old.urn, &old.id);
            }
            return Begun::Applied(Applied::gone());
        }
        Begun::Call(ProviderCall::Delete(DeleteRequest {
            urn: old.urn.clone(),
            id: old.id.clone(),
            inputs: old.inputs.clone(),
            outputs: old.outputs.clone(),
            timeout: old.custom_timeouts.delete,
            old_views: Vec::new(),
            status: None,
        }))
    }

    /// Whether a state goes without its provider being asked.
    fn is_left_alone(&self, old: &ResourceState) -> bool {
        let goes_with_another = old
            .deleted_with
            .as_ref()
            .is_some_and(|urn| self.removal.urns.contains(urn));
        self.ctx.options.is_preview()
            || old.external
            || old.retain_on_delete
            || goes_with_another
            || old.kind != ResourceKind::Custom
            || old.view_of.is_some()
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
        let applied = match &step.kind {
            StepKind::Refresh { old, .. } => {
                let old = *old;
                return self.refresh_answered(idx, step, old, operation, running, result);
            }
            StepKind::Import { new, .. } => {
                let new = new.as_ref().clone();
                return self.import_answered(idx, step, new, operation, running, result);
            }
            StepKind::Create { new, .. } => self.created(new, result),
            StepKind::Update { old, new, .. } => {
                let old = self.arena.state(*old).clone();
                self.updated(&old, new, result)
            }
            StepKind::Read { former, new, .. } => self.read_answered(*former, new, result),
            StepKind::Delete { .. } => match result {
                Ok(_) => Applied::gone(),
                Err(error) => Applied::from_error(&error),
            },
            // These ask nobody.
            StepKind::Same { .. }
            | StepKind::Kept { .. }
            | StepKind::SkippedCreate { .. }
            | StepKind::Replace { .. } => return Some(StepEnd::NOTHING),
        };
        match running {
            Running::Call { failures } if applied.failure.is_some() => {
                self.call_failed(idx, step, operation, failures, applied)
            }
            _ => self.finish_step(idx, step, operation, applied),
        }
    }

    /// A step is done: its outcome is recorded, and what comes after it follows.
    pub(crate) fn finish_step(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        applied: Applied,
    ) -> Option<StepEnd> {
        let has_worked = applied.failure.is_none();
        let end = self.complete(&step, operation, applied);
        match has_worked.then(|| self.hooks_after(&step, &end)).flatten() {
            Some(hooks) => self.after_step(idx, step, operation, hooks, end),
            None => Some(end),
        }
    }
}

/// `new`, with what only a provider could have changed as it was.
fn as_before(old: &ResourceState, new: &ResourceState) -> ResourceState {
    ResourceState {
        pending_replacement: old.pending_replacement,
        id: old.id.clone(),
        outputs: old.outputs.clone(),
        ..new.clone()
    }
}

fn is_protected(urn: &Urn) -> String {
    format!(
        "resource \"{urn}\" cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the \
         `protect` flag from the resource in your Pulumi program and run `pulumi up`, or use the \
         command:\n`pulumi state unprotect '{urn}'`"
    )
}
