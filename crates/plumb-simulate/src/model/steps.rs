//! Effects of steps on the cloud and on the state (`engine.md` 5, 6.3).

use std::sync::Arc;

use plumb_resource::{ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::{PropertyMap, Value};

use super::difference::visible;
use super::{Model, Node, Phase};
use crate::cloud::{NOT_READY, Object, Trouble};
use crate::story::Verb;
use crate::world::Mutation;

/// Variant of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Plain,
    CreateFirst,
    DeleteFirst,
    /// The object is deleted with another one, whose deletion was in progress when the step began.
    DeleteWithAnother,
    DeleteFirstWithAnother,
    /// The old state is kept exactly.
    Untargeted,
    /// The creation is skipped.
    LeftOut,
}

/// A planned step.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) op: StepOp,
    pub(super) urn: Urn,
    pub(super) old: Option<usize>,
    pub(super) new: Option<ResourceState>,
    pub(super) way: Way,
}

impl Plan {
    pub(super) fn new(op: StepOp, urn: &Urn) -> Self {
        Plan {
            op,
            urn: urn.clone(),
            old: None,
            new: None,
            way: Way::Plain,
        }
    }

    pub(super) fn old(self, old: Option<usize>) -> Self {
        Plan { old, ..self }
    }

    pub(super) fn new_state(self, new: ResourceState) -> Self {
        Plan {
            new: Some(new),
            ..self
        }
    }

    pub(super) fn way(self, way: Way) -> Self {
        Plan { way, ..self }
    }
}

