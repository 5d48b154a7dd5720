//! Update plans (`engine.md` 8.5): a run can be held to a plan, and it can make one; a preview under a plan does both.
//!
//! 1. A checked registration is compared with its planned goal ([`goals`]); without one, nothing about it may change.
//! 2. Every step must be allowed by the next planned one of its resource.
//! 3. Registered outputs are compared like inputs.
//! 4. At the end no planned step may be left, save deletes of what was gone already.
//!
//! **A violation is found before anything is done about it**: goals before the decision, steps before their chain starts,
//! deletes before the first of them.
//!
//! A run that makes a plan writes its entries at the same places. Refreshes and reads are not planned: they change
//! nothing outside.

mod compare;
mod goals;

use std::sync::Arc;

use goals::Compared;
use plumb_resource::{ResourceState, StepOp, Urn};
use plumb_state::plan::{Plan, PlanDiff, ResourcePlan};
use plumb_value::PropertyMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::event::Effect;
use crate::facts::arena::StateIdx;
use crate::ids::RegIdx;
use crate::step::Step;

/// The plan that a run is held to.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    held_to: Option<Plan>,
    /// How many of the planned steps of a resource have been taken.
    taken: FxHashMap<Urn, usize>,
    /// Resources whose planned step was taken before anybody registered them.
    passed_by: FxHashSet<Urn>,
    /// Registrations that were compared beside their old inputs, which may go before they are decided.
    beside_old: FxHashMap<RegIdx, Compared>,
}

impl Plans {
    pub(crate) fn new(held_to: Option<Plan>) -> Self {
        Plans {
            held_to,
            taken: FxHashMap::default(),
            passed_by: FxHashSet::default(),
            beside_old: FxHashMap::default(),
        }
    }

    /// The plan of `urn`, in a run that is constrained to a plan.
    fn planned(&self, urn: &Urn) -> Option<&ResourcePlan> {
        self.held_to.as_ref()?.resources.get(urn)
    }

    /// The next planned step of a resource.
    fn next_step(&self, urn: &Urn) -> Option<StepOp> {
        let plan = self.planned(urn)?;
        let taken = self.taken.get(urn).copied().unwrap_or(0);
        plan.steps.get(taken).copied()
    }

    fn take_step(&mut self, urn: &Urn) {
        *self.taken.entry(urn.clone()).or_default() += 1;
    }

    /// Takes a step of `urn`, or says why it is not allowed.
    fn follow(&mut self, urn: &Urn, op: StepOp) -> Result<(), String> {
        if self.held_to.is_none() {
            return Ok(());
        }
        // It is registered after all: its planned step was taken when it was passed by.
        if op == StepOp::Same && self.passed_by.remove(urn) {
            return Ok(());
        }
        let is_planned = self.planned(urn).is_some();
        let next = self.next_step(urn);
        if next.is_some() {
            // What was tried counts as done, so that it is not missed at the end.
            self.take_step(urn);
        }
        let expected = match next {
            Some(next) if compare::allows(next, op) => return Ok(()),
            Some(next) => format!("this resource is constrained to {}", next.as_str()),
            None if is_planned => "no more steps were expected for this resource".to_owned(),
            None if op == StepOp::Same => return Ok(()),
            None => "no steps were expected for this resource".to_owned(),
        };
        let op = op.as_str();
        Err(format!("{op} is not allowed by the plan: {expected}"))
    }

    /// Resources with planned steps that were not taken.
    fn left_over(&self) -> impl Iterator<Item = (&Urn, &[StepOp])> {
        let resources = self.held_to.iter().flat_map(|plan| &plan.resources);
        resources.filter_map(|(urn, plan)| {
            let taken = self.taken.get(urn).copied().unwrap_or(0);
            let left = plan.steps.get(taken..).unwrap_or_default();
            (!left.is_empty()).then_some((urn, left))
        })
    }
}

impl Deployment {
    /// Whether the run is held to no plan and makes none.
    fn plans_nothing(&self) -> bool {
        self.plans.held_to.is_none() && self.made_plan.is_none()
    }

    /// Where names and other values made by chance come from in the registration of `urn`: from the plan, if it says so
    /// (PLAN-19).
    pub(crate) fn seed_of(&mut self, urn: &Urn) -> Arc<[u8]> {
        match self.plans.planned(urn).and_then(|plan| plan.seed.clone()) {
            Some(seed) => seed,
            None => self.seeds.next(),
        }
    }

