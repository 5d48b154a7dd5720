//! The scheduler: chains of steps, which of them may start, and how far each is.
//!
//! It knows no rules about resources; `chain.rs` says which chains wait for which, and runs their steps.

use std::collections::VecDeque;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{ResourceState, Urn};
use plumb_state::journal::OperationId;
use plumb_value::PropertyMap;

use crate::facts::arena::StateIdx;
use crate::ids::{ChainIdx, Fence, RegIdx, RequestId};
use crate::request::Outcome;
use crate::step::Step;
use crate::steps::hooks::HookRun;
use crate::steps::retries::FailedCall;

/// Who made a chain, and hears of its end.
#[derive(Clone, Debug)]
pub(crate) enum Owner {
    /// A registration: answered with the state of the last step.
    Registration(RegIdx),
    /// A registration whose old state is read first.
    RefreshFor(RegIdx),
    /// A registration whose object is adopted first.
    ImportFor(RegIdx),
    /// A read of the program, with the state that it asks for.
    Read(RequestId, Arc<ResourceState>),
    /// The engine: refreshes, deletes, planned imports.
    Engine,
}

/// Stage of a running step: the answer that it waits for.
#[derive(Debug)]
pub(crate) enum Running {
    /// Hooks that come before the step; nothing is begun.
    Before(HookRun),
    /// A provider's answer to the step's only or last call.
    Call {
        /// Errors of earlier attempts, the oldest first.
        failures: Vec<EcoString>,
    },
    /// The comparison that follows the read of a refresh.
    RefreshDiff(Box<crate::steps::refresh::Refreshed>),
    /// The check of inputs that follows the read of an import.
    ImportCheck(Box<ResourceState>),
    /// Error hooks, which say whether the call that failed is made again.
    OnError(Box<FailedCall>),
    /// Hooks that come after the step, whose outcome is recorded.
    After(HookRun, StepEnd),
}

/// One chain.
#[derive(Debug)]
struct Chain {
    steps: VecDeque<Step>,
    owner: Owner,
    /// The old state of the resource that it is about.
    old: Option<StateIdx>,
    /// Chains that must be done before this one starts.
    after: Vec<ChainIdx>,
    /// Whether it may begin before there is room for its calls.
    may_run_ahead: bool,
    /// The step that runs, its operation in the journal, and what it waits for.
    current: Option<Box<(Step, OperationId, Running)>>,
    /// The state that the last step left, and the fence of its outcome.
    last: Option<StateIdx>,
    fence: Fence,
    outcome: Outcome,
    unknown: bool,
    is_done: bool,
}

/// The end of a chain, for its owner.
#[derive(Debug)]
pub(crate) struct ChainEnd {
    /// Who made it.
    pub(crate) owner: Owner,
    /// The state that the last step left.
    pub(crate) state: Option<StateIdx>,
    pub(crate) outcome: Outcome,
    /// Whether the resource was left out, so that the program sees unknowns.
    pub(crate) unknown: bool,
    /// The journal entry that must be durable before anybody hears of it.
    pub(crate) fence: Fence,
}

/// All chains of a run.
#[derive(Debug)]
pub(crate) struct Scheduler {
    chains: Vec<Chain>,
    ready: VecDeque<ChainIdx>,
    /// Ready chains that were looked at while others started, and that wait for some.
    passed_over: Vec<ChainIdx>,
    running: u32,
    /// How many chains may run at once.
    limit: u32,
    /// How many more may begin and wait for room for their calls.
    ahead: u32,
}

/// How many steps may begin ahead until the pace is known. Where few calls run at a time nobody would notice.
fn first_ahead(calls: u32) -> u32 {
    const MANY: u32 = 32;
    if calls < MANY { 0 } else { calls / 4 }
}

/// How a step ended.
#[derive(Debug)]
pub(crate) struct StepEnd {
    /// The state that it left, if any.
    pub(crate) state: Option<StateIdx>,
    /// The journal entry that must be durable before anybody hears of it.
    pub(crate) fence: Fence,
    /// Whether it failed.
    pub(crate) is_failed: bool,
    /// Outputs for the hooks after the step.
    pub(crate) returned: Option<Arc<PropertyMap>>,
}

impl Chain {
    /// Whether all its steps were done.
    fn is_done_well(&self) -> bool {
        self.is_done && self.outcome == Outcome::Success
    }
}

impl StepEnd {
    /// Of a step that does nothing.
    pub(crate) const NOTHING: StepEnd = StepEnd {
        state: None,
        fence: Fence::NONE,
        is_failed: false,
        returned: None,
    };
}

impl Scheduler {
    /// For so many calls at a time, with room for `expected` chains.
    pub(crate) fn new(calls: u32, expected: usize) -> Self {
        Scheduler {
            chains: Vec::with_capacity(expected),
            ready: VecDeque::new(),
            passed_over: Vec::new(),
            running: 0,
            limit: calls,
            ahead: first_ahead(calls),
        }
    }

    /// How many chains may begin before there is room for their calls, so that their intents are durable by the time that
    /// there is.
    pub(crate) fn set_ahead(&mut self, ahead: u32) {
        self.ahead = ahead.max(first_ahead(self.limit));
    }

    /// Whether nothing runs. Once the run has failed, chains that wait do not count: they never start, and what was decided
    /// later may wait for one of them.
    pub(crate) fn is_idle(&self, has_failed: bool) -> bool {
        self.running == 0 && (has_failed || self.ready.is_empty())
    }

