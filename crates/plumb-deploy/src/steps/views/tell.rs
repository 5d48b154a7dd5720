//! Events about views.

use std::sync::Arc;

use ecow::EcoString;
use plumb_events::{Event, FailedStatus, FailedStepEvent, StateView};
use plumb_resource::{ResourceState, Urn, ViewStatus, ViewStep};

use super::follow::Following;
use super::publish::why;
use super::view_state;
use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::setup::Operation;
use crate::step::{FailureImpact, StepFailure};

impl Deployment {
    /// A step of a view failed, and so does the run.
    pub(super) fn view_failed(
        &mut self,
        following: &mut Following,
        step: &ViewStep,
        urn: &Urn,
        old: Option<StateIdx>,
        message: EcoString,
    ) {
        let (damage, status) = match step.status {
            ViewStatus::Known => (FailureImpact::None, FailedStatus::Ok),
            ViewStatus::Partial => (FailureImpact::Partial, FailedStatus::PartialFailure),
            ViewStatus::Unknown => (FailureImpact::Unknown, FailedStatus::Unknown),
        };
        let failure = StepFailure {
            message: message.to_string(),
            status: damage,
        };
        if self.ctx.options.is_preview() {
            self.error(Some(urn), &format!("Preview failed: {message}"));
        } else {
            self.error(Some(urn), &message);
        }
        self.tell_view_failed(step, urn, &following.owner, old, status);
        // What the owner needs stays for its sake; what is called like the view may be of a copy of it.
        self.urns.mark(&following.owner, UrnFlag::Errored);
        self.run_fails(&failure);
        following.followed.is_failed = true;
        let name = (step.type_token.as_str().into(), step.name.clone());
        following.failed.push(name);
    }

    /// Shows that a step of a view of `owner` failed, or that its owner did. Previews say so in words alone.
    pub(super) fn tell_view_failed(
        &mut self,
        step: &ViewStep,
        urn: &Urn,
        owner: &Urn,
        old: Option<StateIdx>,
        status: FailedStatus,
    ) {
        if self.ctx.options.is_preview() {
            return;
        }
        let old = self.published_old(step, old);
        let new = step.new.as_ref();
        let new = new.map(|new| StateView::new(view_state(owner, urn.clone(), new)));
        let metadata = Self::metadata_of(urn, step.op, &why(step), old, new);
        let steps = self.report.steps;
        self.emit(Event::ResourceFailed(FailedStepEvent {
            metadata: Box::new(metadata),
            status,
            steps,
            internal: false,
        }));
    }

    pub(super) fn tell_view(
        &mut self,
        following: &Following,
        step: &ViewStep,
        urn: Urn,
        old: Option<StateIdx>,
        new: Option<Arc<ResourceState>>,
    ) {
        let old = self.published_old(step, old);
        self.tell_view_done(following, step, urn, old, new);
    }

    /// Counts a step of a view and shows it. In a refresh operation it counts as what was found.
    pub(super) fn tell_view_done(
        &mut self,
        following: &Following,
        step: &ViewStep,
        urn: Urn,
        old: Option<Arc<ResourceState>>,
        new: Option<Arc<ResourceState>>,
    ) {
        self.report.steps += 1;
        let is_refresh = self.ctx.operation == Operation::Refresh;
        let op = if is_refresh {
            step.op
        } else {
            following.shown(step.op)
        };
        if op.is_logical() {
            *self.report.changes.entry(op).or_default() += 1;
        }
        let new = new.map(StateView::from);
        let metadata = Self::metadata_of(&urn, op, &why(step), old, new);
        self.emit_outputs(metadata, false);
    }
}
