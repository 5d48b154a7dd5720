//! Steps end: their outcome goes into the journal, the arena and the events (`engine.md` 5, 9).

use std::sync::Arc;

use plumb_resource::{OperationType, ResourceState, Urn};
use plumb_state::journal::{Entry, EntryKind, OperationId, Slot};
use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::deployment::Deployment;
use crate::event::{Effect, Milestone};
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::Fence;
use crate::setup::Operation;
use crate::step::{
    Deletion, FailureImpact, Order, ReadPrior, Replaced, Step, StepFailure, StepKind,
};
use crate::steps::answer::Applied;
use crate::steps::scheduler::StepEnd;
use crate::steps::views::Followed;

impl Deployment {
    /// Puts the outcome of a step into the journal, the state and the events.
    pub(crate) fn complete(
        &mut self,
        step: &Step,
        operation: OperationId,
        applied: Applied,
    ) -> StepEnd {
        let Applied { state, failure } = applied;
        if let Some(failure) = failure
            .as_ref()
            .filter(|it| it.status != FailureImpact::Partial)
        {
            let fence = self.record_failure(operation, step);
            self.step_failed(step, failure, step.left);
            let views = self.views_of_failed(step, operation);
            return StepEnd {
                state: step.left,
                fence: fence.max(views.fence),
                is_failed: true,
                returned: None,
            };
        }
        let returned = state.as_ref().and_then(|it| outputs_for_hooks(step, it));
        if let Some(state) = &state {
            self.made_plan.note_outputs(&state.urn, &state.outputs);
        }
        let gone = match step.kind {
            StepKind::Delete { .. } => self.views_go(step, operation),
            _ => Followed::default(),
        };
        let (idx, fence) = self.record_outcome(operation, step, state);
        match &failure {
            None => self.tell_step_done(step, idx),
            Some(failure) => self.step_failed(step, failure, idx),
        }
        let views = self.views_follow(step, operation, idx);
        StepEnd {
            state: idx,
            fence: fence.max(views.fence),
            is_failed: failure.is_some() || gone.is_failed || views.is_failed,
            returned,
        }
    }

    /// Records that a step changed nothing, so that its intent is not pending any more.
    pub(crate) fn record_failure(&mut self, operation: OperationId, step: &Step) -> Fence {
        if step.op().operation_type().is_none() {
            return Fence::NONE;
        }
        self.journal(operation, EntryKind::Failure)
    }

    /// Takes the outcome of a successful (or half successful) step into journal and arena.
    pub(crate) fn record_outcome(
        &mut self,
        operation: OperationId,
        step: &Step,
        state: Option<Arc<ResourceState>>,
    ) -> (Option<StateIdx>, Fence) {
        let state = state.map(|state| self.with_secret_outputs(state, step));
        match (step.left, state) {
            (Some(left), Some(state)) => self.record_again(operation, state, left),
            (_, state) => self.record_success(operation, step, state),
        }
    }

    pub(crate) fn step_failed(
        &mut self,
        step: &Step,
        failure: &StepFailure,
        state: Option<StateIdx>,
    ) {
        self.tell_step_failed(step, failure, state);
        let old_id = step.old().map(|old| self.arena.state(old).id.clone());
        self.tell_milestone(|| Milestone::Failed {
            urn: step.urn.clone(),
            op: step.op(),
            old_id,
        });
        self.urns.mark(&step.urn, UrnFlag::Errored);
        if self.ctx.options.continue_on_error && step.is_read_for_registration() {
            // Nothing can be decided about the registration, and what is not registered would be deleted in the end.
            return self.refuse(Some(&step.urn), &failure.message);
        }
        self.run_fails(failure);
    }