    /// Resources of chains that have steps left, or one that waits.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &Urn> {
        let chains = self.chains.iter().filter(|chain| !chain.is_done);
        chains.filter_map(|chain| {
            let current = chain.current.as_deref().map(|(step, _, _)| &step.urn);
            current.or(chain.steps.front().map(|step| &step.urn))
        })
    }

    /// The index of the chain that is added next.
    pub(crate) fn next_index(&self) -> ChainIdx {
        ChainIdx(self.chains.len() as u32)
    }

    /// Adds a chain that starts once those in `after` are done and there is room.
    pub(crate) fn add(
        &mut self,
        owner: Owner,
        steps: Vec<Step>,
        after: Vec<ChainIdx>,
        may_run_ahead: bool,
    ) {
        self.ready.push_back(self.next_index());
        self.chains.push(Chain {
            old: steps.last().and_then(Step::old),
            steps: steps.into(),
            owner,
            after,
            may_run_ahead,
            current: None,
            last: None,
            fence: Fence::NONE,
            outcome: Outcome::Success,
            unknown: false,
            is_done: false,
        });
    }

    /// Starts the next chain that waits for no other, and answers whether all that came before it went well. `None` if there
    /// is no such chain, or no room; then chains that were passed over are looked at again next time, before the others.
    pub(crate) fn start_next(&mut self) -> Option<(ChainIdx, bool)> {
        while self.running < self.limit.saturating_add(self.ahead) {
            let Some(idx) = self.ready.pop_front() else {
                break;
            };
            if self.running >= self.limit && !self.chain(idx).may_run_ahead {
                self.ready.push_front(idx);
                break;
            }
            let before = || self.chain(idx).after.iter().map(|it| self.chain(*it));
            if before().any(|chain| !chain.is_done) {
                self.passed_over.push(idx);
                continue;
            }
            let is_cleared = before().all(Chain::is_done_well);
            self.running += 1;
            return Some((idx, is_cleared));
        }
        for idx in std::mem::take(&mut self.passed_over).into_iter().rev() {
            self.ready.push_front(idx);
        }
        None
    }

    /// Whether all steps of a chain were done.
    pub(crate) fn is_done_well(&self, idx: ChainIdx) -> bool {
        self.chain(idx).is_done_well()
    }

    /// Chains that are not done well and are about an old state for which `holds` is true.
    pub(crate) fn unfinished_about(&self, holds: impl Fn(StateIdx) -> bool) -> Vec<ChainIdx> {
        let chains = (0_u32..).zip(&self.chains);
        chains
            .filter(|(_, chain)| !chain.is_done_well() && chain.old.is_some_and(&holds))
            .map(|(idx, _)| ChainIdx(idx))
            .collect()
    }

    /// Steps of a chain that have not begun.
    pub(crate) fn steps_left(&self, idx: ChainIdx) -> &VecDeque<Step> {
        &self.chain(idx).steps
    }

    /// Takes the next step of a chain.
    pub(crate) fn next_step(&mut self, idx: ChainIdx) -> Option<Step> {
        self.chain_mut(idx).steps.pop_front()
    }

    /// Takes the steps of a chain that will not be made.
    pub(crate) fn take_steps(&mut self, idx: ChainIdx) -> VecDeque<Step> {
        std::mem::take(&mut self.chain_mut(idx).steps)
    }

    /// The step that a chain waits for.
    pub(crate) fn running_step(&self, idx: ChainIdx) -> Option<(&Step, OperationId)> {
        let current = self.chain(idx).current.as_deref();
        current.map(|(step, operation, _)| (step, *operation))
    }

    /// The step waits for an answer: keeps it with what it waits for.
    pub(crate) fn wait(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        running: Running,
    ) {
        self.chain_mut(idx).current = Some(Box::new((step, operation, running)));
    }

    /// Puts back what [`Scheduler::resume`] took.
    pub(crate) fn wait_on(&mut self, idx: ChainIdx, current: Box<(Step, OperationId, Running)>) {
        self.chain_mut(idx).current = Some(current);
    }

    /// Takes the step that waits for an answer, and what it waits for.
    pub(crate) fn resume(&mut self, idx: ChainIdx) -> Option<Box<(Step, OperationId, Running)>> {
        self.chain_mut(idx).current.take()
    }

    /// A step is done: the chain goes on from what it left.
    pub(crate) fn step_done(&mut self, idx: ChainIdx, end: &StepEnd) {
        let chain = self.chain_mut(idx);
        chain.last = end.state.or(chain.last);
        chain.fence = chain.fence.max(end.fence);
    }

    /// The resource of a chain was left out: the program sees unknowns.
    pub(crate) fn mark_unknown(&mut self, idx: ChainIdx) {
        self.chain_mut(idx).unknown = true;
    }

    /// A chain failed, or was skipped.
    pub(crate) fn set_outcome(&mut self, idx: ChainIdx, outcome: Outcome) {
        self.chain_mut(idx).outcome = outcome;
    }

    /// The run fails: the chain ends silently.
    pub(crate) fn stop(&mut self, idx: ChainIdx) {
        let chain = self.chain_mut(idx);
        chain.steps = VecDeque::new();
        chain.is_done = true;
        self.running -= 1;
    }

    /// A chain is over.
    pub(crate) fn finish(&mut self, idx: ChainIdx) -> ChainEnd {
        self.stop(idx);
        let chain = self.chain(idx);
        ChainEnd {
            owner: chain.owner.clone(),
            state: chain.last,
            outcome: chain.outcome,
            unknown: chain.unknown,
            fence: chain.fence,
        }
    }

    fn chain(&self, idx: ChainIdx) -> &Chain {
        &self.chains[idx.0 as usize]
    }

    fn chain_mut(&mut self, idx: ChainIdx) -> &mut Chain {
        &mut self.chains[idx.0 as usize]
    }
}
