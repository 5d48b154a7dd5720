//! Engine events: everything that people and tools see of a deployment (`engine.md` 10.2).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ecow::EcoString;
use jiff::Timestamp;
use plumb_events::{
    Diagnostic, Event, FailedStatus, FailedStepEvent, Metadata, OperationResult, Severity,
    StateView, StepEvent, Summary,
};
use plumb_resource::{ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::Value;
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::event::Effect;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::facts::urns::Remembered;
use crate::setup::Operation;
use crate::step::{FailureImpact, Order, Step, StepFailure, StepKind, StepReason};

/// Counters for the summary and other things to tell at the end.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) changes: BTreeMap<StepOp, u32>,
    pub(crate) steps: u32,
    /// Resources among the `same` that only something else needed to be there.
    pub(crate) passed_on: FxHashSet<Urn>,
    pub(crate) root_stack: Option<Urn>,
    /// Whether the prelude was emitted.
    pub(crate) has_begun: bool,
}

impl Deployment {
    pub(crate) fn emit(&mut self, event: Event) {
        self.outbox.push(Effect::Emit(event));
    }

    fn tell(&mut self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.emit(Event::Diagnostic(Diagnostic::new(
            severity,
            urn.cloned(),
            format!("{message}\n"),
        )));
    }

    /// Shows an error.
    pub(crate) fn error(&mut self, urn: Option<&Urn>, message: &str) {
        self.tell(Severity::Error, urn, message);
    }

    /// Shows a warning.
    pub(crate) fn warning(&mut self, urn: Option<&Urn>, message: &str) {
        self.tell(Severity::Warning, urn, message);
    }

    /// Shows information.
    pub(crate) fn info(&mut self, urn: Option<&Urn>, message: &str) {
        self.tell(Severity::Info, urn, message);
    }

    pub(crate) fn emit_prelude(&mut self) {
        let config: BTreeMap<EcoString, EcoString> = self
            .ctx
            .config
            .iter()
            .map(|(key, value)| {
                let hidden = self.ctx.partly_secret.get(key);
                let shown = match value {
                    Value::Secret(_) => hidden.cloned().unwrap_or_else(|| "[secret]".into()),
                    other => other.as_str().unwrap_or_default().into(),
                };
                (key.clone(), shown)
            })
            .collect();
        self.emit(Event::Prelude { config });
        self.report.has_begun = true;
    }

    /// The summary of a run that began at `started`.
    pub(crate) fn emit_summary(
        &mut self,
        started: Timestamp,
        result: OperationResult,
        maybe_corrupt: bool,
        policy_packs: BTreeMap<EcoString, EcoString>,
    ) {
        let elapsed = self.now.duration_since(started).as_nanos().max(0);
        let summary = Summary {
            maybe_corrupt,
            duration: Duration::from_nanos(u64::try_from(elapsed).unwrap_or(0)),
            resource_changes: self.report.changes.clone(),
            policy_packs,
            is_preview: self.ctx.options.is_preview(),
            result,
        };
        self.emit(Event::Summary(summary));
    }

    /// Whether people need not see a step: the engine made it up.
    fn is_internal(&self, step: &Step) -> bool {
        let is_hidden_refresh = match &step.kind {
            StepKind::Refresh {
                old, registered, ..
            } => registered.is_some() && self.arena.state(*old).kind != ResourceKind::Custom,
            _ => false,
        };
        step.op() == StepOp::RemovePendingReplace
            || step.urn.is_default_provider()
            || is_hidden_refresh
    }

    /// Metadata of an event about `step`, which is shown as `op`.
    fn metadata(
        step: &Step,
        op: StepOp,
        old: Option<Arc<ResourceState>>,
        new: Option<StateView>,
    ) -> Metadata {
        Self::metadata_of(&step.urn, op, &step.why, old, new)
    }

    pub(crate) fn metadata_of(
        urn: &Urn,
        op: StepOp,
        why: &StepReason,
        old: Option<Arc<ResourceState>>,
        new: Option<StateView>,
    ) -> Metadata {
        let state = match &new {
            Some(new) => Some(&**new),
            None => old.as_deref(),
        };
        let provider = state.and_then(|state| state.provider.clone());
        let shared = state.map(|state| &state.type_token);
        let type_token = match shared.filter(|token| token.as_str() == urn.type_text()) {
            Some(token) => token.clone(),
            None => urn.type_token(),
        };
        Metadata {
            op,
            urn: urn.clone(),
            type_token,
            old: old.map(StateView::from),
            new,
            keys: why.keys.clone(),
            diffs: why.diffs.clone(),
            detailed_diff: why.detailed_diff.clone(),
            logical: op.is_logical(),
            provider,
        }
    }

