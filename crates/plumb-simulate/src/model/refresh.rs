//! Refreshes (`engine.md` 7.3, 7.4).

use std::sync::Arc;

use ecow::EcoVec;
use plumb_resource::provider::DiffChanges;
use plumb_resource::{ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::{PropertyKey, PropertyMap, Value};
use rustc_hash::FxHashSet;

use super::chains::Owner;
use super::difference::reset_ignored;
use super::registrations::Stage;
use super::steps::Plan;
use super::{Model, Node, Phase};
use crate::cloud::{Cloud, NOT_READY, Object, Trouble};
use crate::story::Verb;

/// Result of refreshing an entry.
enum Found {
    /// The object no longer exists.
    Gone,
    /// The new state; the step kind says whether it has changed.
    There(Box<ResourceState>, StepOp),
    /// The read failed.
    Trouble,
}

impl Model<'_> {
    /// Whether a refresh precedes the program.
    pub(super) fn wants_refresh(&self) -> bool {
        let asks = |node: &Node| node.state.refresh_before_update;
        match self.operation.verb {
            Verb::Up | Verb::Refresh if self.operation.flags.run_program => false,
            Verb::Refresh => true,
            Verb::Up | Verb::Destroy => self.operation.flags.refresh || self.nodes.iter().any(asks),
            Verb::Import => false,
        }
    }

    /// Whether registrations read their old state first.
    pub(super) fn refreshes_in_program(&self) -> bool {
        let flags = &self.operation.flags;
        match self.operation.verb {
            Verb::Up => flags.run_program && flags.refresh,
            Verb::Refresh => flags.run_program,
            Verb::Destroy | Verb::Import => false,
        }
    }

    /// Starts the refresh of all targeted resources.
    pub(super) fn start_refresh(&mut self) {
        if !self.refresh_targets_exist() {
            return;
        }
        self.phase = Phase::Refreshing;
        let everything = self.operation.flags.refresh || self.operation.verb == Verb::Refresh;
        if !everything {
            self.coverage.reach("RBU-01");
        }
        let nodes: Vec<usize> = (0..self.olds).collect();
        self.read_entries(&nodes, everything);
        if self.chains.is_empty() {
            self.refreshed();
        }
    }

    fn read_entries(&mut self, nodes: &[usize], everything: bool) {
        // Resources kept by a destroy do not change, so they need no refresh before.
        let excludes = self.operation.verb == Verb::Destroy && self.targets.has_excludes();
        let kept = excludes.then(|| self.excluded_and_needed());
        for node in nodes {
            let state = self.state(*node).clone();
            let is_selected = self.is_selected_for_refresh(&state);
            self.note_selected(&state.urn, is_selected);
            let is_kept = kept.as_ref().is_some_and(|kept| kept.contains(&state.urn));
            let asks = state.refresh_before_update && !is_kept;
            if is_selected && (everything || asks) {
                let read = Plan::new(StepOp::Refresh, &state.urn).old(Some(*node));
                self.plan(Owner::Engine, vec![read]);
            }
        }
    }

    /// Handles the end of the refresh: the program runs on the new state.
    pub(super) fn refreshed(&mut self) {
        self.chains.clear();
        self.rebuild_base();
        if self.deferred {
            self.must_end = true;
            return;
        }
        self.start_program();
    }

    /// Removes deleted resources, and references to them.
    fn rebuild_base(&mut self) {
        self.nodes.retain(|node| !node.gone);
        self.olds = self.nodes.len();
        let mut states: Vec<_> = self.nodes.iter().map(|node| node.state.clone()).collect();
        let order = references_first(&states);
        states = order.iter().map(|at| states[*at].clone()).collect();
        self.nodes = order.iter().map(|at| self.nodes[*at].clone()).collect();
        if self.has_refreshed {
            drop_what_is_not_before(&mut states);
        }
        for (node, state) in self.nodes.iter_mut().zip(states) {
            node.state = state;
        }
        self.targets.forget();
        self.name_views();
    }

    /// Replaces an entry by the result of its refresh.
    fn take(&mut self, node: usize, found: Found) -> Option<usize> {
        let urn = self.state(node).urn.clone();
        match found {
            Found::Gone => {
                self.coverage.reach("REFRESH-05");
                self.tally(&urn, StepOp::Delete);
                self.has_refreshed = true;
                self.nodes[node].gone = true;
                self.nodes[node].has_vanished = true;
                self.forget_deletions(node);
                None
            }
            Found::There(state, op) => {
                self.coverage.reach("REFRESH-09");
                self.tally(&urn, op);
                if *state != **self.state(node) {
                    self.has_refreshed = true;
                }
                self.nodes[node].state = Arc::new(*state);
                Some(node)
            }
            Found::Trouble => None,
        }
    }

    fn tally(&mut self, urn: &Urn, op: StepOp) {
        if self.operation.verb == Verb::Refresh && !self.hidden_refresh {
            self.count(urn, op);
        }
    }

    /// Refreshes one entry.
    pub(super) fn refresh(&mut self, step: &Plan) -> Result<Option<usize>, Option<usize>> {
        let node = step.old.expect("refreshes have an old state");
        let state = self.state(node).clone();
        let found = self.look_up(&state, &step.urn);
        if matches!(found, Found::Trouble) {
            self.fail(&step.urn, "a refresh failed");
            return Err(None);
        }
        // Refreshes of components and providers during a program are not displayed.
        self.hidden_refresh = self.phase == Phase::Program && state.kind != ResourceKind::Custom;
        Ok(self.take(node, found))
    }

    fn look_up(&mut self, state: &ResourceState, urn: &Urn) -> Found {
        if state.kind != ResourceKind::Custom || state.pending_replacement {
            return Found::There(Box::new(state.clone()), StepOp::Same);
        }
        self.loaded
            .extend(state.provider.as_ref().map(ToString::to_string));
        if self.is_config_unknown(state.provider.as_ref()) {
            return Found::There(Box::new(state.clone()), StepOp::Same);
        }
        let mut init_errors = Vec::new();
        let object: Object = match self.cloud.read(self.faults, urn.name(), state.id.as_str()) {
            Ok(Some(object)) => object,
            Ok(None) => return Found::Gone,
            Err(Trouble::Partial(object)) => {
                self.coverage.reach("REFRESH-04");
                init_errors = vec![NOT_READY.into()];
                object
            }
            Err(_) => return Found::Trouble,
        };
        let is_blind = object.is_blind() && init_errors.is_empty();
        if is_blind {
            self.coverage.reach("REFRESH-28");
        }
        let mut new = ResourceState {
            inputs: if is_blind {
                state.inputs.clone()
            } else {
                stays_secret(&state.inputs, object.inputs)
            },
            id: object.id.map_or(ResourceId::Unknown, ResourceId::Known),
            outputs: stays_secret(&state.outputs, object.outputs),
            init_errors: init_errors.into(),
            refresh_before_update: object.refresh_before_update,
            additional_secret_outputs: self.secret_after_refresh(state, urn),
            ..state.clone()
        };
        self.hide_secrets(&mut new);
        match self.is_other(state, &new, urn) {
            Some(true) => Found::There(Box::new(new), StepOp::Update),
            Some(false) => Found::There(Box::new(new), StepOp::Same),
            None => Found::Trouble,
        }
    }

    /// Secret outputs after a refresh: those that the state lists, and those that the registration lists that waits for it.
    fn secret_after_refresh(&self, state: &ResourceState, urn: &Urn) -> EcoVec<PropertyKey> {
        let mut secret = state.additional_secret_outputs.clone();
        let asking = self
            .registrations
            .iter()
            .filter(|it| matches!(it.stage, Stage::Refreshing) && it.wanted.state.urn == *urn);
        for key in asking.flat_map(|it| &it.wanted.state.additional_secret_outputs) {
            if !secret.contains(key) {
                secret.push(key.clone());
            }
        }
        secret
    }

    /// Whether the new state counts as changed; `None` if Diff failed.
    fn is_other(&mut self, state: &ResourceState, new: &ResourceState, urn: &Urn) -> Option<bool> {
        if state.external || self.operation.flags.legacy_refresh_diff {
            self.coverage.reach(if state.external {
                "REFRESH-03"
            } else {
                "RLD-01"
            });
            return Some(state.outputs != new.outputs);
        }
        let diff = Cloud::diff(self.faults, urn.name(), &new.inputs, &state.inputs).ok()?;
        let is_some = match diff.changes {
            DiffChanges::Some => true,
            DiffChanges::None => false,
            DiffChanges::Unknown => {
                let mut known = state.inputs.as_ref().clone();
                reset_ignored(state, &mut known, &new.inputs);
                new.inputs.without_secrets() != known.without_secrets()
            }
        };
        Some(is_some)
    }

    /// Current node of an entry in the old state, if it still exists; it may have been renamed.
    fn present(&self, node: usize) -> Option<usize> {
        let state = self.state(node);
        let current = self.current(&state.urn);
        if state.delete || *current == state.urn {
            return (!self.nodes[node].gone).then_some(node);
        }
        let mut news = self.olds..self.nodes.len();
        news.find(|new| !self.nodes[*new].gone && self.state(*new).urn == *current)
    }

    /// Refreshes the resources that the program of a refresh did not register.
    pub(super) fn late_refresh(&mut self) {
        let present = (0..self.olds).filter_map(|node| self.present(node));
        let is_left = |node: &usize| {
            let state = self.state(*node);
            state.delete || !self.fate(&state.urn).is_operated_on()
        };
        let nodes: Vec<usize> = present.filter(is_left).collect();
        self.read_entries(&nodes, true);
    }
}