    /// Marks outputs as secret that the program says are, or that come from secret inputs (STEPGEN-03). The inputs of an
    /// update are those that it was to bring about, also where the state keeps the old ones.
    pub(crate) fn with_secret_outputs(
        &mut self,
        mut state: Arc<ResourceState>,
        step: &Step,
    ) -> Arc<ResourceState> {
        if matches!(step.kind, StepKind::Kept { .. }) {
            return state;
        }
        let inputs = inputs_behind(step, &state).clone();
        let secret = secret_outputs(&state, &inputs);
        if !secret.is_empty() {
            hide(&mut Arc::make_mut(&mut state).outputs, secret);
        }
        let names_id = |key: &PropertyKey| key.as_str() == "id";
        if state.additional_secret_outputs.iter().any(names_id) {
            let urn = &state.urn;
            let message = format!(
                "Could not make 'id' a secret on resource {urn}: the 'id' property cannot be secret"
            );
            self.warning(Some(urn), &message);
        }
        state
    }

    fn record_success(
        &mut self,
        operation: OperationId,
        step: &Step,
        state: Option<Arc<ResourceState>>,
    ) -> (Option<StateIdx>, Fence) {
        if let StepKind::Delete { old, deletion, .. } = step.kind {
            return (None, self.record_removal(operation, old, deletion));
        }
        let Some(state) = state else {
            return (None, Fence::NONE);
        };
        match &step.kind {
            // The program may refer to it, the snapshot must not.
            StepKind::SkippedCreate { .. } => (None, Fence::NONE),
            StepKind::Same { old, .. } | StepKind::Kept { old, .. } => {
                self.record_same(operation, *old, state)
            }
            StepKind::Update { old, .. }
            | StepKind::Read {
                former: ReadPrior::Same(old),
                ..
            } => {
                let remove = Some(self.arena.slot(*old));
                self.record_new(operation, state, remove, None)
            }
            StepKind::Create {
                replaces: Some(Replaced { old, order }),
                ..
            } => self.record_replacement(operation, state, *old, *order),
            StepKind::Read {
                former: ReadPrior::Replaced(old),
                ..
            }
            | StepKind::Import {
                replaces: Some(old),
                ..
            } => self.record_replacement(operation, state, *old, Order::CreateFirst),
            _ => self.record_new(operation, state, None, None),
        }
    }

    /// The new half of a replacement is there: the old half is due for deletion, or forgotten if it is gone.
    fn record_replacement(
        &mut self,
        operation: OperationId,
        state: Arc<ResourceState>,
        old: StateIdx,
        order: Order,
    ) -> (Option<StateIdx>, Fence) {
        let slot = Some(self.arena.slot(old));
        if self.arena.state(old).pending_replacement {
            if order == Order::CreateFirst && self.removal.pending.contains(&old) {
                // It went for the replacement of another one, in this run.
                self.arena.update(old, |old| old.delete = true);
            }
            return self.record_new(operation, state, slot, None);
        }
        match order {
            Order::DeleteFirst => self.record_new(operation, state, None, None),
            Order::CreateFirst => {
                self.arena.update(old, |old| old.delete = true);
                self.record_new(operation, state, None, slot)
            }
        }
    }

    /// An earlier attempt left the resource half done: that is the same object, or another one that is due for deletion.
    fn record_again(
        &mut self,
        operation: OperationId,
        state: Arc<ResourceState>,
        left: StateIdx,
    ) -> (Option<StateIdx>, Fence) {
        let slot = Some(self.arena.slot(left));
        if self.arena.state(left).id == state.id {
            return self.record_new(operation, state, slot, None);
        }
        self.arena.update(left, |left| left.delete = true);
        self.removal.leftovers.push(left);
        self.record_new(operation, state, None, slot)
    }

    /// Records a deletion. The state of a delete-before-replace stays until the replacement is there.
    fn record_removal(
        &mut self,
        operation: OperationId,
        old: StateIdx,
        deletion: Deletion,
    ) -> Fence {
        let slot = Some(self.arena.slot(old));
        // What still refers to it forgets it, as after a refresh.
        let is_refresh = self.removal.orphaning.contains(&self.arena.state(old).urn)
            || (deletion != Deletion::ForReplacement && self.is_needed_by_what_waits(old));
        let (remove, pending_replacement) = if deletion == Deletion::ForReplacement {
            self.arena.update(old, |old| old.pending_replacement = true);
            (None, slot)
        } else {
            self.gone.insert(old);
            (slot, None)
        };
        let kind = EntryKind::Success {
            state: None,
            remove,
            delete: None,
            pending_replacement,
            is_refresh,
            owner: None,
        };
        self.journal(operation, kind)
    }