impl Model<'_> {
    /// Applies one step; the error has the node that a failed step leaves.
    pub(super) fn perform(&mut self, step: &Plan) -> Result<Option<usize>, Option<usize>> {
        if self.is_refused_by_hook(step) {
            self.fail(&step.urn, "a hook before it failed");
            return Err(None);
        }
        match step.op {
            StepOp::Refresh => self.refresh(step),
            StepOp::Same if step.way == Way::LeftOut => {
                self.count(&step.urn, StepOp::Same);
                Ok(None)
            }
            StepOp::Same => Ok(Some(self.same(step))),
            StepOp::Create | StepOp::CreateReplacement => self.create(step),
            StepOp::Update => self.update_object(step),
            StepOp::Read | StepOp::ReadReplacement => self.read_object(step),
            StepOp::Import | StepOp::ImportReplacement => self.import_object(step),
            StepOp::Replace => {
                self.count(&step.urn, StepOp::Replace);
                Ok(None)
            }
            StepOp::RemovePendingReplace => {
                self.remove(step.old);
                Ok(None)
            }
            _ => self.delete(step),
        }
    }

    /// Handles a failed step: the run ends, or continues without dependents.
    pub(super) fn fail(&mut self, urn: &Urn, reason: &str) {
        self.fate_mut(urn).errored = true;
        self.reason(reason);
        let reads = matches!(self.operation.verb, Verb::Refresh | Verb::Import)
            && self.phase == Phase::Rest;
        let ends_later = reads
            || self.phase == Phase::Refreshing
            || self.operation.verb == Verb::Import
            || self.operation.flags.continue_on_error;
        if ends_later {
            self.deferred = true;
        } else {
            self.must_end = true;
        }
    }

    fn remove(&mut self, node: Option<usize>) {
        if let Some(node) = node {
            self.nodes[node].gone = true;
        }
    }

    pub(super) fn change(&mut self, node: usize, change: impl FnOnce(&mut ResourceState)) {
        change(Arc::make_mut(&mut self.nodes[node].state));
    }

    /// Adds a new state; outputs that depend on secret inputs are secret.
    pub(super) fn add(&mut self, mut state: ResourceState) -> usize {
        self.hide_secrets(&mut state);
        self.add_as_it_is(state)
    }

    pub(super) fn add_as_it_is(&mut self, state: ResourceState) -> usize {
        let urn = state.urn.clone();
        let node = self.nodes.len();
        self.nodes.push(Node {
            state: Arc::new(state),
            gone: false,
            has_vanished: false,
            was_live: false,
            views: Vec::new(),
        });
        self.news.insert(urn, node);
        if self.operation.verb == Verb::Destroy {
            self.condemned.push(node);
        }
        node
    }

    pub(super) fn hide_secrets(&mut self, state: &mut ResourceState) {
        let mut outputs = state.outputs.as_ref().clone();
        for (key, value) in outputs.iter_mut() {
            let listed = state.additional_secret_outputs.contains(key);
            let secret = state.inputs.get(key.as_str()).is_some_and(Value::is_secret);
            if (listed || secret) && !value.is_secret() {
                self.coverage
                    .reach(if listed { "PULUMI-39" } else { "STEPGEN-03" });
                *value = Value::secret(value.clone());
            }
        }
        state.outputs = Arc::new(outputs);
    }

    fn same(&mut self, step: &Plan) -> usize {
        let (old, Some(new)) = (step.old.expect("same steps have an old state"), &step.new) else {
            unreachable!("same steps have a new state");
        };
        self.count(&step.urn, StepOp::Same);
        let before = self.state(old).clone();
        let state = ResourceState {
            id: before.id.clone(),
            outputs: before.outputs.clone(),
            pending_replacement: before.pending_replacement,
            ..new.clone()
        };
        self.remove(Some(old));
        match step.way {
            Way::Untargeted => self.add_as_it_is(state),
            _ => self.add(state),
        }
    }

    fn create(&mut self, step: &Plan) -> Result<Option<usize>, Option<usize>> {
        let mut state = step.new.clone().expect("creations have a new state");
        let mut failure = None;
        match state.kind {
            ResourceKind::Component => {}
            ResourceKind::Provider => {
                state.id = if self.is_preview() {
                    ResourceId::Unknown
                } else {
                    ResourceId::from_text(&self.provider_id(&state.urn))
                };
                state.outputs = Arc::new(visible(&state.inputs));
            }
            ResourceKind::Custom if self.is_config_unknown(state.provider.as_ref()) => {
                self.coverage.reach("PULUMI-29");
                state.id = ResourceId::Unknown;
                state.outputs = Arc::default();
            }
            ResourceKind::Custom => {
                self.mutate("create", &state.urn, "", &state.inputs);
                let urn = &state.urn;
                match self
                    .cloud
                    .create(self.faults, urn, &state.inputs, self.operation.preview)
                {
                    Ok(object) => take_object(&mut state, &object),
                    Err(Trouble::Partial(object)) => {
                        self.coverage.reach("COE-02");
                        take_object(&mut state, &object);
                        state.init_errors = [NOT_READY.into()].into();
                        failure = Some(NOT_READY);
                    }
                    Err(_) => {
                        self.coverage.reach("PULUMI-55");
                        self.fail(&step.urn, "a creation failed");
                        return Err(None);
                    }
                }
            }
        }
        if let Some(old) = step.old {
            if self.state(old).pending_replacement {
                self.remove(Some(old));
            } else if step.way == Way::CreateFirst {
                self.change(old, |old| old.delete = true);
            }
        }
        let node = self.add(state);
        self.done(step, node, failure)
    }

    fn done(
        &mut self,
        step: &Plan,
        node: usize,
        failure: Option<&str>,
    ) -> Result<Option<usize>, Option<usize>> {
        match failure {
            None => {
                self.count(&step.urn, step.op);
                Ok(Some(node))
            }
            Some(reason) => {
                self.fail(&step.urn, reason);
                Err(Some(node))
            }
        }
    }

    pub(super) fn mutate(&mut self, call: &'static str, urn: &Urn, id: &str, inputs: &PropertyMap) {
        if !self.is_preview() {
            self.prediction.mutations.push(Mutation {
                call,
                urn: urn.clone(),
                id: id.into(),
                inputs: inputs.clone(),
            });
        }
    }

    fn update_object(&mut self, step: &Plan) -> Result<Option<usize>, Option<usize>> {
        let (Some(old), Some(mut state)) = (step.old, step.new.clone()) else {
            unreachable!("updates have both states");
        };
        let before = self.state(old).clone();
        state.id = before.id.clone();
        let mut failure = None;
        let mut kept_inputs = None;
        match state.kind {
            // The program registers the outputs of components later.
            ResourceKind::Component => {}
            ResourceKind::Provider => state.outputs = Arc::new(visible(&state.inputs)),
            ResourceKind::Custom if self.is_config_unknown(state.provider.as_ref()) => {
                state.outputs = Arc::default();
                state.refresh_before_update = false;
            }
            ResourceKind::Custom => {
                let id = before.id.as_str();
                self.mutate("update", &state.urn, id, &state.inputs);
                let urn = &state.urn;
                let preview = self.operation.preview;
                match self
                    .cloud
                    .update(self.faults, urn, id, &state.inputs, preview)
                {
                    Ok(object) => {
                        state.outputs = object.outputs;
                        state.refresh_before_update = object.refresh_before_update;
                    }
                    Err(Trouble::Partial(object)) => {
                        self.coverage.reach("PULUMI-15");
                        state.outputs = object.outputs;
                        state.refresh_before_update = object.refresh_before_update;
                        kept_inputs = Some(before.inputs.clone());
                        state.init_errors = [NOT_READY.into()].into();
                        failure = Some(NOT_READY);
                    }
                    Err(_) => {
                        self.coverage.reach("COE-03");
                        self.fail(&step.urn, "an update failed");
                        return Err(None);
                    }
                }
            }
        }
        self.remove(Some(old));
        self.hide_secrets(&mut state);
        state.inputs = kept_inputs.unwrap_or(state.inputs);
        let node = self.add_as_it_is(state);
        self.done(step, node, failure)
    }

    /// Whether a deletion is refused because the resource is protected.
    pub(super) fn is_guarded(&self, step: &Plan) -> bool {
        let is_plain = matches!(step.op, StepOp::Delete | StepOp::Discard);
        let is_protected = |old: usize| self.state(old).protect && !self.state(old).delete;
        is_plain && !self.operation.flags.ignore_protect && step.old.is_some_and(is_protected)
    }

    fn delete(&mut self, step: &Plan) -> Result<Option<usize>, Option<usize>> {
        let node = step.old.expect("deletions have an old state");
        let state = self.state(node).clone();
        if self.is_guarded(step) {
            self.coverage.reach("PROTECT-01");
            self.fate_mut(&step.urn).errored = true;
            self.reason("a protected resource cannot be deleted");
            self.deferred = true;
            return Err(None);
        }
        if state.protect {
            self.coverage.reach("PROTECT-04");
        }
        let goes_with = matches!(
            step.way,
            Way::DeleteWithAnother | Way::DeleteFirstWithAnother
        );
        if goes_with {
            self.coverage.reach("PULUMI-35");
        }
        if state.retain_on_delete {
            self.coverage.reach("RETAIN-01");
        }
        let is_physical = state.kind == ResourceKind::Custom
            && !self.is_preview()
            && !state.external
            && !state.retain_on_delete
            && !goes_with;
        if is_physical {
            let id = state.id.as_str();
            self.mutate("delete", &state.urn, id, &PropertyMap::new());
            if self.cloud.delete(self.faults, &state.urn, id).is_err() {
                self.coverage.reach("TARGET-32");
                self.fail(&step.urn, "a deletion failed");
                return Err(None);
            }
        }
        if let (Some(provider), false) = (state.as_provider_ref(), self.is_preview()) {
            self.loaded.remove(&provider.to_string());
        }
        let deleted_for_replacement =
            matches!(step.way, Way::DeleteFirst | Way::DeleteFirstWithAnother);
        if deleted_for_replacement && !state.delete {
            self.change(node, |state| state.pending_replacement = true);
        } else {
            self.remove(Some(node));
        }
        self.count(&step.urn, step.op);
        Ok(None)
    }

    /// Applies the read step of a program.
    fn read_object(&mut self, step: &Plan) -> Result<Option<usize>, Option<usize>> {
        let mut state = step.new.clone().expect("reads have a new state");
        let before = step.old.map(|old| self.state(old).clone());
        let mut failure = None;
        if self.is_config_unknown(state.provider.as_ref()) {
            state.outputs = Arc::default();
        } else {
            match self
                .cloud
                .read(self.faults, state.urn.name(), state.id.as_str())
            {
                Ok(Some(object)) => {
                    state.outputs = object.outputs.clone();
                    state.refresh_before_update = object.refresh_before_update;
                }
                Err(Trouble::Partial(object)) => {
                    state.outputs = object.outputs.clone();
                    state.refresh_before_update = object.refresh_before_update;
                    state.init_errors = [NOT_READY.into()].into();
                    failure = Some(NOT_READY);
                }
                Ok(None) => {
                    self.coverage.reach("STEPGEN-09");
                    self.fail(&step.urn, "what is read does not exist");
                    return Err(None);
                }
                Err(_) => {
                    self.fail(&step.urn, "a read failed");
                    return Err(None);
                }
            }
        }
        if let Some(old) = step.old {
            if step.op == StepOp::ReadReplacement && !self.state(old).pending_replacement {
                self.change(old, |old| old.delete = true);
            } else {
                self.remove(Some(old));
            }
        }
        let node = self.add(state);
        let changed = before.is_some_and(|before| before.outputs != self.state(node).outputs);
        match failure {
            None if changed => self.done(step, node, None),
            None => Ok(Some(node)),
            failure => self.done(step, node, failure),
        }
    }

    fn import_object(&mut self, step: &Plan) -> Result<Option<usize>, Option<usize>> {
        if self.operation.verb == Verb::Import && self.live_old(&step.urn).is_some() {
            self.fail(&step.urn, "it exists already");
            return Err(None);
        }
        let mut state = step.new.clone().expect("imports have a new state");
        let id = state.id.as_str().to_owned();
        if self.is_config_unknown(state.provider.as_ref()) {
            state.inputs = Arc::default();
            state.outputs = Arc::default();
        } else {
            let object = match self.cloud.read(self.faults, state.urn.name(), &id) {
                Ok(Some(object)) if !object.is_blind() => object,
                Err(Trouble::Partial(object)) => {
                    state.init_errors = [NOT_READY.into()].into();
                    object
                }
                Ok(_) | Err(_) => {
                    self.coverage.reach("COE-08");
                    self.fail(&step.urn, "what is imported cannot be read");
                    return Err(None);
                }
            };
            take_object(&mut state, &object);
            state.inputs = object.inputs;
        }
        if let Some(old) = step.old {
            if self.state(old).pending_replacement {
                self.remove(Some(old));
            } else {
                self.change(old, |old| old.delete = true);
            }
        }
        let node = self.add(state);
        self.done(step, node, None)
    }
}

fn take_object(state: &mut ResourceState, object: &Object) {
    state.id = object
        .id
        .as_ref()
        .map_or(ResourceId::Unknown, |id| ResourceId::Known(id.clone()));
    state.outputs = object.outputs.clone();
    state.refresh_before_update = object.refresh_before_update;
}
