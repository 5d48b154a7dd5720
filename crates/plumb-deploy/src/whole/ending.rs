//! The end of a run: what is said and answered last, and how it went.

use plumb_events::{Event, OperationResult};
use plumb_resource::StepOp;

use crate::deployment::Deployment;
use crate::event::{Effect, Outcome};
use crate::ids::{Fence, RequestId};
use crate::request::{Reply, RequestError, RequestErrorKind};
use crate::status::{Failure, Stage};
use crate::steps::calls::Waiter;

impl Deployment {
    /// Ends the run: stack outputs, what is still unanswered, summary.
    pub(crate) fn finish(&mut self) {
        self.stage = Stage::Finished;
        if let Some(cause) = self.status.take_deferred() {
            self.status.fail(Failure::Step { cause });
        }
        let fence = self.finish_stack_outputs();
        self.drop_removed_snippets();
        if !self.status.has_failed() {
            self.check_plan_is_done();
        }
        if !self.status.has_failed() && self.judge_stack() {
            // It ends when they have judged.
            return;
        }
        // A preview shows everything that would be refused, what packs say of the stack included, and fails at its end.
        let is_refused_preview = !self.status.has_failed() && self.status.is_refused_in_preview();
        if is_refused_preview {
            self.status.fail(Failure::Refused);
        }
        self.say_how_it_failed(is_refused_preview);
        for id in std::mem::take(&mut self.shutdown_waiters) {
            self.reply(id, Reply::Done, fence);
        }
        let unanswered: Vec<RequestId> = self.unanswered.iter().copied().collect();
        for id in unanswered {
            self.refuse_if_finished(id);
        }
        let outcome = self.outcome();
        if outcome.has_begun {
            let packs = self.policy_versions();
            // A preview changes nothing.
            let maybe_corrupt = self.status.has_unknown_outcome() && !self.ctx.options.is_preview();
            self.emit_summary(self.started, outcome.result, maybe_corrupt, packs);
        }
        self.emit(Event::Cancel);
        if outcome.result == OperationResult::Succeeded {
            self.hand_out_plan();
        }
        self.outbox.push(Effect::Finished(outcome));
    }

    fn say_how_it_failed(&mut self, is_refused_preview: bool) {
        let how = match self.status.failure() {
            Some(Failure::Step { .. }) => "failed",
            Some(Failure::Canceled) => "canceled",
            Some(Failure::Refused) if is_refused_preview || self.is_stack_judged() => "failed",
            _ => return,
        };
        let what = if self.ctx.options.is_preview() {
            "preview"
        } else {
            "update"
        };
        self.error(None, &format!("{what} {how}"));
    }

    fn outcome(&self) -> Outcome {
        let result = match self.status.failure() {
            Some(Failure::Canceled) => OperationResult::Canceled,
            Some(_) => OperationResult::Failed,
            None => OperationResult::Succeeded,
        };
        let error = match self.status.failure() {
            Some(Failure::Canceled) => Some("canceled".to_owned()),
            Some(Failure::Step { cause }) => Some(format!(
                "step executor errored: step application failed: {cause}"
            )),
            Some(Failure::Refused) => Some("step generator errored".to_owned()),
            Some(Failure::Program) => Some("the program failed".to_owned()),
            Some(Failure::NotBegun { cause }) => Some(cause.clone()),
            None => None,
        };
        let unchanged = [
            StepOp::Same,
            StepOp::Read,
            StepOp::Discard,
            StepOp::ReadReplacement,
        ];
        let has_changes = self
            .report
            .changes
            .iter()
            .any(|(op, count)| *count > 0 && !unchanged.contains(op));
        Outcome {
            result,
            has_begun: self.report.has_begun,
            has_changes,
            error,
            root_stack: self.report.root_stack.clone(),
        }
    }

    /// Tells a request that the run is over, if it is; otherwise it is answered when it is.
    pub(crate) fn refuse_if_finished(&mut self, id: RequestId) {
        if self.stage == Stage::Finished {
            let is_constructing =
                self.calls.waiters.values().any(
                    |waiter| matches!(waiter, Waiter::Construct(request, _) if *request == id),
                );
            let what = if is_constructing {
                "construct"
            } else {
                "the deployment"
            };
            let message =
                format!("resource monitor shut down while waiting for {what} to complete");
            self.reply(
                id,
                Reply::Failed(RequestError::new(RequestErrorKind::Unavailable, message)),
                Fence::NONE,
            );
        }
    }
}