    /// Steps of a registration are decided: compares them with what is planned, and plans them. False if the plan
    /// forbids one.
    pub(crate) fn plan_steps(&mut self, idx: RegIdx, steps: &[Step]) -> bool {
        if self.plans_nothing() {
            return true;
        }
        let urn = self.registration(idx).urn.clone();
        if let Some(doubt) = self.plans.doubt_about(idx) {
            self.refuse_goal(&urn, &doubt);
            return false;
        }
        for step in steps {
            // What was to be passed on may have been registered since: then its own steps count.
            if self.is_superseded(step) {
                continue;
            }
            if step.passes_on() {
                self.plan_unregistered_same(&step.urn);
            } else if let Err(message) = self.plan_step(&step.urn, step.op()) {
                self.refuse(Some(&urn), &message);
                return false;
            }
        }
        true
    }

    /// Takes a planned same step off the plan for a resource that nobody registered: it stays as it is.
    pub(crate) fn plan_unregistered_same(&mut self, urn: &Urn) {
        if self.plans.next_step(urn) == Some(StepOp::Same) {
            self.plans.take_step(urn);
            self.plans.passed_by.insert(urn.clone());
        }
    }

    /// The deletes at the end of the program, before any of them is made.
    pub(crate) fn plan_deletes(&mut self, deletes: &[StateIdx]) -> bool {
        if self.plans_nothing() {
            return true;
        }
        for idx in deletes {
            let state = self.arena.state(*idx).clone();
            let op = crate::step::deletion_of(&state).op(state.external);
            if let Err(message) = self.plan_step(&state.urn, op) {
                self.refuse(None, &message);
                return false;
            }
        }
        true
    }

    /// One step: it is planned for the resource under its present URN (PLAN-14).
    fn plan_step(&mut self, urn: &Urn, op: StepOp) -> Result<(), String> {
        let present = self.registered_as(urn).clone();
        // Other programs plan the deletion of a renamed resource under its former URN.
        let has_former = self.plans.planned(urn).is_some();
        let planned = if has_former { urn } else { &present };
        self.plans.follow(planned, op)?;
        if let Some(entry) = self.made_plan.entry(&present) {
            entry.steps.push(op);
        }
        Ok(())
    }

    /// Outputs are registered for a resource: compares them with what is planned, and plans them. False if the plan
    /// forbids them.
    pub(crate) fn plan_outputs(
        &mut self,
        urn: &Urn,
        old: Option<&ResourceState>,
        outputs: &Arc<PropertyMap>,
    ) -> bool {
        if self.plans_nothing() {
            return true;
        }
        // A plan knows resources by the names that the program gives them.
        let urn = &self.registered_as(urn).clone();
        let nothing = Arc::default();
        let old = old.map_or(&nothing, |old| &old.outputs);
        if self.plans.held_to.is_some() {
            let goal = self.plans.planned(urn).and_then(|plan| plan.goal.as_ref());
            let unchanged = PlanDiff::default();
            let diff = goal.map_or(&unchanged, |goal| &goal.outputs);
            let show_secrets = self.ctx.options.show_secrets;
            if let Some(violation) = compare::diff_violation(diff, old, outputs, show_secrets) {
                let message = format!("resource violates plan: {violation}");
                self.refuse(Some(urn), &message);
                return false;
            }
        }
        if let Some(entry) = self.made_plan.entry(urn) {
            if let Some(goal) = &mut entry.goal {
                goal.outputs = compare::difference(old, outputs);
            }
            entry.outputs = Some(outputs.clone());
        }
        true
    }

    /// The run has done everything: nothing planned may be left. Deletes of what was gone already are (PLAN-08).
    pub(crate) fn check_plan_is_done(&mut self) {
        let existed = |urn: &Urn| self.base.resources.iter().any(|state| state.urn == *urn);
        let missing: Vec<Urn> = self
            .plans
            .left_over()
            .filter(|(urn, left)| *left != [StepOp::Delete] || existed(urn))
            .map(|(urn, _)| urn.clone())
            .collect();
        for urn in missing {
            let message = format!("expected resource operations for {urn} but none were seen");
            self.refuse(Some(&urn), &message);
        }
    }

    /// Hands out the plan that the run made.
    pub(crate) fn hand_out_plan(&mut self) {
        if let Some(plan) = self.made_plan.take() {
            self.outbox.push(Effect::Planned(plan));
        }
    }
}
