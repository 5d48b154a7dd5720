//! The update plan that a run makes, for a later one to keep to (`engine.md` 8.5).

use std::sync::Arc;

use plumb_resource::Urn;
use plumb_state::plan::{Plan, ResourcePlan};
use plumb_value::PropertyMap;

/// The plan of a run that makes one.
#[derive(Debug)]
pub(crate) struct MadePlan(Option<Plan>);

impl MadePlan {
    /// An empty plan, if the run `makes_one`.
    pub(crate) fn new(makes_one: bool) -> Self {
        MadePlan(makes_one.then(Plan::default))
    }

    /// Whether the run makes no plan.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// The plan for `urn`, empty at first; `None` if the run makes no plan.
    pub(crate) fn entry(&mut self, urn: &Urn) -> Option<&mut ResourcePlan> {
        let resources = &mut self.0.as_mut()?.resources;
        Some(resources.entry(urn.clone()).or_default())
    }

    /// Notes the outputs that a step led to.
    pub(crate) fn note_outputs(&mut self, urn: &Urn, outputs: &Arc<PropertyMap>) {
        let plan = self.0.as_mut();
        if let Some(plan) = plan.and_then(|made| made.resources.get_mut(urn)) {
            plan.outputs = Some(outputs.clone());
        }
    }

    /// The plan, once the run is over; nothing is planned after that.
    pub(crate) fn take(&mut self) -> Option<Plan> {
        self.0.take()
    }
}
