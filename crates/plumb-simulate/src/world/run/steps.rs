//! Steps of a run, from its engine events and decisions.

use plumb_deploy::Milestone;
use plumb_events::Severity;
use plumb_resource::provider::ProviderCall;
use plumb_resource::{ResourceId, ResourceKind, StepOp, Urn};

use super::{Order, Run};
use crate::world::{Finding, Moment, StepRecord, ViewMoment, Violation, calls, journal, views};

/// Kinds of steps that read an object.
const READS: [StepOp; 5] = [
    StepOp::Refresh,
    StepOp::Read,
    StepOp::ReadReplacement,
    StepOp::Import,
    StepOp::ImportReplacement,
];

impl Run<'_> {
    /// Handles an engine event: the start or end of a step, or a message.
    pub(super) fn emitted(&mut self, event: plumb_events::Event) -> Result<(), Violation> {
        use plumb_events::Event::{
            Diagnostic, PolicyRemediation, PolicyViolation, ResourceFailed, ResourceOutputs,
            ResourcePre, Summary,
        };
        if self.order == Order::Fixed {
            match &event {
                Diagnostic(it) => self.trace.diagnostics.push(it.clone()),
                PolicyViolation(it) => {
                    self.trace.findings.push(Finding::Violation(it.clone()));
                }
                PolicyRemediation(it) => {
                    self.trace.findings.push(Finding::Remediation(it.clone()));
                }
                ResourceFailed(step) => {
                    let (urn, op) = (step.metadata.urn.clone(), step.metadata.op);
                    self.trace.failures.push((urn, op));
                }
                _ => {}
            }
        }
        match event {
            ResourcePre(step) if views::is_view(&step.metadata) => {
                self.view_shown(ViewMoment::Began, &step.metadata);
            }
            ResourceOutputs(step) if views::is_view(&step.metadata) => {
                self.view_shown(ViewMoment::Ended, &step.metadata);
            }
            ResourceFailed(step) if views::is_view(&step.metadata) => {
                self.view_shown(ViewMoment::Failed, &step.metadata);
            }
            ResourcePre(step) => self.step_began(&step.metadata),
            ResourceOutputs(step) => self.step_ended(&step.metadata)?,
            ResourceFailed(step) => {
                let (urn, op) = (&step.metadata.urn, step.metadata.op);
                if self.position(urn, &[op], None).is_none() {
                    let what = format!("{} fails without having begun", urn.name());
                    return Err(Violation::new("events", what));
                }
            }
            Diagnostic(diagnostic) if diagnostic.severity == Severity::Error => {
                let text = diagnostic.message.trim_end().to_owned();
                self.trace.errors.push(text);
            }
            Summary(summary) => self.trace.summary = Some(summary),
            _ => {}
        }
        Ok(())
    }

    fn step_began(&mut self, metadata: &plumb_events::Metadata) {
        let number = self.trace.steps.len();
        self.open.push(number);
        self.trace.moments.push(Moment::Began(number));
        let (old, new) = (metadata.old.as_ref(), metadata.new.as_ref());
        self.trace.steps.push(StepRecord {
            is_custom: new.or(old).is_some_and(|state| state.is_custom()),
            urn: metadata.urn.clone(),
            op: metadata.op,
            old_id: old.map(|old| old.id.as_str().into()),
            has_end: false,
        });
    }

    fn step_ended(&mut self, metadata: &plumb_events::Metadata) -> Result<(), Violation> {
        let old_id = metadata.old.as_ref().map(|old| old.id.as_str());
        let ops = [metadata.op, StepOp::Refresh];
        match self.position(&metadata.urn, &ops, old_id) {
            Some(at) => {
                let number = self.open.remove(at);
                self.trace.steps[number].has_end = true;
                self.trace.moments.push(Moment::Ended(number));
            }
            None if metadata.new.as_ref().is_some_and(|new| !new.is_custom()) => {}
            None => {
                let (op, name) = (metadata.op.as_str(), metadata.urn.name());
                let what = format!("{op} of {name} ends without having begun");
                return Err(Violation::new("events", what));
            }
        }
        self.note_provider(metadata);
        Ok(())
    }

    fn view_shown(&mut self, moment: ViewMoment, metadata: &plumb_events::Metadata) {
        let moment = Moment::View(moment, metadata.urn.clone(), metadata.op);
        self.trace.moments.push(moment);
    }

    /// Step that makes a call.
    pub(super) fn step_of_call(&self, call: &ProviderCall) -> Option<usize> {
        let (_, urn) = calls::subject(call)?;
        let (ops, id): (&[StepOp], _) = match call {
            ProviderCall::Create(_) => (&[StepOp::Create, StepOp::CreateReplacement], None),
            ProviderCall::Update(it) => (&[StepOp::Update], Some(&it.id)),
            ProviderCall::Delete(it) => (&[StepOp::Delete, StepOp::DeleteReplaced], Some(&it.id)),
            ProviderCall::Read(it) => (&READS, Some(&it.id)),
            _ => return None,
        };
        let at = self.position(urn, ops, id.map(ResourceId::as_str))?;
        Some(self.open[at])
    }

    /// Index of a step among those in progress.
    fn position(&self, urn: &Urn, ops: &[StepOp], old_id: Option<&str>) -> Option<usize> {
        let mut open = self.open.iter().enumerate();
        let is_it = |step: &StepRecord| step.urn == *urn && ops.contains(&step.op);
        // Several copies of a resource may be read at the same time.
        let is_copy = |step: &StepRecord| step.old_id.as_deref() == old_id;
        let steps = &self.trace.steps;
        let exact = open
            .clone()
            .find(|(_, number)| is_it(&steps[**number]) && is_copy(&steps[**number]));
        let found = exact.or_else(|| open.find(|(_, number)| is_it(&steps[**number])));
        found.map(|(at, _)| at)
    }

    /// Handles a decision of the core.
    pub(super) fn told(&mut self, milestone: Milestone) -> Result<(), Violation> {
        self.is_over |= milestone == Milestone::Over;
        let Milestone::Failed { urn, op, old_id } = &milestone else {
            self.trace.moments.push(Moment::Milestone(milestone));
            return Ok(());
        };
        let old_id = old_id.as_ref().map(ResourceId::as_str);
        let Some(at) = self.position(urn, &[*op], old_id) else {
            let what = format!("{} fails without having begun", urn.name());
            return Err(Violation::new("events", what));
        };
        let number = self.open.remove(at);
        self.trace.steps[number].has_end = true;
        self.trace.moments.push(Moment::Failed(number));
        Ok(())
    }

    fn note_provider(&mut self, metadata: &plumb_events::Metadata) {
        let Some(new) = &metadata.new else { return };
        let creates = matches!(metadata.op, StepOp::Create | StepOp::CreateReplacement);
        if creates && new.kind == ResourceKind::Provider {
            let id = journal::shared(new.id.as_str());
            self.trace.provider_ids.insert(metadata.urn.clone(), id);
        }
    }
}
