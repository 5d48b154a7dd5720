//! Chains: the steps of one decision, run in order; chains run side by side (`engine.md` 6).
//!
//! 1. A chain becomes ready when it is made, or when the chain that it waits for is done.
//! 2. So many chains run at once as the options allow. Each runs one step at a time, which passes the stages of
//!    [`Running`]: event, hooks before it, intent, provider call (again, if error hooks say so), outcome, event, hooks
//!    after it. Most steps have no hooks, and many no call.
//! 3. When its last step is done the owner hears of it: a registration is answered, the next layer of deletes starts.
//! 4. After a failure no chain starts and none goes on to its next step; answers to calls in flight are still recorded.

use std::collections::VecDeque;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{ProviderError, ProviderReply};
use plumb_resource::{ResourceState, Urn};
use plumb_state::journal::OperationId;
use plumb_value::PropertyMap;
use rustc_hash::FxHashSet;

use crate::decide::registration::RegIdx;
use crate::deployment::{Deployment, Work};
use crate::event::{Fence, Milestone, RequestId};
use crate::facts::arena::StateIdx;
use crate::facts::graph;
use crate::facts::urn_flags::UrnFlag;
use crate::request::{CallbackReply, Outcome};
use crate::steps::hooks::HookRun;
use crate::steps::retries::FailedCall;
use crate::steps::step::{Step, StepKind};

/// Index of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChainIdx(u32);

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
    RefreshDiff(Box<crate::whole::refresh::Refreshed>),
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
    /// The step that runs, its operation in the journal, and what it waits for.
    current: Option<Box<(Step, OperationId, Running)>>,
    /// The state that the last step left, and the fence of its outcome.
    last: Option<StateIdx>,
    fence: Fence,
    outcome: Outcome,
    unknown: bool,
    is_done: bool,
}

/// All chains of a run.
#[derive(Debug)]
pub(crate) struct Scheduler {
    chains: Vec<Chain>,
    ready: VecDeque<ChainIdx>,
    running: u32,
    /// How many chains may run at once.
    limit: u32,
}

/// How many steps may begin before there is room for their calls: their intents are durable by the time that there is.
/// Where few calls run at a time nobody would notice, and a failure is to stop what comes after it.
fn ahead_of(calls: u32) -> u32 {
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
            running: 0,
            limit: calls.saturating_add(ahead_of(calls)),
        }
    }

    /// Whether nothing runs; chains that wait do not count once the run has failed, which `ready` is emptied for.
    pub(crate) fn is_idle(&self) -> bool {
        self.running == 0 && self.ready.is_empty()
    }

    /// Resources of chains that have steps left, or one that waits.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &Urn> {
        let chains = self.chains.iter().filter(|chain| !chain.is_done);
        chains.filter_map(|chain| {
            let current = chain.current.as_deref().map(|(step, _, _)| &step.urn);
            current.or(chain.steps.front().map(|step| &step.urn))
        })
    }

    /// Forgets the chains that have not started.
    pub(crate) fn drop_waiting(&mut self) {
        self.ready.clear();
    }

    fn chain(&self, idx: ChainIdx) -> &Chain {
        &self.chains[idx.0 as usize]
    }

    fn chain_mut(&mut self, idx: ChainIdx) -> &mut Chain {
        &mut self.chains[idx.0 as usize]
    }
}

impl Deployment {
    /// Makes a chain and has it run when there is room.
    pub(crate) fn start_chain(&mut self, owner: Owner, steps: Vec<Step>) -> ChainIdx {
        let idx = ChainIdx(self.chains.chains.len() as u32);
        let after = self.chains_before(&steps);
        for old in steps.iter().filter_map(Step::deleted_for_replacement) {
            self.removal.deleted_by.insert(old, idx);
        }
        self.chains.chains.push(Chain {
            old: steps.last().and_then(Step::old),
            steps: steps.into(),
            owner,
            after,
            current: None,
            last: None,
            fence: Fence::NONE,
            outcome: Outcome::Success,
            unknown: false,
            is_done: false,
        });
        self.chains.ready.push_back(idx);
        self.work.push_back(Work::RunChains);
        idx
    }

    /// Chains that must be done before `steps`. An object that another chain still deletes must be gone before a step uses it,
    /// and so must everything that needs an object which these steps delete (DBR-07). Example: `b` depends on `a` and both are
    /// replaced delete-first; the delete of `b` comes before the delete of `a`. A resource that stays must no longer need it.
    fn chains_before(&self, steps: &[Step]) -> Vec<ChainIdx> {
        let rest = steps
            .iter()
            .filter(|step| !matches!(step.kind, StepKind::Delete { .. }));
        let going: Vec<StateIdx> = steps
            .iter()
            .filter_map(Step::deleted_for_replacement)
            .collect();
        let gone_before = going.iter().flat_map(|old| self.dependents_of(*old));
        let deleting = rest
            .filter_map(Step::old)
            .chain(gone_before)
            .filter_map(|old| self.removal.deleted_by.get(&old).copied());
        deleting
            .chain(self.users_of(&going))
            .filter(|chain| !self.chains.chain(*chain).is_done_well())
            .collect()
    }

