//! Outputs that programs register, and those of the stack (`engine.md` 6.4).

use std::sync::Arc;

use plumb_state::journal::EntryKind;
use plumb_value::PropertyMap;

use crate::deployment::Deployment;
use crate::facts::urn_flags::UrnFlag;
use crate::facts::urns::Remembered;
use crate::ids::{Fence, RequestId};
use crate::request::{RegisterOutputsRequest, Reply};
use crate::status::Failure;

impl Deployment {
    pub(crate) fn take_outputs(&mut self, id: RequestId, request: RegisterOutputsRequest) {
        let RegisterOutputsRequest { urn, outputs } = request;
        if urn.is_root_stack()
            && let Some(step) = self.urns.completes(&urn)
        {
            let hooks = self.hooks_after_outputs(step, &outputs);
            self.stack_outputs = Some(outputs);
            return self.after_outputs(id, hooks, Fence::NONE);
        }
        if self.urns.has(&urn, UrnFlag::KeepsOutputs) {
            return self.reply(id, Reply::Done, Fence::NONE);
        }
        let Some(step) = self.urns.take_completes(&urn) else {
            let message =
                format!("cannot complete a resource '{urn}' whose registration isn't pending");
            self.error(Some(&urn), &message);
            return self.fail(Failure::Refused);
        };
        if !self.plan_outputs(&urn, step.old.as_deref(), &outputs) {
            return;
        }
        let hooks = self.hooks_after_outputs(&step, &outputs);
        let told = outputs.clone();
        let fence = self.set_outputs(step, outputs);
        self.note_outputs_for_snippets(&urn, told, fence);
        self.after_outputs(id, hooks, fence);
    }

    /// Gives a resource its outputs; elided from the journal when nothing changes.
    fn set_outputs(&mut self, step: Remembered, outputs: Arc<PropertyMap>) -> Fence {
        let mut fence = Fence::NONE;
        if self.arena.state(step.state).outputs != outputs {
            self.arena
                .update(step.state, |state| state.outputs = outputs);
            let slot = self.arena.slot(step.state);
            let state = self.arena.state(step.state).clone();
            let operation = self.outbox.operation();
            fence = self.journal(operation, EntryKind::Outputs { slot, state });
        }
        self.tell_outputs(step);
        fence
    }

    /// The end of a run: what the program registered becomes the outputs of the stack; after a failure, on top of what was.
    pub(crate) fn finish_stack_outputs(&mut self) -> Fence {
        let Some(outputs) = self.stack_outputs.take() else {
            return self.outbox.journaled();
        };
        let root = self.report.root_stack.clone();
        let Some(step) = root.and_then(|urn| self.urns.take_completes(&urn)) else {
            return self.outbox.journaled();
        };
        let failed = self.status.has_failed() || self.status.is_refused_in_preview();
        let urn = self.arena.state(step.state).urn.clone();
        if !failed && !self.plan_outputs(&urn, step.old.as_deref(), &outputs) {
            return self.outbox.journaled();
        }
        let outputs = if failed {
            // The state before the run, because an update step of the stack clears its outputs.
            let before = step.old.as_ref().map(|old| old.outputs.as_ref().clone());
            let mut merged = before.unwrap_or_default();
            merged.extend(
                outputs
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
            Arc::new(merged)
        } else {
            outputs
        };
        self.set_outputs(step, outputs).max(self.outbox.journaled())
    }
}
