//! Calls to providers, who waits for them, and replies to the program.

use std::collections::VecDeque;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{ProviderCall, ReadRequest};
use plumb_resource::{Goal, ResourceState};
use plumb_state::journal::OperationId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::ids::{CallId, ChainIdx, Fence, InstanceId, RegIdx, RequestId};
use crate::step::Step;
use crate::steps::scheduler::{Running, StepEnd};
use crate::work::Work;

/// Who waits for the answer to a call.
#[derive(Clone, Debug)]
pub(crate) enum Waiter {
    /// A registration, in the stage that it is in, and the extension that its resource is of.
    Registration(RegIdx, Option<EcoString>),
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

/// The calls of a run that are not answered yet.
#[derive(Debug)]
pub(crate) struct Calls {
    pub(crate) waiters: FxHashMap<CallId, Waiter>,
    /// Calls that decisions wait for, and calls of steps.
    decisions: Slots,
    steps: Slots,
}

impl Calls {
    /// So many decisions and so many steps may have a call in flight.
    pub(crate) fn new(limit: u32) -> Self {
        Calls {
            waiters: FxHashMap::default(),
            decisions: Slots::new(limit),
            steps: Slots::new(limit),
        }
    }
}

/// A call that waits for its turn.
#[derive(Debug)]
struct Queued {
    call: CallId,
    instance: InstanceId,
    request: ProviderCall,
    fence: Fence,
}

/// Limits how many calls of one sort are in flight.
#[derive(Debug)]
struct Slots {
    limit: usize,
    used: FxHashSet<CallId>,
    /// Mostly more than are in flight: on their own, so that the queue grows without moving them.
    waiting: VecDeque<Box<Queued>>,
}

impl Slots {
    fn new(limit: u32) -> Self {
        Slots {
            limit: limit as usize,
            used: FxHashSet::default(),
            waiting: VecDeque::new(),
        }
    }

    /// Gives `queued` back if it may go at once.
    fn take(&mut self, queued: Queued) -> Option<Queued> {
        if self.used.len() < self.limit {
            self.used.insert(queued.call);
            return Some(queued);
        }
        self.waiting.push_back(Box::new(queued));
        None
    }

    /// A call was answered: the next one may go, if there is one.
    fn release(&mut self, call: CallId) -> Option<Queued> {
        if !self.used.remove(&call) {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.used.insert(next.call);
        Some(*next)
    }
}

/// Read, for a new state.
pub(crate) fn read_request(
    new: &ResourceState,
    inputs: Option<Arc<plumb_value::PropertyMap>>,
    outputs: &Arc<plumb_value::PropertyMap>,
) -> ProviderCall {
    ProviderCall::Read(ReadRequest {
        urn: new.urn.clone(),
        id: new.id.clone(),
        inputs,
        outputs: outputs.clone(),
        timeout: new.custom_timeouts.read,
        old_views: Vec::new(),
        status: None,
    })
}

impl Deployment {
    /// Sends a call at once.
    pub(crate) fn call(
        &mut self,
        waiter: Waiter,
        instance: InstanceId,
        request: ProviderCall,
        fence: Fence,
    ) {
        let queued = self.queued(waiter, instance, request, fence);
        self.send(queued);
    }

    /// Sends a call that a decision waits for; so many of them are in flight as calls of steps may be.
    pub(crate) fn ask(&mut self, waiter: Waiter, instance: InstanceId, request: ProviderCall) {
        if let Some(queued) = self.queued(waiter, instance, request, Fence::NONE) {
            let next = self.calls.decisions.take(queued);
            self.send(next);
        }
    }

    /// Sends the call of a step of `chain`, once there is room for it.
    pub(crate) fn call_for_step(
        &mut self,
        chain: ChainIdx,
        instance: InstanceId,
        request: ProviderCall,
        fence: Fence,
    ) {
        if let Some(queued) = self.queued(Waiter::Chain(chain), instance, request, fence) {
            let next = self.calls.steps.take(queued);
            self.send(next);
        }
    }

    /// A call that somebody outside must answer.
    fn queued(
        &mut self,
        waiter: Waiter,
        instance: InstanceId,
        request: ProviderCall,
        fence: Fence,
    ) -> Option<Queued> {
        let call = self.outbox.call_id();
        self.calls.waiters.insert(call, waiter);
        if let Some(reply) = self.providers.answer_unconfigured(instance, &request) {
            self.work.push_back(Work::Answer(call, Box::new(Ok(reply))));
            return None;
        }
        Some(Queued {
            call,
            instance,
            request,
            fence,
        })
    }

    fn send(&mut self, queued: Option<Queued>) {
        if let Some(it) = queued {
            self.send_call(it.call, it.instance, it.request, it.fence);
        }
    }

    /// Takes note that a call is answered, which makes room for others; returns who waits for the answer.
    pub(crate) fn call_ended(&mut self, call: CallId) -> Option<Waiter> {
        let decision = self.calls.decisions.release(call);
        self.send(decision);
        let step = self.calls.steps.release(call);
        self.send(step);
        self.calls.waiters.remove(&call)
    }

    /// Sends the call of a step and waits.
    pub(crate) fn step_calls(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        request: plumb_resource::provider::ProviderCall,
        fence: Fence,
    ) -> Option<StepEnd> {
        let instance = step.instance()?;
        let request = request.with_old_views(self.old_views(&step));
        let failures = Vec::new();
        self.chains
            .wait(idx, step, operation, Running::Call { failures });
        self.call_for_step(idx, instance, request, fence);
        None
    }
}
