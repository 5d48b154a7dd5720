//! The exit of every decision: its steps are checked and put into a chain.

use crate::decide::registration::RegStage;
use crate::deployment::Deployment;
use crate::event::Milestone;
use crate::ids::RegIdx;
use crate::step::Step;

impl Deployment {
    /// Runs the steps of a registration, after what was queued before them, and after the last check: nothing targeted may
    /// depend on something left out.
    pub(crate) fn run_steps(&mut self, idx: RegIdx, steps: Vec<Step>) {
        let urn = self.registration(idx).urn.clone();
        self.tell_milestone(|| Milestone::Decided(urn));
        if !self.check_references(&steps) {
            return;
        }
        let mut all = std::mem::take(&mut self.targeting.queued_sames);
        all.extend(steps);
        if !self.plan_steps(idx, &all) {
            return;
        }
        self.registration_mut(idx).stage = RegStage::Stepping;
        self.start_chain(crate::steps::scheduler::Owner::Registration(idx), all);
    }
}
