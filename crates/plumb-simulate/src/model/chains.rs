//! Chains of steps and their order (`engine.md` 6).

use std::collections::VecDeque;

use plumb_deploy::request::Outcome;
use plumb_resource::{ProviderRef, ResourceKind, StepOp, Urn};
use rustc_hash::FxHashSet;

use super::registrations::{Registration, Stage};
use super::steps::{Plan, Way};
use super::{Model, Phase, illegal, is_managed};
use crate::story::Verb;
use crate::world::Violation;

/// Receiver of the result of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Registration(usize),
    Engine,
}

/// Steps to execute in sequence.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    owner: Owner,
    /// Unfinished steps; the first may be running.
    steps: VecDeque<Plan>,
    running: Option<usize>,
    /// Entry of the chain's resource, and entries to delete before replace.
    old: Option<usize>,
    going: Vec<usize>,
    /// Chains that must succeed before this one begins.
    after: Vec<usize>,
    has_begun: bool,
    /// Node that the last step resulted in.
    last: Option<usize>,
    /// Outcome, after the chain has ended.
    outcome: Option<Outcome>,
}

impl Chain {
    fn is_done_well(&self) -> bool {
        self.outcome == Some(Outcome::Success)
    }
}

impl Model<'_> {
    /// Adds a chain of steps.
    pub(super) fn plan(&mut self, owner: Owner, steps: Vec<Plan>) {
        let after = self.chains_before(&steps);
        if let Owner::Registration(number) = owner
            && !matches!(
                self.registrations[number].stage,
                Stage::Refreshing | Stage::Importing
            )
        {
            self.registrations[number].stage = Stage::Stepping;
        }
        self.chains.push(Chain {
            owner,
            old: steps.last().and_then(|step| step.old),
            going: steps
                .iter()
                .filter_map(Plan::deleted_for_replacement)
                .collect(),
            steps: steps.into(),
            running: None,
            after,
            has_begun: false,
            last: None,
            outcome: None,
        });
    }

    /// Chains that must precede these steps: entries deleted before replace come after their dependents and before new
    /// uses of them (DBR-07).
    fn chains_before(&self, steps: &[Plan]) -> Vec<usize> {
        let going: Vec<usize> = steps
            .iter()
            .filter_map(Plan::deleted_for_replacement)
            .collect();
        let needing = going.iter().flat_map(|node| self.dependents_of(*node));
        let others = steps.iter().filter(|step| !is_delete(step.op));
        let entries: FxHashSet<usize> = others.filter_map(|step| step.old).chain(needing).collect();
        let is_before = |chain: &Chain| {
            let old = chain.old.filter(|old| !self.pending_deletes.contains(old));
            chain.going.iter().any(|node| entries.contains(node))
                || chain.old.is_some_and(|old| going.contains(&old))
                || old.is_some_and(|old| {
                    let mut going = going.iter().map(|node| &self.state(*node).urn);
                    going.any(|urn| self.needs(old, urn))
                })
        };
        let chains = self.chains.iter().enumerate();
        chains
            .filter(|(_, chain)| !chain.is_done_well() && is_before(chain))
            .map(|(number, _)| number)
            .collect()
    }

    /// Whether an entry refers to a resource, other than as its parent.
    pub(super) fn needs(&self, node: usize, urn: &Urn) -> bool {
        let state = self.state(node);
        let provider = state.provider.as_ref().map(ProviderRef::urn);
        let mut references = state
            .dependencies
            .iter()
            .chain(state.property_dependencies.values().flatten())
            .chain(&state.deleted_with)
            .chain(&state.replace_with)
            .chain(provider);
        references.any(|it| it == urn || self.current(it) == urn)
    }

    /// Entries of the old state that depend on one, directly or indirectly.
    fn dependents_of(&self, root: usize) -> Vec<usize> {
        let mut found = vec![root];
        for node in root + 1..self.olds {
            if found
                .iter()
                .any(|other| self.needs(node, &self.state(*other).urn))
            {
                found.push(node);
            }
        }
        found.split_off(1)
    }

    /// Checks that a step that began is the next one of a chain, and that nothing blocks it.
    pub(super) fn began(&mut self, number: usize) -> Result<(), Violation> {
        let step = &self.witness.steps[number];
        let shown = format!("{} {}", step.op.as_str(), step.urn.name());
        if self.is_over || self.must_end {
            return Err(illegal(format!("{shown} begins although the run is over")));
        }
        let mut found = self.chain_of(number);
        if found.is_none() && step.op == StepOp::Same && self.may_pass_on(&step.urn) {
            return Ok(());
        }
        if found.is_none() && self.may_turn_to_the_rest() {
            self.turn_to_the_rest();
            found = self.chain_of(number);
            if found.is_none() && step.op == StepOp::Same && self.may_pass_on(&step.urn) {
                return Ok(());
            }
        }
        if found.is_none() && step.op == StepOp::Same && self.is_shown_once_more(&step.urn) {
            let urn = step.urn.clone();
            self.fate_mut(&urn).kept_on_skipped = false;
            self.count(&urn, StepOp::Same);
            return Ok(());
        }
        let Some(at) = found else {
            let reasons = &self.prediction.reasons;
            let what = format!("{shown} is not to be made now; reasons to fail: {reasons:?}");
            return Err(illegal(what));
        };
        let chain = &self.chains[at];
        let late = |before: &usize| !self.chains[*before].is_done_well();
        if !chain.has_begun && chain.after.iter().any(late) {
            return Err(illegal(format!("{shown} begins before what it waits for")));
        }
        if self.needs_what_failed(at) {
            return Err(illegal(format!("{shown} needs something that failed")));
        }
        self.begin_step(at);
        self.chains[at].has_begun = true;
        self.chains[at].running = Some(number);
        // Steps of components have no provider call, and report their end only after their outputs are registered.
        let is_instant = self.is_component_step(at) || !(step.has_end || step.is_custom);
        if is_instant {
            return self.end_step(at, number, false);
        }
        Ok(())
    }

    /// Effects of the time at which a step begins: its provider is available from now on, and its object may be deleted
    /// with another one that is being deleted (PULUMI-35).
    pub(super) fn begin_step(&mut self, at: usize) {
        let Some(step) = self.chains[at].steps.front() else {
            return;
        };
        let (op, Some(node)) = (step.op, step.old) else {
            return;
        };
        let state = self.state(node).clone();
        let with = state.deleted_with.as_ref();
        let goes_with = with.is_some_and(|urn| self.deleting.contains(urn));
        if op == StepOp::Refresh && is_managed(&state) && !state.pending_replacement {
            self.loaded
                .extend(state.provider.as_ref().map(ToString::to_string));
        }
        if is_delete(op)
            && goes_with
            && let Some(step) = self.chains[at].steps.front_mut()
        {
            step.way = match step.way {
                Way::DeleteFirst | Way::DeleteFirstWithAnother => Way::DeleteFirstWithAnother,
                _ => Way::DeleteWithAnother,
            };
        }
    }

    /// Chain that runs the step with this number.
    pub(super) fn chain_running(&self, number: usize) -> Option<usize> {
        let mut chains = self.chains.iter();
        chains.position(|chain| chain.running == Some(number))
    }

    /// Running or next step of a chain.
    pub(super) fn next_step(&self, at: usize) -> Option<Plan> {
        self.chains[at].steps.front().cloned()
    }

    fn is_component_step(&self, chain: usize) -> bool {
        let Some(step) = self.chains[chain].steps.front() else {
            return false;
        };
        let old = step.old.map(|old| self.state(old).kind);
        let kind = step.new.as_ref().map(|new| new.kind).or(old);
        let tells = step.op == StepOp::Refresh || is_delete(step.op);
        kind == Some(ResourceKind::Component) && !tells
    }

    /// Chain whose next step this is.
    fn chain_of(&self, number: usize) -> Option<usize> {
        let wanted = &self.witness.steps[number];
        let is_next = |chain: &Chain| {
            let next = chain.steps.front().filter(|_| chain.outcome.is_none());
            next.is_some_and(|next| {
                let old = next.old.map(|old| self.state(old).id.as_str());
                let is_same_entry = !is_delete(next.op) && next.op != StepOp::Refresh
                    || old == wanted.old_id.as_deref();
                next.op == wanted.op && next.urn == wanted.urn && is_same_entry
            })
        };
        let mut idle = self.chains.iter().enumerate();
        idle.find(|(_, chain)| chain.running.is_none() && is_next(chain))
            .map(|(at, _)| at)
    }

    /// Handles the end of a step.
    pub(super) fn ended(&mut self, number: usize, failed: bool) -> Result<(), Violation> {
        match self.chain_running(number) {
            Some(at) => self.end_step(at, number, failed),
            // A step of a resource that is kept unchanged, or of a component.
            None => self.views_are_shown(),
        }
    }

    fn end_step(&mut self, at: usize, number: usize, failed: bool) -> Result<(), Violation> {
        self.chains[at].running = None;
        let Some(step) = self.chains[at].steps.pop_front() else {
            return Ok(());
        };
        let result = self.perform(&step);
        if result.is_err() != failed {
            let (op, name) = (step.op.as_str(), step.urn.name());
            let what = format!("{op} of {name} failed: {failed}; the model: {result:?}");
            return Err(illegal(what));
        }
        let is_well = self.views_follow(number, &step, result)?;
        let result = result.and_then(|state| if is_well { Ok(state) } else { Err(state) });
        match result {
            Ok(state) => {
                self.chains[at].last = state.or(self.chains[at].last);
                if self.chains[at].steps.is_empty() && !self.is_over {
                    self.chain_ends(at, Outcome::Success);
                }
            }
            Err(left) => {
                self.chains[at].last = left.or(self.chains[at].last);
                self.leave_out_rest(at);
                self.chain_ends(at, Outcome::Failed);
            }
        }
        Ok(())
    }

    /// Handles the end of a chain whose remaining steps are skipped, because they depend on a failed resource.
    pub(super) fn skipped(&mut self, urn: &Urn) -> Result<(), Violation> {
        let is_it = |chain: &Chain| {
            let last = chain.steps.back();
            chain.outcome.is_none() && last.is_some_and(|last| last.urn == *urn)
        };
        if !self.chains.iter().any(is_it) && self.may_turn_to_the_rest() {
            self.turn_to_the_rest();
        }
        let Some(at) = self.chains.iter().position(is_it) else {
            if self.may_pass_on(urn) {
                return Ok(());
            }
            return Err(illegal(format!("{} has no steps to leave out", urn.name())));
        };
        let chain = &self.chains[at];
        let failed = |before: &usize| {
            let outcome = self.chains[*before].outcome;
            outcome.is_some_and(|outcome| outcome != Outcome::Success)
        };
        let waits_in_vain = !chain.has_begun && chain.after.iter().any(failed);
        if !waits_in_vain && !self.needs_what_failed(at) {
            return Err(illegal(format!("{} is left out without need", urn.name())));
        }
        self.coverage.reach("COE-09");
        self.leave_out_rest(at);
        self.chain_ends(at, Outcome::Skipped);
        Ok(())
    }

    /// Marks the remaining steps of a chain as failed.
    fn leave_out_rest(&mut self, at: usize) {
        for step in std::mem::take(&mut self.chains[at].steps) {
            self.fate_mut(&step.urn).errored = true;
        }
    }

    /// Whether a remaining step of a chain needs a failed resource. Nothing is deleted for a replacement that cannot be
    /// created.
    fn needs_what_failed(&self, at: usize) -> bool {
        let steps = self.chains[at].steps.iter();
        let mut news = steps
            .filter(|step| step.op != StepOp::Refresh)
            .filter_map(|step| step.new.as_ref());
        self.operation.flags.continue_on_error
            && news.any(|new| new.references().any(|urn| self.fate(urn).errored))
    }

    /// Removes pending delete-before-replace steps of an entry that was deleted otherwise.
    pub(super) fn forget_deletions(&mut self, node: usize) {
        for chain in &mut self.chains {
            chain
                .steps
                .retain(|step| step.deleted_for_replacement() != Some(node));
        }
    }

    fn chain_ends(&mut self, at: usize, outcome: Outcome) {
        self.chains[at].outcome = Some(outcome);
        if let Owner::Registration(number) = self.chains[at].owner
            && !self.is_over
            && !self.must_end
        {
            self.registration_goes_on(number, outcome, self.chains[at].last);
        }
        self.go_on();
    }

    /// Starts the next stage after the current chains: the program after a refresh, or the next layer of deletes.
    fn go_on(&mut self) {
        if self.is_over || self.chains.iter().any(|chain| chain.outcome.is_none()) {
            return;
        }
        match self.phase {
            Phase::Refreshing => self.refreshed(),
            Phase::Rest => self.open_layer(),
            Phase::Program => {}
        }
    }

    /// Whether all registrations are done, so that unregistered resources can be processed.
    pub(super) fn may_turn_to_the_rest(&self) -> bool {
        self.is_quiet() && self.unended_snippet().is_none()
    }

    /// Whether the program has ended, and all of its registrations are done.
    pub(super) fn is_quiet(&self) -> bool {
        let over = |it: &Registration| matches!(it.stage, Stage::Over);
        self.phase == Phase::Program
            && self.program_finished
            && !self.must_end
            && self.registrations.iter().all(over)
            && self.chains.iter().all(|chain| chain.outcome.is_some())
    }

    pub(super) fn turn_to_the_rest(&mut self) {
        self.phase = Phase::Rest;
        match self.operation.verb {
            Verb::Refresh if self.operation.flags.run_program => self.late_refresh(),
            Verb::Refresh => {}
            Verb::Import => self.import_objects(),
            Verb::Up | Verb::Destroy => self.delete_the_rest(),
        }
    }

    /// A required action that was not executed, if there is one.
    pub(super) fn unfinished(&self) -> Option<String> {
        let chain = self.chains.iter().find(|chain| chain.outcome.is_none());
        if let Some(step) = chain.and_then(|chain| chain.steps.front()) {
            return Some(format!("{} {}", step.op.as_str(), step.urn.name()));
        }
        let open = |it: &&Registration| !matches!(it.stage, Stage::Over);
        if let Some(registration) = self.registrations.iter().find(open) {
            return Some(registration.wanted.state.urn.name().to_owned());
        }
        if let Some(uuid) = self.unended_snippet() {
            return Some(format!("snippet {uuid}"));
        }
        (!self.layers.is_empty()).then(|| "some deletion".to_owned())
    }

    /// Whether a destroy with targets or excludes may show a resource again that was kept because it depends on a
    /// skipped creation.
    fn is_shown_once_more(&self, urn: &Urn) -> bool {
        let is_destroy = self.operation.verb == Verb::Destroy;
        is_destroy && self.targets.is_constrained() && self.fate(urn).kept_on_skipped
    }

    /// Whether a resource may be kept unchanged because another one refers to it.
    fn may_pass_on(&self, urn: &Urn) -> bool {
        let is_left = |node: usize| {
            let entry = &self.nodes[node];
            entry.state.urn == *urn && !entry.gone && !self.going.contains(&node)
        };
        let stays = self.phase == Phase::Rest && (0..self.olds).any(is_left);
        self.passed_on.contains(urn) || (stays && self.passes_on())
    }
}

pub(super) fn is_delete(op: StepOp) -> bool {
    matches!(
        op,
        StepOp::Delete
            | StepOp::DeleteReplaced
            | StepOp::Discard
            | StepOp::DiscardReplaced
            | StepOp::RemovePendingReplace
    )
}

impl Plan {
    /// Entry that this step deletes before its replacement is created.
    fn deleted_for_replacement(&self) -> Option<usize> {
        let deleted_for_replacement =
            matches!(self.op, StepOp::DeleteReplaced | StepOp::DiscardReplaced);
        self.old
            .filter(|_| deleted_for_replacement && self.way == Way::DeleteFirst)
    }
}
