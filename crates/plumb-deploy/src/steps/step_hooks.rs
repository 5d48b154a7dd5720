//! Hooks before and after a step (`engine.md` 8.1).
//!
//! 1. Before a create, update or delete step does anything, the hooks that its resource binds for that run, one after
//!    another. If one fails so does the step, and nothing was begun.
//! 2. Then the step is done (`perform.rs`) and its outcome recorded.
//! 3. The hooks bound for afterwards run once the outcome is durable; for components, which are not done before, when
//!    their outputs are registered. If one fails the outcome stands, and the run fails.
//!
//! After a failure elsewhere no step begins, even if its hooks succeed; a step that is done still has its hooks after it.

use plumb_resource::Urn;
use plumb_state::journal::OperationId;

use crate::deployment::Deployment;
use crate::ids::{ChainIdx, Fence, RequestId};
use crate::request::{CallbackReply, Reply};
use crate::status::Failure;
use crate::step::{FailureImpact, Step, StepFailure};
use crate::steps::calls::Announcement;
use crate::steps::hooks::{HookRun, HookWaiter};
use crate::steps::scheduler::{Running, StepEnd};

impl Deployment {
    /// Begins a step with the hooks that come before it.
    pub(crate) fn begin_step(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
    ) -> Option<StepEnd> {
        match self.hooks_before(&step) {
            Some(hooks) => {
                self.announce_step(&step);
                self.before_step(idx, step, operation, hooks)
            }
            None => self.perform(idx, step, operation, Announcement::Due),
        }
    }

    /// Calls the next hook before a step, or does the step when there is none left.
    fn before_step(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        mut hooks: HookRun,
    ) -> Option<StepEnd> {
        match self.call_next_hook(&mut hooks, Fence::NONE) {
            Ok(Some(call)) => {
                self.hooks.started(call, HookWaiter::Chain(idx));
                self.chains
                    .wait(idx, step, operation, Running::Before(hooks));
                None
            }
            Ok(None) => self.perform(idx, step, operation, Announcement::Made),
            Err(message) => Some(self.refuse_step(&step, message)),
        }
    }

    fn before_hook_answered(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        hooks: HookRun,
        result: Result<CallbackReply, String>,
    ) -> Option<StepEnd> {
        if let Err(message) = self.hook_result(&hooks, result) {
            return Some(self.refuse_step(&step, message));
        }
        if self.status.has_failed() {
            // After a failure nothing begins.
            self.chains.stop(idx);
            return None;
        }
        self.before_step(idx, step, operation, hooks)
    }

    /// A hook failed, or is missing, before anything was begun.
    fn refuse_step(&mut self, step: &Step, message: String) -> StepEnd {
        let failure = StepFailure {
            message,
            status: FailureImpact::None,
        };
        self.step_failed(step, &failure, None);
        StepEnd {
            is_failed: true,
            // The reply may include the state that was adopted or read before.
            fence: self.outbox.journaled(),
            ..StepEnd::NOTHING
        }
    }

    /// Calls the next hook after a step. `None` when the step waits for it.
    pub(crate) fn after_step(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        mut hooks: HookRun,
        end: StepEnd,
    ) -> Option<StepEnd> {
        match self.call_next_hook(&mut hooks, end.fence) {
            Ok(Some(call)) => {
                self.hooks.started(call, HookWaiter::Chain(idx));
                self.chains
                    .wait(idx, step, operation, Running::After(hooks, end));
                return None;
            }
            Ok(None) => {}
            Err(message) => self.after_hook_failed(&step.urn, message),
        }
        Some(end)
    }

    fn after_hook_answered(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        (hooks, end): (HookRun, StepEnd),
        result: Result<CallbackReply, String>,
    ) -> Option<StepEnd> {
        match self.hook_result(&hooks, result) {
            Ok(()) => self.after_step(idx, step, operation, hooks, end),
            Err(message) => {
                self.after_hook_failed(&step.urn, message);
                Some(end)
            }
        }
    }

    /// Calls the next hook after the registration of outputs, or answers it when there is none left.
    pub(crate) fn after_outputs(&mut self, id: RequestId, hooks: Option<HookRun>, fence: Fence) {
        if let Some(mut hooks) = hooks {
            match self.call_next_hook(&mut hooks, fence) {
                Ok(Some(call)) => {
                    let hooks = Box::new(hooks);
                    let waiter = HookWaiter::Outputs { id, hooks, fence };
                    return self.hooks.started(call, waiter);
                }
                Ok(None) => {}
                Err(message) => self.after_hook_failed(&hooks.call.urn, message),
            }
        }
        if !self.status.has_failed() {
            self.send_reply(id, Reply::Done, fence);
        }
    }

    /// A hook after a step failed: the outcome of the step stands, and the run fails, at once or at its end.
    pub(crate) fn after_hook_failed(&mut self, urn: &Urn, message: String) {
        self.error(Some(urn), &message);
        if self.ctx.options.continue_on_error {
            self.status.defer(&message);
        } else {
            self.fail(Failure::Step { cause: message });
        }
    }

    /// A hook of a step answered.
    pub(crate) fn step_called_back(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        running: Running,
        result: Result<CallbackReply, String>,
    ) -> Option<StepEnd> {
        match running {
            Running::Before(hooks) => {
                self.before_hook_answered(idx, step, operation, hooks, result)
            }
            Running::OnError(failed) => {
                self.error_hook_answered(idx, step, operation, failed, result)
            }
            Running::After(hooks, end) => {
                self.after_hook_answered(idx, step, operation, (hooks, end), result)
            }
            // These wait for a provider.
            Running::Call { .. } | Running::RefreshDiff(_) | Running::ImportCheck(_) => {
                self.chains.wait(idx, step, operation, running);
                None
            }
        }
    }
}