    /// Whether a copy that was due for deletion is all that there is of what something refers to that is deleted and waits
    /// for its replacement. The copy may have to go first, because its provider goes.
    fn is_needed_by_what_waits(&self, copy: StateIdx) -> bool {
        let state = self.arena.state(copy);
        let urn = &state.urn;
        let is_live = || {
            self.urns
                .latest(urn)
                .is_some_and(|it| !self.gone.contains(&it))
        };
        if !state.delete || is_live() {
            return false;
        }
        let olds = self.olds.order().iter().map(|idx| self.arena.state(*idx));
        olds.filter(|it| it.pending_replacement)
            .any(|it| it.references().any(|needed| needed == urn))
    }

    fn record_same(
        &mut self,
        operation: OperationId,
        old: StateIdx,
        state: Arc<ResourceState>,
    ) -> (Option<StateIdx>, Fence) {
        let before = self.arena.state(old).clone();
        if before == state {
            self.touch(old);
            if !state.delete {
                self.take_as_new(state.urn.clone(), old);
            }
            return (Some(old), Fence::NONE);
        }
        let must_wait = differs_in_substance(&before, &state);
        let remove = Some(self.arena.slot(old));
        let (idx, fence) = self.record_new(operation, state, remove, None);
        (idx, if must_wait { fence } else { Fence::NONE })
    }

    /// Lists a resource of the base among what this run has seen.
    pub(crate) fn touch(&mut self, old: StateIdx) {
        if let (Slot::Old(base), false) = (self.arena.slot(old), self.ctx.options.is_preview()) {
            self.outbox.push(Effect::Touch { base });
        }
    }

    /// Records a new state; `remove` and `delete` say what happens to the one before.
    fn record_new(
        &mut self,
        operation: OperationId,
        state: Arc<ResourceState>,
        remove: Option<Slot>,
        delete: Option<Slot>,
    ) -> (Option<StateIdx>, Fence) {
        let urn = state.urn.clone();
        let kind = EntryKind::Success {
            state: Some(state.clone()),
            remove,
            delete,
            pending_replacement: None,
            is_refresh: self.is_adopting(),
            owner: None,
        };
        if self.is_adopting() {
            self.note_adoption(operation, kind.clone());
        }
        let fence = self.journal(operation, kind);
        let idx = self.arena.push(state, Slot::New(operation));
        self.take_as_new(urn, idx);
        (Some(idx), fence)
    }

    /// Records that a resource is called `urn` from here on, if it was called something else, and nothing more. A URN has
    /// the types of the parents in it, so that `parent` comes along if it is there.
    pub(crate) fn record_name(
        &mut self,
        idx: StateIdx,
        urn: &Urn,
        parent: Option<Urn>,
    ) -> (StateIdx, Fence) {
        let before = self.arena.state(idx);
        if before.urn == *urn {
            return (idx, Fence::NONE);
        }
        let mut state = before.renamed(urn);
        if parent
            .as_ref()
            .is_none_or(|parent| self.urns.of_run(parent).is_some())
        {
            state.parent = parent;
        }
        let state = Arc::new(state);
        let operation = self.outbox.operation();
        let remove = Some(self.arena.slot(idx));
        let (renamed, fence) = self.record_new(operation, state, remove, None);
        let renamed = renamed.unwrap_or(idx);
        self.views.follow(idx, renamed);
        (renamed, fence)
    }

    /// The state of a resource in this run is there.
    fn take_as_new(&mut self, urn: Urn, idx: StateIdx) {
        self.set_of_run(&urn, idx);
        if self.ctx.operation == Operation::Destroy {
            self.removal.registered_during_destroy.push(idx);
        }
    }

