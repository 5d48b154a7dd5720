//! Chains: the steps of one decision, run in order; chains run side by side (`engine.md` 6).
//!
//! 1. A chain becomes ready when it is made, or when the chain that it waits for is done.
//! 2. So many chains run at once as the options allow (`scheduler.rs`). Each runs one step at a time, which passes the stages
//!    of [`Running`]: event, hooks before it, intent, provider call (again, if error hooks say so), outcome, event, hooks
//!    after it. Most steps have no hooks, and many no call. A few more begin ahead: their intents are recorded, and their
//!    calls and events wait for room.
//! 3. When its last step is done the owner hears of it: a registration is answered, the next layer of deletes starts.
//! 4. After a failure no chain starts and none goes on to its next step; answers to calls in flight are still recorded.
//!    Steps that began ahead end as if they had not begun.

use plumb_resource::Urn;
use plumb_resource::provider::{ProviderError, ProviderReply};
use plumb_state::journal::OperationId;
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::event::Milestone;
use crate::facts::arena::StateIdx;
use crate::facts::graph;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::ChainIdx;
use crate::request::{CallbackReply, Outcome};
use crate::step::{Step, StepKind};
use crate::steps::hooks::HookWaiter;
use crate::steps::scheduler::{ChainEnd, Owner, Running, StepEnd};
use crate::work::Work;

impl Deployment {
    /// Makes a chain and has it run when there is room.
    pub(crate) fn start_chain(&mut self, owner: Owner, steps: Vec<Step>) -> ChainIdx {
        let idx = self.chains.next_index();
        let after = self.chains_before(&steps);
        for old in steps.iter().filter_map(Step::deleted_for_replacement) {
            self.removal.deleted_by.insert(old, idx);
        }
        // Hooks before a step are to run only when the step itself is about to.
        let may_run_ahead = steps.iter().all(|step| self.hooks_before(step).is_none());
        self.chains.add(owner, steps, after, may_run_ahead);
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
            .filter(|chain| !self.chains.is_done_well(*chain))
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
        self.chains.unfinished_about(is_user)
    }

    /// Starts ready chains while there is room, until one of them ends at once. `None` once no other can start.
    pub(crate) fn run_chains(&mut self) -> Option<ChainEnd> {
        while !self.status.has_failed() {
            let (idx, is_cleared) = self.chains.start_next()?;
            let end = if is_cleared {
                self.advance_chain(idx)
            } else {
                Some(self.skip_chain(idx))
            };
            if end.is_some() {
                return end;
            }
        }
        None
    }

    /// Runs steps of a chain until one must wait, or there are none left.
    fn advance_chain(&mut self, idx: ChainIdx) -> Option<ChainEnd> {
        loop {
            if self.status.has_failed() {
                self.chains.stop(idx);
                return None;
            }
            if self.depends_on_failed(idx) {
                return Some(self.skip_chain(idx));
            }
            let Some(step) = self.chains.next_step(idx) else {
                return Some(self.chain_done(idx));
            };
            if self.is_superseded(&step) || self.is_gone_already(&step) {
                continue;
            }
            let operation = self.outbox.operation();
            let passes_on = step.passes_on();
            match self.begin_step(idx, step, operation) {
                Some(end) if end.is_failed => return self.chain_failed(idx, end),
                // Something else than what the owner asked for.
                Some(end) if passes_on => {
                    self.chains.step_done(idx, &StepEnd { state: None, ..end });
                }
                Some(end) => self.chains.step_done(idx, &end),
                None => return None,
            }
        }
    }

    /// Whether a step would delete what a refresh has found gone in the meantime.
    fn is_gone_already(&self, step: &Step) -> bool {
        let old = step.deleted_for_replacement();
        old.is_some_and(|old| self.gone.contains(&old))
    }

    /// A provider answered the running step.
    pub(crate) fn chain_answered(
        &mut self,
        idx: ChainIdx,
        result: Result<ProviderReply, ProviderError>,
    ) -> Option<ChainEnd> {
        self.resume_chain(idx, |deployment, step, operation, running| {
            deployment.step_answered(idx, step, operation, running, result)
        })
    }