    /// Chains that read something in `going`, and those of resources that need it so far.
    fn users_of(&self, going: &[StateIdx]) -> Vec<ChainIdx> {
        if going.is_empty() {
            return Vec::new();
        }
        let urns: FxHashSet<&Urn> = going.iter().map(|it| &self.arena.state(*it).urn).collect();
        let is_user = |old: StateIdx| {
            let stays = !self.removal.pending.contains(&old);
            let needs_it = || graph::needs(self.arena.state(old)).any(|urn| urns.contains(urn));
            going.contains(&old) || (stays && needs_it())
        };
        let chains = (0_u32..).zip(&self.chains.chains);
        chains
            .filter(|(_, chain)| !chain.is_done_well() && chain.old.is_some_and(is_user))
            .map(|(idx, _)| ChainIdx(idx))
            .collect()
    }

    /// Starts ready chains while there is room.
    pub(crate) fn run_chains(&mut self) {
        let mut waiting = Vec::new();
        while self.failure.is_none() && self.chains.running < self.chains.limit {
            let Some(idx) = self.chains.ready.pop_front() else {
                break;
            };
            let before = || self.chains.chain(idx).after.iter();
            if before().any(|it| !self.chains.chain(*it).is_done) {
                waiting.push(idx);
                continue;
            }
            let is_cleared = before().all(|it| self.chains.chain(*it).is_done_well());
            self.chains.running += 1;
            if is_cleared {
                self.advance_chain(idx);
            } else {
                self.skip_chain(idx);
            }
        }
        // What was decided although the run has failed must not wait: what it would wait for may never start.
        if self.failure.is_some() {
            return self.chains.drop_waiting();
        }
        for idx in waiting.into_iter().rev() {
            self.chains.ready.push_front(idx);
        }
    }

    /// Runs steps of a chain until one must wait, or there are none left.
    fn advance_chain(&mut self, idx: ChainIdx) {
        loop {
            if self.failure.is_some() {
                return self.stop_chain(idx);
            }
            if self.depends_on_failed(idx) {
                return self.skip_chain(idx);
            }
            let Some(step) = self.chains.chain_mut(idx).steps.pop_front() else {
                return self.chain_done(idx);
            };
            if self.is_superseded(&step) || self.is_gone_already(&step) {
                continue;
            }
            let operation = self.outbox.operation();
            self.announce_step(&step);
            let passes_on = step.passes_on();
            match self.begin_step(idx, step, operation) {
                Some(end) if end.is_failed => return self.chain_failed(idx, end),
                // Something else than what the owner asked for.
                Some(end) if passes_on => self.step_done(idx, StepEnd { state: None, ..end }),
                Some(end) => self.step_done(idx, end),
                None => return,
            }
        }
    }

    /// Whether a step would delete what a refresh has found gone in the meantime.
    fn is_gone_already(&self, step: &Step) -> bool {
        let old = step.deleted_for_replacement();
        old.is_some_and(|old| self.gone.contains(&old))
    }

    /// The step that a chain waits for.
    pub(crate) fn running_step(&self, idx: ChainIdx) -> Option<(&Step, OperationId)> {
        let current = self.chains.chain(idx).current.as_deref();
        current.map(|(step, operation, _)| (step, *operation))
    }

    /// The step waits for an answer: keeps it with what it waits for.
    pub(crate) fn step_waits(
        &mut self,
        idx: ChainIdx,
        step: Step,
        operation: OperationId,
        running: Running,
    ) {
        self.chains.chain_mut(idx).current = Some(Box::new((step, operation, running)));
    }

    /// A provider answered the running step.
    pub(crate) fn chain_answered(
        &mut self,
        idx: ChainIdx,
        result: Result<ProviderReply, ProviderError>,
    ) {
        self.resume_chain(idx, |deployment, step, operation, running| {
            deployment.step_answered(idx, step, operation, running, result)
        });
    }

    /// A hook of the running step answered.
    pub(crate) fn chain_called_back(
        &mut self,
        idx: ChainIdx,
        result: Result<CallbackReply, String>,
    ) {
        self.resume_chain(idx, |deployment, step, operation, running| {
            deployment.step_called_back(idx, step, operation, running, result)
        });
    }

