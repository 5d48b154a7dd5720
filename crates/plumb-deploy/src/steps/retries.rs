//! Error hooks: functions of the program that have a step made again whose call failed (`engine.md` 8.1).
//!
//! 1. A create, update or delete call failed. All error hooks that the resource binds are asked, one after another, and
//!    told of every failure so far, in previews too, unless the run ends anyway.
//! 2. If one of them wants so, the call is made again: a hundred times at most.
//! 3. Otherwise the failure stands. If a hook fails itself, that is the failure.
//!
//! **No id is lost.** What a failed call left half done is recorded before the next attempt. If that makes another object,
//! the first one is deleted at the end of the run.

use std::collections::VecDeque;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::hook::{ErrorHookCall, FailedOperation, HookCall};
use plumb_resource::{HookType, ResourceState};
use plumb_state::journal::OperationId;

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::ids::{ChainIdx, Fence};
use crate::request::{CallbackReply, CallbackRequest, HookKind};
use crate::step::{Step, StepFailure, StepKind};
use crate::steps::answer::Applied;
use crate::steps::hooks::{HookWaiter, MISMATCHED, bound};
use crate::steps::scheduler::{Running, StepEnd};

/// How often a call is made, when error hooks never give up.
const MAX_ATTEMPTS: usize = 100;

/// A call that failed, while error hooks decide whether it is made again.
#[derive(Debug)]
pub(crate) struct FailedCall {
    /// The result if the call is not made again.
    applied: Applied,
    /// Every failure so far, the oldest first.
    failures: Vec<EcoString>,
    call: HookCall,
    operation: FailedOperation,
    remaining: VecDeque<EcoString>,
    /// The hook that runs.
    current: EcoString,
    /// Whether a hook has asked for another attempt.
    is_wanted: bool,
}

impl Deployment {
    /// The call of a step failed; `failures` are those of earlier attempts.
    pub(crate) fn call_failed(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        mut failures: Vec<EcoString>,
        mut applied: Applied,
    ) -> Option<StepEnd> {
        let asked = self.error_hooks(&step).zip(applied.failure.as_mut());
        let Some(((failed, call, remaining), failure)) = asked else {
            return self.finish_step(idx, step, operation, applied);
        };
        failures.push(failure.message.as_str().into());
        if failures.len() >= MAX_ATTEMPTS {
            let warning = format!("maximum number of error hook retries ({MAX_ATTEMPTS}) reached");
            self.warning(Some(&step.urn), &warning);
            let message = "maximum number of error hook retries reached".to_owned();
            self.fails_otherwise(&step, failure, message);
            return self.finish_step(idx, step, operation, applied);
        }
        let failed = FailedCall {
            applied,
            failures,
            call,
            operation: failed,
            remaining,
            current: EcoString::new(),
            is_wanted: false,
        };
        self.next_error_hook(idx, step, operation, Box::new(failed))
    }

    /// The failed operation, the argument for its error hooks, and those hooks; `None` if none is to be asked.
    fn error_hooks(&self, step: &Step) -> Option<(FailedOperation, HookCall, VecDeque<EcoString>)> {
        if self.status.has_failed() {
            return None;
        }
        let state = |idx: StateIdx| self.arena.state(idx).clone();
        let wanted = |new: &ResourceState| Arc::new(new.clone());
        let (operation, call) = match &step.kind {
            StepKind::Create { new, .. } => {
                (FailedOperation::Create, HookCall::create(wanted(new)))
            }
            StepKind::Update { old, new, .. } => (
                FailedOperation::Update,
                HookCall::update(state(*old), wanted(new)),
            ),
            StepKind::Delete { old, .. } => {
                (FailedOperation::Delete, HookCall::delete(state(*old)))
            }
            _ => return None,
        };
        let binding = call.new_options.as_ref().or(call.old_options.as_ref())?;
        let names: VecDeque<_> = bound(binding, HookType::OnError).iter().cloned().collect();
        (!names.is_empty()).then_some((operation, call, names))
    }

