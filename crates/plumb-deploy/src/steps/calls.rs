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

/// Whether the step of a call has been announced to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announcement {
    Made,
    /// The step is announced when its first call is sent.
    Due,
}

/// Turn of a step's call if there is no room for it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The first call of a step, which comes after those that wait.
    First(Announcement),
    /// Another call of a step, which comes before those that wait.
    Next,
}

/// A call that waits for its turn.
#[derive(Debug)]
struct Queued {
    call: CallId,
    instance: InstanceId,
    request: ProviderCall,
    fence: Fence,
    announcement: Announcement,
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

    fn has_room(&self) -> bool {
        self.used.len() < self.limit
    }

    /// Gives `queued` back if it may go at once.
    fn take(&mut self, queued: Queued, turn: Turn) -> Option<Queued> {
        if self.has_room() {
            self.used.insert(queued.call);
            return Some(queued);
        }
        match turn {
            Turn::First(_) => self.waiting.push_back(Box::new(queued)),
            Turn::Next => self.waiting.push_front(Box::new(queued)),
        }
        None
    }

    /// A call was answered; returns whether that makes room for another.
    fn release(&mut self, call: CallId) -> bool {
        self.used.remove(&call)
    }

    /// The next call that may go, if there is one.
    fn next(&mut self) -> Option<Queued> {
        if !self.has_room() {
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
            let turn = Turn::First(Announcement::Made);
            let next = self.calls.decisions.take(queued, turn);
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
        turn: Turn,
    ) {
        let Some(mut queued) = self.queued(Waiter::Chain(chain), instance, request, fence) else {
            if turn == Turn::First(Announcement::Due) {
                self.announce_waiting(chain);
            }
            return;
        };
        if let Turn::First(announcement) = turn {
            queued.announcement = announcement;
        }
        let next = self.calls.steps.take(queued, turn);
        self.send(next);
    }

    /// Sends calls of steps that there is room for. After a failure, steps that have only begun ahead are dropped.
    pub(crate) fn send_waiting(&mut self) {
        while let Some(next) = self.calls.steps.next() {
            if next.announcement == Announcement::Made {
                self.send(Some(next));
                continue;
            }
            let Some(Waiter::Chain(chain)) = self.calls.waiters.get(&next.call) else {
                return self.internal_error("a call of a step is not that of a chain");
            };
            let chain = *chain;
            if self.status.has_failed() {
                self.calls.steps.release(next.call);
                self.calls.waiters.remove(&next.call);
                self.drop_begun(chain);
            } else {
                self.announce_waiting(chain);
                self.send(Some(next));
            }
        }
    }

    /// Announces the step whose call is about to be sent.
    fn announce_waiting(&mut self, chain: ChainIdx) {
        match self.chains.resume(chain) {
            Some(current) => {
                self.announce_step(&current.0);
                self.chains.wait_on(chain, current);
            }
            None => self.internal_error("a call is sent for a chain that waits for none"),
        }
    }

    /// Ends a step whose call was not sent as if it had not begun.
    fn drop_begun(&mut self, chain: ChainIdx) {
        match self.chains.resume(chain) {
            Some(current) => {
                let (step, operation, _) = *current;
                self.record_failure(operation, &step);
                self.chains.stop(chain);
            }
            None => self.internal_error("a call waits for a chain that waits for none"),
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
            announcement: Announcement::Made,
        })
    }

    fn send(&mut self, queued: Option<Queued>) {
        if let Some(it) = queued {
            self.send_call(it.call, it.instance, it.request, it.fence);
        }
    }

    /// Takes note that a call is answered; returns who waits for the answer. The room that a step leaves is given to others
    /// by [`Deployment::send_waiting`], once the answer is known to be no failure.
    pub(crate) fn call_ended(&mut self, call: CallId) -> Option<Waiter> {
        if self.calls.decisions.release(call) {
            let next = self.calls.decisions.next();
            self.send(next);
        }
        self.calls.steps.release(call);
        self.calls.waiters.remove(&call)
    }

    /// Sends the call of a step and waits.
    pub(crate) fn step_calls(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        request: ProviderCall,
        fence: Fence,
        mut announcement: Announcement,
    ) -> Option<StepEnd> {
        let instance = step.instance()?;
        if announcement == Announcement::Due && self.calls.steps.has_room() {
            self.announce_step(&step);
            announcement = Announcement::Made;
        }
        let request = request.with_old_views(self.old_views(&step));
        let failures = Vec::new();
        self.chains
            .wait(idx, step, operation, Running::Call { failures });
        self.call_for_step(idx, instance, request, fence, Turn::First(announcement));
        None
    }
}
