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

/// Whether a run goes on, and what has gone wrong so far.
#[derive(Debug, Default)]
pub(crate) struct RunStatus {
    failure: Option<Failure>,
    deferred: Option<String>,
    refused_in_preview: bool,
    unknown_outcome: bool,
}

impl RunStatus {
    /// Whether the run has failed: nothing begins any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Why the run does not go on.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The run does not go on. The first reason stands; false for a later one.
    pub(crate) fn fail(&mut self, failure: Failure) -> bool {
        let is_first = self.failure.is_none();
        self.failure.get_or_insert(failure);
        is_first
    }

    /// A step failed, and the run goes on nevertheless: it fails later, for the first such step.
    pub(crate) fn defer(&mut self, message: &str) {
        self.deferred.get_or_insert_with(|| message.to_owned());
    }

    /// Whether a step has failed of a run that goes on.
    pub(crate) fn has_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    /// The first failed step of a run that went on. Whoever takes it ends the run, or has ended it.
    pub(crate) fn take_deferred(&mut self) -> Option<String> {
        self.deferred.take()
    }

    /// Something was refused in a preview, which goes on to show the rest.
    pub(crate) fn refuse_in_preview(&mut self) {
        self.refused_in_preview = true;
    }

    /// Whether something was refused in a preview.
    pub(crate) fn is_refused_in_preview(&self) -> bool {
        self.refused_in_preview
    }

    /// Nobody knows what a failed step has done.
    fn note_unknown_outcome(&mut self) {
        self.unknown_outcome = true;
    }

    /// Whether the state may differ from the world, because nobody knows what some step has done.
    pub(crate) fn has_unknown_outcome(&self) -> bool {
        self.unknown_outcome
    }
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
        if self.status.fail(failure) {
            self.tell_milestone(|| Milestone::Over);
        }
    }

    /// Refuses a registration: shows why, and the deployment fails.
    pub(crate) fn refuse(&mut self, urn: Option<&Urn>, message: &str) {
        self.error(urn, message);
        self.fail(Failure::Refused);
    }

    /// Something that was done failed: the run fails, at once or at its end.
    pub(crate) fn run_fails(&mut self, failure: &StepFailure) {
        if failure.status == FailureImpact::Unknown {
            self.status.note_unknown_outcome();
        }
        let ends_later = matches!(
            self.stage,
            Stage::Refreshing | Stage::Importing | Stage::LateRefresh
        );
        if ends_later
            || self.ctx.options.continue_on_error
            || failure.status == FailureImpact::Protected
        {
            self.status.defer(&failure.message);
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
