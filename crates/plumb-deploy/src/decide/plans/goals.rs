//! Goals of registrations, held against those of the plan.
//!
//! A plan says how inputs are to differ from those of the state, or, of something that is deleted for another
//! replacement, from none. **Whether it has gone when it is checked, or only before it is decided, depends on the order of
//! answers, and must not matter**: what is checked beside its old inputs and then created again is compared and planned again;
//! what the plan says will go may be as planned in either way, and is not refused before it is known whether it goes.

use std::sync::Arc;

use plumb_resource::{StepOp, Urn};
use plumb_state::plan::{GoalPlan, ResourcePlan};
use plumb_value::PropertyMap;

use super::{Plans, compare};
use crate::decide::registration::Registration;
use crate::deployment::Deployment;
use crate::ids::RegIdx;

/// A registration as it was compared beside its old inputs.
#[derive(Debug)]
pub(super) struct Compared {
    /// As they were checked last.
    inputs: Arc<PropertyMap>,
    /// A violation of the plan, unless the resource is created again.
    doubt: Option<String>,
}

impl Plans {
    /// Whether the plan deletes the old object of `urn` before it creates the new one.
    fn creates_again(&self, urn: &Urn) -> bool {
        let planned = self.planned(urn);
        planned.is_some_and(|plan| plan.steps.contains(&StepOp::DeleteReplaced))
    }

    /// A violation of the plan by a registration that was compared with its old state and is decided now.
    pub(super) fn doubt_about(&mut self, idx: RegIdx) -> Option<String> {
        self.beside_old.remove(&idx)?.doubt
    }
}

impl Deployment {
    /// A registration is checked: compares it with what is planned, and plans it. False if the plan forbids it.
    pub(crate) fn plan_goal(&mut self, idx: RegIdx) -> bool {
        if self.plans_nothing() {
            return true;
        }
        let inputs = self.registration(idx).new.inputs.clone();
        self.plan_inputs(idx, inputs)
    }

    /// The inputs of a replacement are checked: if its old resource goes for another one's sake before it is made, these
    /// are what is compared, and planned, again.
    pub(crate) fn note_second_check(&mut self, idx: RegIdx) {
        let inputs = self.registration(idx).new.inputs.clone();
        if let Some(compared) = self.plans.beside_old.get_mut(&idx) {
            compared.inputs = inputs;
        }
    }

    /// Compares and plans a resource as a create when the old inputs that it was compared with are gone.
    pub(crate) fn plan_again(&mut self, idx: RegIdx) -> bool {
        match self.plans.beside_old.remove(&idx) {
            Some(compared) => self.plan_inputs(idx, compared.inputs),
            None => true,
        }
    }

    fn plan_inputs(&mut self, idx: RegIdx, inputs: Arc<PropertyMap>) -> bool {
        let urn = self.registration(idx).urn.clone();
        let beside = self.old_of(idx).filter(|_| !self.is_fresh_start(idx));
        let (has_old, old_inputs) = match beside {
            Some(old) => (true, old.inputs.clone()),
            None => (false, Arc::default()),
        };
        let may_go = has_old && self.plans.creates_again(&urn);
        let is_right_again = || {
            let nothing = PropertyMap::new();
            may_go && self.goal_violation(idx, &nothing, &inputs).is_none()
        };
        let violation = self.goal_violation(idx, &old_inputs, &inputs);
        let violation = violation.filter(|_| !is_right_again());
        if let Some(violation) = violation.as_ref().filter(|_| !may_go) {
            self.refuse_goal(&urn, violation);
            return false;
        }
        let registration = self.registration(idx);
        let seed = registration.seed.clone();
        let diff = compare::difference(&old_inputs, &inputs);
        let goal = compare::goal_plan(&registration.goal, diff);
        if let Some(entry) = self.made_plan.entry(&urn) {
            entry.goal = Some(goal);
            entry.seed = Some(seed);
        }
        if has_old {
            let doubt = violation;
            let compared = Compared { inputs, doubt };
            self.plans.beside_old.insert(idx, compared);
        } else {
            self.plans.beside_old.remove(&idx);
        }
        true
    }

    pub(super) fn refuse_goal(&mut self, urn: &Urn, violation: &str) {
        let message = format!("resource {urn} violates plan: {violation}");
        self.refuse(Some(urn), &message);
    }

    /// In what a registration differs from what is planned for it.
    fn goal_violation(
        &self,
        idx: RegIdx,
        old_inputs: &PropertyMap,
        inputs: &PropertyMap,
    ) -> Option<String> {
        self.plans.held_to.as_ref()?;
        let Registration { goal, urn, .. } = self.registration(idx);
        let show_secrets = self.ctx.options.show_secrets;
        let check = |planned: &GoalPlan| {
            compare::goal_violation(planned, goal, old_inputs, inputs, show_secrets)
        };
        match (self.plans.planned(urn), self.old_of(idx)) {
            (Some(ResourcePlan { goal: None, .. }), _) => {
                Some("resource unexpectedly not deleted".to_owned())
            }
            (
                Some(ResourcePlan {
                    goal: Some(planned),
                    ..
                }),
                _,
            ) => check(planned),
            (None, Some(old)) => check(&compare::as_it_is(old, goal)),
            // Its creation will be refused.
            (None, None) => None,
        }
    }
}