    /// The state before a step, as events show it.
    fn old_view(&self, step: &Step) -> Option<Arc<ResourceState>> {
        match &step.kind {
            StepKind::SkippedCreate { new }
            | StepKind::Kept {
                shown: Some(new), ..
            } => Some(new.clone()),
            // Not what the import replaces: the differences shown are those to the object that was read.
            StepKind::Import { found, .. } => found.clone(),
            _ => step.old().map(|old| self.arena.state(old).clone()),
        }
    }

    /// The state that a step is to bring about, as far as it is known before the step runs.
    fn planned_view(&self, step: &Step) -> Option<StateView> {
        match &step.kind {
            StepKind::Replace { new, replaces } => {
                // The replacement is there already.
                let created = match replaces.order {
                    Order::CreateFirst => self.urns.of_run(&step.urn),
                    Order::DeleteFirst => None,
                };
                Some(match created {
                    Some(idx) => StateView::from(self.arena.state(idx).clone()),
                    None => StateView::from(new.clone()),
                })
            }
            // Until it is read, the resource is what it was.
            StepKind::Refresh {
                registered: None, ..
            } => self.old_view(step).map(StateView::from),
            StepKind::Kept {
                shown: Some(shown), ..
            } => Some(StateView::from(shown.clone())),
            // The id is known later.
            StepKind::Import { new, .. } | StepKind::Kept { new, .. } => {
                Some(StateView::new(ResourceState {
                    id: ResourceId::None,
                    ..new.as_ref().clone()
                }))
            }
            _ => step.new_state().cloned().map(StateView::from),
        }
    }

    /// A step is about to run.
    pub(crate) fn announce_step(&mut self, step: &Step) {
        let new = self.planned_view(step);
        let metadata = Self::metadata(step, step.op(), self.old_view(step), new);
        let internal = self.is_internal(step);
        let planning = self.ctx.options.is_preview();
        self.emit(Event::ResourcePre(StepEvent {
            metadata: Box::new(metadata),
            planning,
            internal,
        }));
    }

    /// A step is done: counts it, remembers it for its outputs, shows it.
    pub(crate) fn tell_step_done(&mut self, step: &Step, state: Option<StateIdx>) {
        let op = step.op();
        let shown = match &step.kind {
            StepKind::Kept { shown, .. } => shown.clone(),
            _ => None,
        };
        let new = match (shown, state) {
            (Some(shown), _) => Some(shown),
            (None, Some(idx)) => Some(self.arena.state(idx).clone()),
            (None, None) => step.new_state().cloned(),
        };
        self.count(step, op, new.as_deref());
        if step.is_skipped_create() {
            self.urns.mark(&step.urn, UrnFlag::KeepsOutputs);
        } else if let Some(idx) = state {
            self.remember_for_outputs(step, idx);
        }
        let is_delete = new.is_none();
        let is_custom = new.as_ref().is_some_and(|new| new.is_custom());
        if self.ctx.options.is_preview() || is_custom || is_delete {
            let old = self.old_view_beside(step, new.as_deref());
            let metadata = Self::metadata(step, op, old, new.map(StateView::from));
            self.emit_outputs(metadata, self.is_internal(step));
        }
    }

    /// The state before, as it is shown beside the state after: where nothing changed, what has become a secret is not
    /// shown as it was.
    fn old_view_beside(
        &self,
        step: &Step,
        new: Option<&ResourceState>,
    ) -> Option<Arc<ResourceState>> {
        let old = self.old_view(step)?;
        match (&step.kind, new) {
            (StepKind::Same { .. }, Some(new)) if !Arc::ptr_eq(&old.outputs, &new.outputs) => {
                let outputs = new.outputs.clone();
                Some(Arc::new(ResourceState {
                    outputs,
                    ..Arc::unwrap_or_clone(old)
                }))
            }
            _ => Some(old),
        }
    }

    /// Outputs that are registered later are shown under the step that people see of the resource.
    fn remember_for_outputs(&mut self, step: &Step, state: StateIdx) {
        let op = match step.replaced() {
            // Its marker is done before there is a state to remember.
            Some(replaced) if replaced.order == Order::DeleteFirst => StepOp::Replace,
            _ => step.op(),
        };
        if !op.is_logical() {
            return;
        }
        let remembered = Remembered {
            op,
            state,
            old: self.old_view(step),
        };
        self.urns.set_completes(&step.urn, remembered);
    }

