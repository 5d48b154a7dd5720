//! Status of a run: whether it goes on, and why not.

use plumb_resource::Urn;

use crate::deployment::Deployment;
use crate::event::{Effect, Milestone};
use crate::step::{FailureImpact, StepFailure};

/// Where the run as a whole stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before the start.
    New,
    /// Every resource is read.
    Refreshing,
    /// Objects are adopted.
    Importing,
    /// The program runs.
    Program,
    /// Same steps of what is left alone are made.
    Sames,
    /// Resources that the program did not register are deleted.
    Deletes,
    /// After a program, what it did not mention is read.
    LateRefresh,
    /// Everything is done; policy packs judge it.
    Judging,
    /// Over.
    Finished,
}

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
        }
    }

    /// Refuses a registration: shows why, and the deployment fails.
    pub(crate) fn refuse(&mut self, urn: Option<&Urn>, message: &str) {
        self.error(urn, message);
        self.fail(Failure::Refused);
    }

    /// Something that was done failed: the run fails, at once or at its end.
    pub(crate) fn run_fails(&mut self, failure: &StepFailure) {
        self.report.maybe_corrupt |= failure.status == FailureImpact::Unknown;
        let ends_later = matches!(
            self.stage,
            Stage::Refreshing | Stage::Importing | Stage::LateRefresh
        );
        if ends_later
            || self.ctx.options.continue_on_error
            || failure.status == FailureImpact::Protected
        {
            self.deferred_failure
                .get_or_insert_with(|| failure.message.clone());
        } else {
            self.fail(Failure::Step {
                cause: failure.message.clone(),
            });
        }
    }

    /// Whether imports of the present stage settle pending creates.
    pub(crate) fn is_adopting(&self) -> bool {
        self.stage == Stage::Refreshing
    }
}