    /// Asks the next error hook, or does what they said when there is none left.
    fn next_error_hook(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        mut failed: Box<FailedCall>,
    ) -> Option<StepEnd> {
        let Some(name) = failed.remaining.pop_front() else {
            return self.after_error_hooks(idx, step, operation, *failed);
        };
        let found = self
            .hooks
            .get(&name, |kind| (kind == HookKind::Error).then_some(()));
        let callback = match found {
            Ok((callback, ())) => callback.clone(),
            Err(reason) => return self.error_hooks_failed(idx, step, operation, *failed, &reason),
        };
        let request = ErrorHookCall {
            resource: failed.call.clone(),
            operation: failed.operation,
            errors: failed.failures.iter().rev().cloned().collect(),
        };
        let request = CallbackRequest::ErrorHook(Box::new(request));
        let call = self.outbox.call_back(callback, request, Fence::NONE);
        self.hooks.started(call, HookWaiter::Chain(idx));
        failed.current = name;
        self.chains
            .wait(idx, step, operation, Running::OnError(failed));
        None
    }

    pub(crate) fn error_hook_answered(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        mut failed: Box<FailedCall>,
        result: Result<CallbackReply, String>,
    ) -> Option<StepEnd> {
        let reason = match result {
            Ok(CallbackReply::Retry(is_wanted)) => {
                failed.is_wanted |= is_wanted;
                return self.next_error_hook(idx, step, operation, failed);
            }
            Ok(_) => MISMATCHED.to_owned(),
            Err(reason) => reason,
        };
        let reason = format!("error hook \"{}\" failed: {reason}", failed.current);
        self.error_hooks_failed(idx, step, operation, *failed, &reason)
    }

    /// Every hook has answered.
    fn after_error_hooks(
        &mut self,
        idx: ChainIdx,
        mut step: Step,
        operation: OperationId,
        failed: FailedCall,
    ) -> Option<StepEnd> {
        if !failed.is_wanted || self.status.has_failed() {
            return self.finish_step(idx, step, operation, failed.applied);
        }
        let message = format!(
            "retrying {} due to on-error hook request ({}/{MAX_ATTEMPTS})",
            failed.operation.as_str(),
            failed.failures.len()
        );
        self.warning(Some(&step.urn), &message);
        let FailedCall {
            applied, failures, ..
        } = failed;
        let (operation, fence) = match applied.state {
            Some(_) => self.keep_half_done(&mut step, operation, applied),
            // The intent is durable since the first attempt.
            None => (operation, self.views_of_failed(&step, operation).fence),
        };
        self.perform_again(idx, step, operation, failures, fence)
    }

    /// Records what an attempt left half done; the next one begins under another operation.
    fn keep_half_done(
        &mut self,
        step: &mut Step,
        operation: OperationId,
        applied: Applied,
    ) -> (OperationId, Fence) {
        let (left, _) = self.record_outcome(operation, step, applied.state);
        // The intent of the next attempt comes behind them in the journal; if one of them failed the run ends.
        let _ = self.views_follow(step, operation, left);
        step.left = left;
        let operation = self.outbox.operation();
        (operation, self.record_intent(operation, step))
    }

    /// An error hook failed, or is missing.
    fn error_hooks_failed(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        mut failed: FailedCall,
        reason: &str,
    ) -> Option<StepEnd> {
        if let Some(failure) = &mut failed.applied.failure {
            let message = format!("error hooks execution failed: {reason}");
            self.fails_otherwise(&step, failure, message);
        }
        self.finish_step(idx, step, operation, failed.applied)
    }

    /// The step fails with `message`; why its call failed is shown beside that.
    fn fails_otherwise(&mut self, step: &Step, failure: &mut StepFailure, message: String) {
        let why = std::mem::replace(&mut failure.message, message);
        self.error(Some(&step.urn), &why);
    }
}
