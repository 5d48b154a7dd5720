//! Status of a run: whether it goes on, and why not.

use crate::deployment::Deployment;
use crate::event::{Effect, Milestone};

/// Why the run does not go on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// A decision was refused; it has been shown.
    Refused,
    /// A step failed; `update failed` is still to be said.
    Step {
        /// The step's error, for the operation's error text.
        cause: String,
    },
    /// The program failed; it has been shown.
    Program,
    /// The run was refused before it began, so no event reports it.
    NotBegun {
        /// Why, for whoever asked for the run.
        cause: String,
    },
    /// The user stopped it.
    Canceled,
}

impl Deployment {
    /// Tells of a decision, where that is asked for.
    pub(crate) fn tell_milestone(&mut self, milestone: impl FnOnce() -> Milestone) {
        if self.ctx.options.tells_milestones {
            self.outbox.push(Effect::Milestone(milestone()));
        }
    }

    /// Ends the run because of a defect of the core. Nothing new starts, answers that are under way are recorded, and the
    /// state is saved.
    pub(crate) fn internal_error(&mut self, what: &str) {
        let message = format!(
            "internal error: {what}. This is a defect of Plumb; the state is saved, please report it"
        );
        self.error(None, &message);
        self.fail(Failure::Step { cause: message });
    }

    /// Records why the run ends. Nothing new starts from here on; the first reason stands.
    pub(crate) fn fail(&mut self, failure: Failure) {
        if self.failure.is_none() {
            self.tell_milestone(|| Milestone::Over);
            self.failure = Some(failure);
            self.chains.drop_waiting();
        }
    }
}
