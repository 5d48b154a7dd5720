//! Refreshes (`engine.md` 7.3, 7.4).

use std::sync::Arc;

use plumb_resource::provider::DiffChanges;
use plumb_resource::{ResourceId, ResourceKind, ResourceState, StepOp, Urn};

use super::Model;
use super::steps::Ended;
use crate::cloud::{Cloud, NOT_READY, Object, Trouble};
use crate::story::Verb;

/// What a refresh of one entry found.
enum Found {
    /// It is gone.
    Gone,
    /// It is so; the step kind says whether that is a change.
    There(Box<ResourceState>, StepOp),
    /// It cannot be told.
    Trouble,
}

impl Model<'_> {
    /// Whether anything is read before the program runs.
    pub(super) fn wants_refresh(&self) -> bool {
        let flags = &self.operation.flags;
        if flags.refresh || self.operation.verb == Verb::Refresh {
            return !flags.run_program;
        }
        (matches!(self.operation.verb, Verb::Up | Verb::Destroy)
            && self
                .nodes
                .iter()
                .any(|node| node.state.refresh_before_update))
    }

    /// Whether registrations read their old state first.
    pub(super) fn refreshes_in_program(&self) -> bool {
        let flags = &self.operation.flags;
        flags.run_program && (flags.refresh || self.operation.verb == Verb::Refresh)
    }

    /// Reads everything that the operation is about; false if the run ends here.
    pub(super) fn refresh_phase(&mut self) -> bool {
        if !self.refresh_targets_exist() {
            return false;
        }
        let everything = self.operation.flags.refresh || self.operation.verb == Verb::Refresh;
        if !everything {
            self.coverage.reach("RBU-01");
        }
        let nodes: Vec<usize> = (0..self.olds).collect();
        let refreshed = self.refresh_entries(&nodes, everything);
        if refreshed {
            self.rebuild_base();
        }
        refreshed
    }

    fn refresh_entries(&mut self, nodes: &[usize], everything: bool) -> bool {
        let mut failed = false;
        // Nothing happens to what a destroy keeps, so it needs no refresh before.
        let excludes = self.operation.verb == Verb::Destroy && self.targets.has_excludes();
        let kept = excludes.then(|| self.excluded_and_needed());
        for node in nodes {
            let state = self.state(*node).clone();
            let is_selected = self.is_selected(&state);
            self.note_selected(&state.urn, is_selected);
            let is_kept = kept.as_ref().is_some_and(|kept| kept.contains(&state.urn));
            let asks = state.refresh_before_update && !is_kept;
            if !is_selected || !(everything || asks) {
                continue;
            }
            if !self.begin(&state.urn, StepOp::Refresh) {
                failed = true;
                continue;
            }
            let found = self.look_up(&state, &state.urn);
            if matches!(found, Found::Trouble) {
                failed = true;
                self.reason("a refresh failed");
                continue;
            }
            self.take(*node, found);
        }
        if failed {
            self.stops = true;
            return false;
        }
        true
    }

    /// What is gone is dropped, and with it what refers to it.
    fn rebuild_base(&mut self) {
        self.nodes.retain(|node| !node.gone);
        self.olds = self.nodes.len();
        if self.has_refreshed {
            let mut states: Vec<_> = self.nodes.iter().map(|node| node.state.clone()).collect();
            super::drop_dangling(&mut states);
            for (node, state) in self.nodes.iter_mut().zip(states) {
                node.state = state;
            }
        }
        self.targets.forget();
    }

    /// Puts what was found in place of an entry.
    fn take(&mut self, node: usize, found: Found) -> Option<usize> {
        let urn = self.state(node).urn.clone();
        match found {
            Found::Gone => {
                self.coverage.reach("REFRESH-05");
                self.tally(&urn, StepOp::Delete);
                self.has_refreshed = true;
                self.nodes[node].gone = true;
                self.nodes[node].was_live = false;
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

    /// Reads the old state of a registration first.
    pub(super) fn refresh_for(&mut self, node: usize, urn: &Urn) -> Ended {
        if !self.begin(urn, StepOp::Refresh) {
            return Ended::Cut;
        }
        let state = self.state(node).clone();
        match self.look_up(&state, urn) {
            Found::Trouble => {
                self.fail(urn, "a refresh failed");
                Ended::Failed(None)
            }
            found => {
                // Those of components and providers are not shown.
                self.hidden_refresh = state.kind != ResourceKind::Custom;
                let taken = self.take(node, found);
                self.hidden_refresh = false;
                Ended::Done(taken)
            }
        }
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
        let mut new = ResourceState {
            id: object.id.map_or(ResourceId::Unknown, ResourceId::Known),
            inputs: object.inputs,
            outputs: object.outputs,
            init_errors,
            refresh_before_update: object.refresh_before_update,
            ..state.clone()
        };
        self.hide_secrets(&mut new);
        if state.external || self.operation.flags.legacy_refresh_diff {
            self.coverage.reach(if state.external {
                "REFRESH-03"
            } else {
                "RLD-01"
            });
            let is_same = state.outputs == new.outputs;
            let op = if is_same {
                StepOp::Same
            } else {
                StepOp::Update
            };
            return Found::There(Box::new(new), op);
        }
        let Ok(diff) = Cloud::diff(self.faults, urn.name(), &new.inputs, &state.inputs) else {
            return Found::Trouble;
        };
        let is_some = match diff.changes {
            DiffChanges::Some => true,
            DiffChanges::None => false,
            DiffChanges::Unknown => new.inputs.without_secrets() != state.inputs.without_secrets(),
        };
        let is_identical = new.inputs == state.inputs
            && new.outputs == state.outputs
            && new.id == state.id
            && new.init_errors == state.init_errors;
        let op = if is_some && !is_identical {
            StepOp::Update
        } else {
            StepOp::Same
        };
        Found::There(Box::new(new), op)
    }

    /// After the program of a refresh: what it did not mention is read too.
    pub(super) fn late_refresh(&mut self) {
        let nodes: Vec<usize> = (0..self.olds)
            .filter(|node| {
                let node = &self.nodes[*node];
                let urn = &node.state.urn;
                let is_done = self.fate(urn).is_operated_on() || self.aliased.contains_key(urn);
                !node.gone && (node.state.delete || !is_done)
            })
            .collect();
        self.refresh_entries(&nodes, true);
    }
}