/// Outputs from a refresh, secret where the known ones are.
fn stays_secret(known: &PropertyMap, mut found: Arc<PropertyMap>) -> Arc<PropertyMap> {
    for (key, value) in Arc::make_mut(&mut found).iter_mut() {
        let was_secret = known.get(key.as_str()).is_some_and(Value::is_secret);
        if was_secret && !value.is_secret() {
            *value = Value::secret(value.clone());
        }
    }
    found
}

/// Sorts entries after those that they refer to, and drops dangling references (`state.md` 6.4).
pub(super) fn sort_references(states: &mut Vec<Arc<ResourceState>>) {
    let order = references_first(states);
    *states = order.iter().map(|at| states[*at].clone()).collect();
    drop_what_is_not_before(states);
}

/// Order in which every entry comes after those that it refers to; the current order if there is none. A copy pending
/// deletion prefers such copies; in a cycle of these, any copy that comes before is used.
fn references_first(states: &[Arc<ResourceState>]) -> Vec<usize> {
    let all = || 0..states.len();
    let copies = |urn: &Urn| -> Vec<usize> { all().filter(|at| states[*at].urn == *urn).collect() };
    let provider = |at: usize| {
        let provider = states[at].provider.as_ref()?;
        all().find(|other| states[*other].as_provider_ref().as_ref() == Some(provider))
    };
    let meant = |at: usize, urn: &Urn| {
        let copies = copies(urn);
        let alike = |other: &&usize| states[**other].delete == states[at].delete;
        copies.iter().find(alike).or(copies.first()).copied()
    };
    let needs: Vec<Vec<usize>> = all()
        .map(|at| {
            let others = states[at].references().filter_map(|urn| meant(at, urn));
            provider(at).into_iter().chain(others).collect()
        })
        .collect();
    let mut order = Vec::new();
    if all().all(|at| place(at, &needs, &mut Vec::new(), &mut order)) {
        return order;
    }
    order.clear();
    while order.len() < states.len() {
        let is_next = |at: &usize| {
            let has_any = |urn: &Urn| {
                let copies = copies(urn);
                copies.iter().any(|copy| order.contains(copy)) || copies.iter().all(|it| it == at)
            };
            let has_provider = provider(*at).is_none_or(|it| order.contains(&it));
            !order.contains(at) && has_provider && states[*at].references().all(has_any)
        };
        match all().find(is_next) {
            Some(next) => order.push(next),
            None => return all().collect(),
        }
    }
    order
}

/// Places an entry after those that it refers to; returns false for a cycle.
fn place(at: usize, needs: &[Vec<usize>], open: &mut Vec<usize>, order: &mut Vec<usize>) -> bool {
    if order.contains(&at) || open.contains(&at) {
        return order.contains(&at);
    }
    open.push(at);
    let mut others = needs[at].iter().filter(|need| **need != at);
    let is_placed = others.all(|need| place(*need, needs, open, order));
    order.push(at);
    is_placed
}

/// Drops references to later entries (`state.md` 2.1).
fn drop_what_is_not_before(states: &mut [Arc<ResourceState>]) {
    let mut before: FxHashSet<Urn> = FxHashSet::default();
    for state in states {
        if state.references().any(|urn| !before.contains(urn)) {
            let state = Arc::make_mut(state);
            state.dependencies.retain(|urn| before.contains(urn));
            state.replace_with.retain(|urn| before.contains(urn));
            for urns in state.property_dependencies.values_mut() {
                urns.retain(|urn| before.contains(urn));
            }
            state.deleted_with.take_if(|urn| !before.contains(urn));
            state.parent.take_if(|urn| !before.contains(urn));
        }
        before.insert(state.urn.clone());
    }
}
