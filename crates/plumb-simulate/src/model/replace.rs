//! Replacements, and what goes with them (`engine.md` 4.6, 4.9).

use std::collections::BTreeSet;

use plumb_deploy::request::Outcome;
use plumb_resource::{ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::Value;

use super::decide::{Difference, told};
use super::monitor::Wanted;
use super::steps::{Plan, Way};
use super::{Flow, Model};
use crate::cloud::Cloud;

impl Model<'_> {
    pub(super) fn replace(&mut self, wanted: &mut Wanted, node: usize, diff: &Difference) -> Flow {
        let old = self.state(node).clone();
        let urn = wanted.state.urn.clone();
        if wanted.state.protect && old.protect {
            if self.operation.flags.ignore_protect {
                self.coverage.reach("PROTECT-05");
            } else {
                self.coverage.reach("PULUMI-33");
                self.reason(format!("{} is protected", urn.name()));
                if !self.is_preview() {
                    self.stops = true;
                    return Flow::Cut;
                }
            }
        }
        if !wanted.state.import_id.is_empty() && !self.is_preview() {
            self.coverage.reach("PULUMI-34");
            return self.refuse(format!("{} still names its import id", urn.name()));
        }
        self.fate_mut(&urn).replaced = true;
        let is_component = wanted.state.kind == ResourceKind::Component;
        if !is_component
            && !self.is_replace_target(&urn, Some(&old))
            && let Err(reason) = self.check_inputs(wanted, None)
        {
            return self.refuse(reason);
        }
        let delete_first = wanted.delete_first.unwrap_or(diff.delete_first);
        let waits = old.pending_replacement && !self.pending_deletes.contains(&node);
        if !delete_first && !waits {
            self.coverage.reach("GOSDK-03");
            let create = Plan::new(StepOp::CreateReplacement, &urn)
                .old(Some(node))
                .new_state(wanted.state.clone())
                .way(Way::CreateFirst);
            let marker = Plan {
                op: StepOp::Replace,
                ..create.clone()
            };
            return self.registered(wanted, vec![create, marker]);
        }
        if wanted.delete_first.is_some() {
            self.coverage.reach("DBR-03");
        }
        self.replace_delete_first(wanted, node)
    }

    fn replace_delete_first(&mut self, wanted: &Wanted, node: usize) -> Flow {
        let old = self.state(node).clone();
        let urn = wanted.state.urn.clone();
        let going = match self.goes_with(node, &urn) {
            Ok(going) => going,
            Err(reason) => return self.refuse(reason),
        };
        let mut steps = Vec::new();
        for dependent in going.into_iter().rev() {
            let state = self.state(dependent).clone();
            if self.pending_deletes.contains(&dependent) || state.pending_replacement {
                continue;
            }
            if !state.delete && state.protect && !self.operation.flags.ignore_protect {
                self.coverage.reach("DBR-05");
                return self.refuse(format!("{} is protected", state.urn.name()));
            }
            steps.push(self.deletion_for_replacement(dependent));
        }
        if self.is_needed_to_the_end(&old) {
            let create = Plan::new(StepOp::CreateReplacement, &urn)
                .old(Some(node))
                .new_state(wanted.state.clone())
                .way(Way::CreateFirst);
            let marker = Plan {
                op: StepOp::Replace,
                ..create.clone()
            };
            steps.extend([create, marker]);
            return self.registered(wanted, steps);
        }
        if old.pending_replacement {
            self.coverage.reach("PREPL-02");
        } else {
            steps.push(self.deletion_for_replacement(node));
        }
        if self.failed_users(&steps) {
            self.fate_mut(&urn).errored = true;
            for step in &steps {
                self.fate_mut(&step.urn.clone()).errored = true;
            }
            return Self::answer(&wanted.state, Outcome::Skipped, false);
        }
        steps.extend(made_anew(wanted, node));
        self.registered(wanted, steps)
    }

    /// Whether something that goes only at the end of the run still needs an old provider.
    fn is_needed_to_the_end(&self, old: &ResourceState) -> bool {
        let Some(provider) = old.as_provider_ref() else {
            return false;
        };
        let is_kept = self.kept_providers.contains(&provider.to_string());
        is_kept
            || (0..self.olds).any(|node| {
                let state = self.state(node);
                let fate = self.fate(&state.urn);
                let waits = if state.external && !state.delete {
                    !fate.is_processed()
                } else {
                    state.delete || fate.replaced
                };
                state.provider.as_ref() == Some(&provider)
                    && !self.nodes[node].gone
                    && !self.pending_deletes.contains(&node)
                    && !state.pending_replacement
                    && waits
            })
    }

    /// Whether something failed that still needs what `steps` delete.
    fn failed_users(&self, steps: &[Plan]) -> bool {
        let going: Vec<usize> = steps.iter().filter_map(|step| step.old).collect();
        self.nodes[..self.olds]
            .iter()
            .enumerate()
            .any(|(node, entry)| {
                let state = &entry.state;
                let urn = self.aliased.get(&state.urn).unwrap_or(&state.urn);
                let needs = state
                    .references_and_provider()
                    .filter(|urn| Some(*urn) != state.parent.as_ref())
                    .any(|urn| going.iter().any(|other| self.state(*other).urn == *urn));
                needs && !going.contains(&node) && !entry.gone && self.fate(urn).errored
            })
    }

    fn deletion_for_replacement(&mut self, node: usize) -> Plan {
        let state = self.state(node).clone();
        self.loaded
            .extend(state.provider.as_ref().map(ToString::to_string));
        self.pending_deletes.insert(node);
        self.deleting.insert(state.urn.clone());
        let op = match (state.external, state.delete) {
            (true, _) => StepOp::DiscardReplaced,
            (_, true) => StepOp::Delete,
            _ => StepOp::DeleteReplaced,
        };
        if !state.delete {
            self.fate_mut(&state.urn).deleted = true;
        }
        Plan::new(op, &state.urn)
            .old(Some(node))
            .way(Way::DeleteFirst)
    }

    /// What must go before `root` can be replaced: dependents whose replacement it forces, and what says so itself.
    fn goes_with(&mut self, root: usize, urn: &Urn) -> Result<Vec<usize>, String> {
        let root_urn = self.state(root).urn.clone();
        let mut replaced: BTreeSet<Urn> = BTreeSet::from([root_urn.clone()]);
        let mut going: Vec<usize> = Vec::new();
        for node in root + 1..self.olds.max(root + 1) {
            let state = self.nodes[node].state.clone();
            if self.nodes[node].gone
                || self.fate(&state.urn).is_processed()
                || state.external
                || state.pending_replacement
                || state.kind == ResourceKind::Component
            {
                continue;
            }
            if self.is_forced(&state, &replaced)? {
                replaced.insert(state.urn.clone());
                going.push(node);
            }
        }
        let names = [urn.clone(), root_urn];
        for node in 0..self.olds {
            let state = &self.nodes[node].state;
            let says_so = state
                .deleted_with
                .iter()
                .chain(&state.replace_with)
                .any(|it| names.contains(it));
            if says_so
                && !self.nodes[node].gone
                && !state.delete
                && !self.fate(&state.urn).is_processed()
                && !going.contains(&node)
            {
                self.coverage.reach("RWITH-03");
                going.push(node);
            }
        }
        Ok(going)
    }

    /// Whether the replacement of some resources forces that of a dependent.
    fn is_forced(
        &mut self,
        state: &ResourceState,
        replaced: &BTreeSet<Urn>,
    ) -> Result<bool, String> {
        let by_provider = state
            .provider
            .as_ref()
            .is_some_and(|reference| replaced.contains(reference.urn()));
        if by_provider {
            self.coverage.reach("PROV-08");
            return Ok(true);
        }
        if state
            .deleted_with
            .as_ref()
            .is_some_and(|urn| replaced.contains(urn))
        {
            self.coverage.reach("DWREPL-01");
            return Ok(true);
        }
        let mut inputs = state.inputs.as_ref().clone();
        let mut is_touched = false;
        for (key, urns) in &state.property_dependencies {
            if urns.iter().any(|urn| replaced.contains(urn)) && inputs.contains_key(key.as_str()) {
                inputs.insert(key.clone(), Value::UNKNOWN);
                is_touched = true;
            }
        }
        if !is_touched || state.provider.is_none() {
            return Ok(false);
        }
        self.loaded
            .extend(state.provider.as_ref().map(ToString::to_string));
        if self.is_config_unknown(state.provider.as_ref()) {
            return Ok(false);
        }
        // The provider's word alone counts here; one that cannot tell forces nothing.
        let diff = Cloud::diff(self.faults, state.urn.name(), &state.inputs, &inputs)
            .map_err(|error| error.to_string())?;
        let mut diff = told(&diff);
        self.apply_replace_on_changes(state, state, &mut diff);
        Ok(diff.replaces)
    }
}

/// The steps that make a resource whose old object went first.
pub(super) fn made_anew(wanted: &Wanted, old: usize) -> [Plan; 2] {
    let replace = Plan::new(StepOp::Replace, &wanted.state.urn)
        .old(Some(old))
        .new_state(wanted.state.clone())
        .way(Way::DeleteFirst);
    let create = Plan {
        op: StepOp::CreateReplacement,
        ..replace.clone()
    };
    [replace, create]
}