    /// A replacement marker: it counts and is shown, and outputs are remembered under it.
    pub(crate) fn finish_marker(&mut self, step: &Step) {
        let op = step.op();
        self.count(step, op, None);
        let is_create_first = step
            .replaced()
            .is_some_and(|replaced| replaced.order == Order::CreateFirst);
        if let (Some(state), true) = (self.urns.of_run(&step.urn), is_create_first) {
            self.remember_for_outputs(step, state);
        }
        let is_custom = step.new_state().is_some_and(|new| new.is_custom());
        if self.ctx.options.is_preview() || is_custom {
            let new = self.planned_view(step);
            let metadata = Self::metadata(step, op, self.old_view(step), new);
            self.emit_outputs(metadata, self.is_internal(step));
        }
    }

    /// A refresh is done; `found` says what it found.
    pub(crate) fn tell_refreshed(
        &mut self,
        step: &Step,
        new: Option<Arc<ResourceState>>,
        found: StepOp,
    ) {
        let new = new.map(StateView::from);
        let mut metadata = Self::metadata(step, StepOp::Refresh, self.old_view(step), new);
        if self.ctx.operation == Operation::Refresh {
            self.count(step, found, None);
            metadata.op = found;
        }
        self.emit_outputs(metadata, self.is_internal(step));
    }

    pub(crate) fn emit_outputs(&mut self, metadata: Metadata, internal: bool) {
        let planning = self.ctx.options.is_preview();
        self.emit(Event::ResourceOutputs(StepEvent {
            metadata: Box::new(metadata),
            planning,
            internal,
        }));
    }

    /// Outputs of a component were registered.
    pub(crate) fn tell_outputs(&mut self, remembered: Remembered) {
        let Remembered { op, state, old } = remembered;
        let new = self.arena.state(state).clone();
        let urn = new.urn.clone();
        let new = Some(StateView::from(new));
        let metadata = Self::metadata_of(&urn, op, &StepReason::default(), old, new);
        self.emit_outputs(metadata, urn.is_default_provider());
    }

    fn count(&mut self, step: &Step, op: StepOp, new: Option<&ResourceState>) {
        if self.is_internal(step) || (!op.is_logical()) {
            return;
        }
        if op == StepOp::Read {
            let old = step.old().map(|old| self.arena.state(old));
            let changed = match (old, new) {
                (Some(old), Some(new)) => old.outputs != new.outputs,
                _ => false,
            };
            if !changed {
                return;
            }
        }
        if let StepKind::Kept {
            is_registered: false,
            ..
        } = step.kind
        {
            self.report.passed_on.insert(step.urn.clone());
        }
        self.report.steps += 1;
        *self.report.changes.entry(op).or_default() += 1;
    }

    /// The state that a failed step was to make, with the parts that it made before it failed.
    fn failed_view(&self, step: &Step, left: Option<StateIdx>) -> Option<StateView> {
        let left = left.map(|idx| self.arena.state(idx));
        match (&step.kind, left) {
            (StepKind::Update { old, new, .. }, left) => Some(StateView::new(ResourceState {
                id: self.arena.state(*old).id.clone(),
                inputs: new.inputs.clone(),
                ..left.map_or_else(|| new.as_ref().clone(), |left| left.as_ref().clone())
            })),
            (_, Some(left)) => Some(StateView::from(left.clone())),
            (_, None) => self.planned_view(step),
        }
    }

    /// A step failed.
    ///
    /// `state` is what it left behind nonetheless.
    pub(crate) fn tell_step_failed(
        &mut self,
        step: &Step,
        failure: &StepFailure,
        state: Option<StateIdx>,
    ) {
        let is_internal = self.is_internal(step);
        let urn = (!is_internal).then_some(&step.urn);
        if self.ctx.options.is_preview() {
            return self.error(urn, &format!("Preview failed: {}", failure.message));
        }
        self.error(urn, &failure.message);
        let status = match failure.status {
            FailureImpact::None | FailureImpact::Protected => FailedStatus::Ok,
            FailureImpact::Partial => FailedStatus::PartialFailure,
            FailureImpact::Unknown => FailedStatus::Unknown,
        };
        let new = self.failed_view(step, state);
        let metadata = Self::metadata(step, step.op(), self.old_view(step), new);
        let steps = self.report.steps;
        self.emit(Event::ResourceFailed(FailedStepEvent {
            metadata: Box::new(metadata),
            status,
            steps,
            internal: is_internal,
        }));
    }
}