    /// Keeps the import of an adopted object for the base that the rest of the run starts from.
    fn note_adoption(&mut self, operation: OperationId, success: EntryKind) {
        let EntryKind::Success {
            state: Some(state), ..
        } = &success
        else {
            return;
        };
        let begin = EntryKind::Begin {
            operation: Some(plumb_state::PendingOperation {
                resource: state.clone(),
                operation: OperationType::Importing,
            }),
        };
        for kind in [begin, success] {
            self.refreshes.push(Entry { operation, kind });
        }
    }
}

/// Marks outputs as secret that the program says are, or that have a secret among `inputs` of the same name.
pub(crate) fn hide_secret_outputs(state: &mut ResourceState, inputs: &PropertyMap) {
    let secret = secret_outputs(state, inputs);
    if !secret.is_empty() {
        hide(&mut state.outputs, secret);
    }
}

/// The inputs that the outputs of a step come from. Those of an update are the new ones, also where the state keeps the
/// old ones.
fn inputs_behind<'a>(step: &'a Step, state: &'a ResourceState) -> &'a Arc<PropertyMap> {
    match &step.kind {
        StepKind::Update { new, .. } => &new.inputs,
        _ => &state.inputs,
    }
}

/// Outputs for the hooks after a step, if its resource has hooks: secret where inputs of the same name are, because not
/// every provider remembers that.
///
/// upstream: the outputs that the program lists as secret are plain here. Example: a resource `b` with `v` among its
/// `additionalSecretOutputs` has a secret `v` in the state, and its hook after creation gets a plain one.
fn outputs_for_hooks(step: &Step, state: &ResourceState) -> Option<Arc<PropertyMap>> {
    if state.hooks.is_empty() {
        return None;
    }
    let mut outputs = state.outputs.clone();
    let secret = hidden_keys(&outputs, inputs_behind(step, state), |_| false);
    if !secret.is_empty() {
        hide(&mut outputs, secret);
    }
    Some(outputs)
}

/// Outputs that are to be secret, and are not yet.
fn secret_outputs(state: &ResourceState, inputs: &PropertyMap) -> Vec<PropertyKey> {
    let is_listed = |key: &PropertyKey| state.additional_secret_outputs.contains(key);
    hidden_keys(&state.outputs, inputs, is_listed)
}

/// Keys of outputs that are plain, and listed or secret among the inputs.
fn hidden_keys(
    outputs: &PropertyMap,
    inputs: &PropertyMap,
    is_listed: impl Fn(&PropertyKey) -> bool,
) -> Vec<PropertyKey> {
    let is_secret_input = |key: &str| inputs.get(key).is_some_and(Value::is_secret);
    let is_to_hide = |key: &PropertyKey, value: &Value| {
        !value.is_secret() && (is_listed(key) || is_secret_input(key.as_str()))
    };
    let outputs = outputs.iter();
    outputs
        .filter(|(key, value)| is_to_hide(key, value))
        .map(|(key, _)| key.clone())
        .collect()
}

fn hide(outputs: &mut Arc<PropertyMap>, keys: Vec<PropertyKey>) {
    let outputs = Arc::make_mut(outputs);
    for key in keys {
        if let Some(value) = outputs.get_mut(key.as_str()) {
            *value = Value::secret(value.clone());
        }
    }
}

/// Whether a same step changed something that the next run must not miss (`engine.md` 9.3).
fn differs_in_substance(old: &ResourceState, new: &ResourceState) -> bool {
    old.urn != new.urn
        || old.type_token != new.type_token
        || old.kind != new.kind
        || old.custom_timeouts != new.custom_timeouts
        || old.retain_on_delete != new.retain_on_delete
        || old.provider != new.provider
        || old.parent != new.parent
        || old.deleted_with != new.deleted_with
        || old.replace_with != new.replace_with
        || old.protect != new.protect
        || old.inputs != new.inputs
        || old.outputs != new.outputs
        || old.dependencies != new.dependencies
        || old.property_dependencies != new.property_dependencies
        || old.hooks != new.hooks
        || old.replacement_trigger != new.replacement_trigger
        || old.taint != new.taint
}
