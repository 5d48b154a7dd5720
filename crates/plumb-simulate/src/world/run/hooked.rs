//! Effects of hooks on the steps of a run.

use plumb_deploy::request::{Callback, CallbackReply, CallbackRequest};
use plumb_resource::StepOp;
use plumb_resource::hook::HookCall;

use super::Run;
use crate::world::{Moment, Violation, hooks};

impl Run<'_> {
    /// Records the effect of a hook's result on its step.
    pub(super) fn hook_answers(
        &mut self,
        callback: &Callback,
        request: &CallbackRequest,
        result: &Result<CallbackReply, String>,
    ) {
        let moment = match request {
            CallbackRequest::Hook(call) => match self.step_before(call) {
                Some(at) if result.is_ok() || callback.token == "lenient" => {
                    // No step begins after the end of the run, so this step will not end either.
                    let number = if self.is_over {
                        self.open.remove(at)
                    } else {
                        self.open[at]
                    };
                    Moment::Readied(number)
                }
                None if callback.token == "bad" => Moment::HookFailed,
                _ => return,
            },
            CallbackRequest::ErrorHook(call) if hooks::is_last(callback, call) => {
                let is_wanted = hooks::wants_again(call);
                match self.step_of(&call.resource).filter(|_| is_wanted) {
                    Some(at) => Moment::Again(self.open[at]),
                    None => return,
                }
            }
            _ => return,
        };
        self.trace.moments.push(moment);
    }

    /// Step in progress before which a hook is called; `None` for a hook after a step.
    fn step_before(&self, call: &HookCall) -> Option<usize> {
        self.step_of(call).filter(|_| call.new_outputs.is_none())
    }

    /// Step in progress that a hook is called for.
    pub(super) fn step_of(&self, call: &HookCall) -> Option<usize> {
        let deletes = call.new_options.is_none();
        self.open.iter().position(|number| {
            let step = &self.trace.steps[*number];
            let makes = matches!(
                step.op,
                StepOp::Create | StepOp::CreateReplacement | StepOp::Update
            );
            let is_same = !deletes || step.old_id.as_deref() == Some(call.id.as_str());
            step.urn == call.urn && makes != deletes && is_same
        })
    }

    /// Checks that an after hook runs only after the outcome of its step is durable.
    pub(super) fn check_callback(
        &self,
        request: &CallbackRequest,
        fence: u64,
    ) -> Result<(), Violation> {
        let CallbackRequest::Hook(call) = request else {
            return Ok(());
        };
        let is_after = call.new_outputs.is_some();
        if is_after && self.journal.recorded(&call.urn) > fence {
            let what = format!("a hook after {} is early", call.urn.name());
            return Err(Violation::new("outcome", what));
        }
        Ok(())
    }
}