    /// A hook of the running step answered.
    fn chain_called_back(
        &mut self,
        idx: ChainIdx,
        result: Result<CallbackReply, String>,
    ) -> Option<ChainEnd> {
        self.resume_chain(idx, |deployment, step, operation, running| {
            deployment.step_called_back(idx, step, operation, running, result)
        })
    }

    /// Goes on with the running step by what it waited for.
    fn resume_chain(
        &mut self,
        idx: ChainIdx,
        go_on: impl FnOnce(&mut Self, Step, OperationId, Running) -> Option<StepEnd>,
    ) -> Option<ChainEnd> {
        let Some(current) = self.chains.resume(idx) else {
            self.internal_error("an answer came to a chain that waits for none");
            return None;
        };
        let (step, operation, running) = *current;
        self.work.push_back(Work::RunChains);
        match go_on(self, step, operation, running)? {
            end if end.is_failed => self.chain_failed(idx, end),
            end => {
                self.chains.step_done(idx, &end);
                self.advance_chain(idx)
            }
        }
    }

    /// A step failed: with continue-on-error the owner hears of it and the run goes on, otherwise it ends.
    fn chain_failed(&mut self, idx: ChainIdx, end: StepEnd) -> Option<ChainEnd> {
        self.leave_out_rest(idx);
        self.chains.set_outcome(idx, Outcome::Failed);
        self.chains.step_done(idx, &end);
        if self.status.has_failed() {
            self.chains.stop(idx);
            return None;
        }
        Some(self.chain_done(idx))
    }

    /// With continue-on-error: whether something that is still to be done depends on something that failed. Nothing is
    /// deleted for a replacement that will not come.
    fn depends_on_failed(&self, idx: ChainIdx) -> bool {
        // Deletes depend the other way round, which the layers see to. An existing object may be read even if something that it
        // is to depend on failed.
        let steps = self.chains.steps_left(idx).iter();
        let news = steps
            .filter(|step| !matches!(step.kind, StepKind::Refresh { .. }) && !step.passes_on())
            .filter_map(Step::new_state);
        self.ctx.options.continue_on_error
            && news
                .flat_map(|new| new.references())
                .any(|urn| self.urns.has(urn, UrnFlag::Errored))
    }

    /// Something that must come before the rest of a chain failed: what it is about is left as it is.
    fn skip_chain(&mut self, idx: ChainIdx) -> ChainEnd {
        if let Some(last) = self.chains.steps_left(idx).back() {
            let urn = last.urn.clone();
            self.tell_milestone(|| Milestone::Skipped(urn));
        }
        self.chains.set_outcome(idx, Outcome::Skipped);
        self.leave_out_rest(idx);
        self.chain_done(idx)
    }

    /// Steps of a chain that will not be made: what they are about counts as failed, also where another resource, or the
    /// same one under its former name, is what failed.
    fn leave_out_rest(&mut self, idx: ChainIdx) {
        for step in self.chains.take_steps(idx) {
            // What is only passed on is there all the same.
            if !step.passes_on() {
                self.urns.mark(&step.urn, UrnFlag::Errored);
            }
        }
    }

    fn chain_done(&mut self, idx: ChainIdx) -> ChainEnd {
        self.work.push_back(Work::RunChains);
        self.chains.finish(idx)
    }

    /// Whether `step` passes something on that the program has registered in the meantime.
    pub(crate) fn is_superseded(&self, step: &Step) -> bool {
        step.passes_on() && self.is_registered(&step.urn)
    }

    /// A hook answered.
    pub(crate) fn hook_answered(
        &mut self,
        waiter: HookWaiter,
        result: Result<CallbackReply, String>,
    ) -> Option<ChainEnd> {
        match waiter {
            HookWaiter::Chain(idx) => return self.chain_called_back(idx, result),
            HookWaiter::Outputs { id, hooks, fence } => match self.hook_result(&hooks, result) {
                Ok(()) => self.after_outputs(id, Some(*hooks), fence),
                Err(message) => {
                    self.after_hook_failed(&hooks.call.urn, message);
                    self.after_outputs(id, None, fence);
                }
            },
        }
        None
    }
}