    /// Goes on with the running step by what it waited for.
    fn resume_chain(
        &mut self,
        idx: ChainIdx,
        advance_stage: impl FnOnce(&mut Self, Step, OperationId, Running) -> Option<StepEnd>,
    ) {
        let Some(current) = self.chains.chain_mut(idx).current.take() else {
            return self.internal_error("an answer came to a chain that waits for none");
        };
        let (step, operation, running) = *current;
        match advance_stage(self, step, operation, running) {
            Some(end) if end.is_failed => self.chain_failed(idx, end),
            Some(end) => {
                self.step_done(idx, end);
                self.advance_chain(idx);
            }
            None => {}
        }
        self.work.push_back(Work::RunChains);
    }

    fn step_done(&mut self, idx: ChainIdx, end: StepEnd) {
        let chain = self.chains.chain_mut(idx);
        if end.state.is_some() {
            chain.last = end.state;
        }
        chain.fence = chain.fence.max(end.fence);
    }

    /// The run fails: the chain ends silently.
    pub(crate) fn stop_chain(&mut self, idx: ChainIdx) {
        let chain = self.chains.chain_mut(idx);
        chain.steps = VecDeque::new();
        chain.is_done = true;
        self.chains.running -= 1;
    }

    /// A step failed: with continue-on-error the owner hears of it and the run goes on, otherwise it ends.
    fn chain_failed(&mut self, idx: ChainIdx, end: StepEnd) {
        self.leave_out_rest(idx);
        let chain = self.chains.chain_mut(idx);
        chain.outcome = Outcome::Failed;
        chain.last = end.state.or(chain.last);
        chain.fence = chain.fence.max(end.fence);
        if self.failure.is_some() {
            return self.stop_chain(idx);
        }
        self.chain_done(idx);
    }

    /// With continue-on-error: whether something that is still to be done depends on something that failed. Nothing is
    /// deleted for a replacement that will not come.
    fn depends_on_failed(&self, idx: ChainIdx) -> bool {
        // Deletes depend the other way round, which the layers see to. An existing object may be read even if something that it
        // is to depend on failed.
        let steps = self.chains.chain(idx).steps.iter();
        let news = steps
            .filter(|step| !matches!(step.kind, StepKind::Refresh { .. }) && !step.passes_on())
            .filter_map(Step::new_state);
        self.ctx.options.continue_on_error
            && news
                .flat_map(|new| new.references())
                .any(|urn| self.urns.has(urn, UrnFlag::Errored))
    }

    /// Something that must come before the rest of a chain failed: what it is about is left as it is.
    fn skip_chain(&mut self, idx: ChainIdx) {
        if let Some(last) = self.chains.chain(idx).steps.back() {
            let urn = last.urn.clone();
            self.tell_milestone(|| Milestone::Skipped(urn));
        }
        let chain = self.chains.chain_mut(idx);
        chain.outcome = Outcome::Skipped;
        self.leave_out_rest(idx);
        self.chain_done(idx);
    }

    /// Steps of a chain that will not be made: what they are about counts as failed, also where another resource, or the
    /// same one under its former name, is what failed.
    fn leave_out_rest(&mut self, idx: ChainIdx) {
        for step in std::mem::take(&mut self.chains.chain_mut(idx).steps) {
            // What is only passed on is there all the same.
            if !step.passes_on() {
                self.urns.mark(&step.urn, UrnFlag::Errored);
            }
        }
    }

    fn chain_done(&mut self, idx: ChainIdx) {
        self.chains.running -= 1;
        self.work.push_back(Work::RunChains);
        let chain = self.chains.chain_mut(idx);
        chain.is_done = true;
        chain.steps = VecDeque::new();
        let (last, fence, outcome, unknown) =
            (chain.last, chain.fence, chain.outcome, chain.unknown);
        match chain.owner.clone() {
            Owner::Registration(registration) => {
                self.finish_registration(registration, last, outcome, unknown, fence);
            }
            Owner::RefreshFor(registration) => match outcome {
                Outcome::Success => self.registration_refreshed(registration, last),
                Outcome::Failed | Outcome::Skipped => {
                    self.finish_registration(registration, last, outcome, unknown, fence);
                }
            },
            Owner::ImportFor(registration) => match (outcome, last) {
                (Outcome::Success, Some(state)) => self.registration_imported(registration, state),
                _ => self.finish_registration(registration, last, outcome, unknown, fence),
            },
            Owner::Read(id, wanted) => self.read_done(id, &wanted, last, outcome, fence),
            Owner::Engine => {}
        }
    }

    /// Notes that the resource of a chain was left out: the program sees unknowns.
    pub(crate) fn mark_unknown(&mut self, idx: ChainIdx) {
        self.chains.chain_mut(idx).unknown = true;
    }

    /// The fence of everything that the journal has been told so far.
    pub(crate) fn fence_now(&self) -> Fence {
        self.outbox.journaled()
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
        self.step_waits(idx, step, operation, Running::Call { failures });
        self.call_for_step(idx, instance, request, fence);
        None
    }
}
