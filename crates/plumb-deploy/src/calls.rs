//! Calls to providers, who waits for them, and replies to the program.

use std::collections::VecDeque;

use ecow::EcoString;
use plumb_resource::Goal;
use plumb_resource::provider::{ProviderCall, ProviderError, ProviderReply};
use rustc_hash::FxHashSet;

use crate::chain::ChainIdx;
use crate::deployment::{Deployment, Work};
use crate::event::{CallId, Effect, InstanceId, ProviderAction, RequestId};
use crate::registration::RegIdx;
use crate::request::Reply;

/// Who waits for the answer to a call.
#[derive(Clone, Debug)]
pub(crate) enum Waiter {
    /// A registration, in the stage that it is in.
    Registration(RegIdx),
    /// The current step of a chain.
    Chain(ChainIdx),
    /// An invoke.
    Invoke(RequestId, EcoString),
    /// A method call.
    Call(RequestId, EcoString),
    /// The construction of a remote component.
    Construct(RequestId, Box<Goal>),
    /// An extension parameterization.
    Extension(InstanceId, EcoString),
}

/// Limits Check and Diff calls in flight.
#[derive(Debug, Default)]
pub(crate) struct DecisionSlots {
    used: FxHashSet<CallId>,
    waiting: VecDeque<(CallId, InstanceId, ProviderCall)>,
}

impl Deployment {
    /// Answers a request, once the entry of number `fence` is durable.
    pub(crate) fn reply(&mut self, id: RequestId, reply: Reply, fence: u64) {
        if self.unanswered.remove(&id) {
            self.outbox.push(Effect::Reply { id, reply, fence });
            self.request_closed(id);
        }
    }

    /// Sends a call at once.
    pub(crate) fn call(
        &mut self,
        waiter: Waiter,
        instance: InstanceId,
        request: ProviderCall,
        fence: u64,
    ) {
        let call = self.outbox.call_id();
        self.calls.insert(call, waiter);
        match self.providers.answer_unconfigured(instance, &request) {
            Some(reply) => self.work.push_back(Work::Answer(call, Ok(reply))),
            None => self.send_call(call, instance, request, fence),
        }
    }

    /// Sends a call that a decision waits for; so many of them are in flight as steps may run.
    pub(crate) fn ask(&mut self, waiter: Waiter, instance: InstanceId, request: ProviderCall) {
        let call = self.outbox.call_id();
        self.calls.insert(call, waiter);
        if let Some(reply) = self.providers.answer_unconfigured(instance, &request) {
            return self.work.push_back(Work::Answer(call, Ok(reply)));
        }
        if self.decisions.used.len() < self.chains.limit() as usize {
            self.decisions.used.insert(call);
            self.send_call(call, instance, request, 0);
        } else {
            self.decisions.waiting.push_back((call, instance, request));
        }
    }

    /// Takes the answer to a call to whom it is for.
    pub(crate) fn answered(&mut self, call: CallId, result: Result<ProviderReply, ProviderError>) {
        if self.decisions.used.remove(&call)
            && let Some((next, instance, request)) = self.decisions.waiting.pop_front()
        {
            self.decisions.used.insert(next);
            self.send_call(next, instance, request, 0);
        }
        match self.calls.remove(&call) {
            Some(Waiter::Registration(registration)) => {
                self.registration_answered(registration, result);
            }
            Some(Waiter::Chain(chain)) => self.chain_answered(chain, result),
            Some(Waiter::Invoke(id, token)) => self.invoke_answered(id, &token, result),
            Some(Waiter::Call(id, token)) => self.call_answered(id, &token, result),
            Some(Waiter::Construct(id, goal)) => self.construct_answered(id, &goal, result),
            Some(Waiter::Extension(instance, reference)) => {
                self.extension_answered(instance, &reference, result);
            }
            None => {}
        }
    }

    /// Does something with a provider that answers nothing.
    pub(crate) fn provider_action(&mut self, instance: InstanceId, action: ProviderAction) {
        self.outbox.push(Effect::Provider { instance, action });
    }
}
