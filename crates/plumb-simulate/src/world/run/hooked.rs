//! What hooks of a run mean for its steps.

use plumb_deploy::request::{Callback, CallbackReply, CallbackRequest};
use plumb_resource::StepOp;
use plumb_resource::hook::HookCall;

use super::Run;
use crate::world::{Moment, Violation, hooks};

impl Run<'_> {
    /// Notes what a hook's answer means for its step.
    pub(super) fn hook_answers(
        &mut self,
        callback: &Callback,
        request: &CallbackRequest,
        result: &Result<CallbackReply, String>,
    ) {
        let moment = match request {
            CallbackRequest::Hook(call) => match self.step_before(call) {
                Some(at) if result.is_ok() || callback.token == "lenient" => {
                    // Nothing begins after the end, so the step will not end either.
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

    /// The step, among those that have begun and not ended, before which a hook is called; `None` when it is called after
    /// one.
    fn step_before(&self, call: &HookCall) -> Option<usize> {
        self.step_of(call).filter(|_| call.new_outputs.is_none())
    }

    /// The step that a hook is called for, among those that have begun and not ended.
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

    /// A hook after a step must not run before its outcome is durable.
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
