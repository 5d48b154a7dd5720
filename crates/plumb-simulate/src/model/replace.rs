//! Replacements and their dependents (`engine.md` 4.6, 4.9).

use std::collections::BTreeSet;

use plumb_resource::{ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::Value;

use super::Model;
use super::difference::{Difference, told, visible};
use super::steps::{Plan, Way};
use crate::cloud::Cloud;

impl Model<'_> {
    pub(super) fn replace(&mut self, number: usize, node: usize, diff: &Difference) {
        let old = self.state(node).clone();
        let wanted = &self.registrations[number].wanted;
        let (state, delete_first) = (wanted.state.clone(), wanted.delete_first);
        let urn = state.urn.clone();
        if state.protect && old.protect {
            if self.operation.flags.ignore_protect {
                self.coverage.reach("PROTECT-05");
            } else {
                self.coverage.reach("PULUMI-33");
                let text = format!("{} is protected", urn.name());
                if !self.is_preview() {
                    return self.refuse(number, text);
                }
                self.reason(text);
            }
        }
        if !state.import_id.is_empty() && !self.is_preview() {
            self.coverage.reach("PULUMI-34");
            return self.refuse(number, format!("{} still names its import id", urn.name()));
        }
        self.fate_mut(&urn).replaced = true;
        if !self.is_replace_target(&urn, Some(&old))
            && let Err(reason) = self.check_anew(number)
        {
            return self.refuse(number, reason);
        }
        let state = self.registrations[number].wanted.state.clone();
        let waits = old.pending_replacement && !self.pending_deletes.contains(&node);
        if !delete_first.unwrap_or(diff.delete_first) && !waits {
            self.coverage.reach("GOSDK-03");
            return self.proceed(number, made_first(&state, node).into());
        }
        if delete_first.is_some() {
            self.coverage.reach("DBR-03");
        }
        match self.steps_that_delete_first(&state, node) {
            Ok(steps) => self.proceed(number, steps),
            Err(reason) => self.refuse(number, reason),
        }
    }

    fn steps_that_delete_first(
        &mut self,
        new: &ResourceState,
        node: usize,
    ) -> Result<Vec<Plan>, String> {
        let old = self.state(node).clone();
        let mut steps = Vec::new();
        for dependent in self.goes_with(node, &new.urn)?.into_iter().rev() {
            let state = self.state(dependent).clone();
            if self.pending_deletes.contains(&dependent) || state.pending_replacement {
                continue;
            }
            if !state.delete && state.protect && !self.operation.flags.ignore_protect {
                self.coverage.reach("DBR-05");
                return Err(format!("{} is protected", state.urn.name()));
            }
            // The resource would not be created again.
            if !state.delete && self.is_not_replayed(&state) {
                self.coverage.reach("PCL-26");
                return Err(format!("{} is of a snippet", state.urn.name()));
            }
            steps.push(self.deletion_for_replacement(dependent));
        }
        if self.is_needed_to_the_end(&old) {
            steps.extend(made_first(new, node));
            return Ok(steps);
        }
        if old.pending_replacement {
            self.coverage.reach("PREPL-02");
        } else if !self.pending_deletes.contains(&node) {
            steps.push(self.deletion_for_replacement(node));
        }
        steps.extend(made_anew(new, node));
        Ok(steps)
    }

    /// Whether an old provider is needed by a resource that is deleted only at the end of the run.
    fn is_needed_to_the_end(&self, old: &ResourceState) -> bool {
        let Some(provider) = old.as_provider_ref() else {
            return false;
        };
        let is_kept = self.kept_providers.contains(&provider.to_string());
        is_kept
            || (0..self.olds).any(|node| {
                let state = self.state(node);
                let fate = self.fate(self.current(&state.urn));
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

    /// Whether there was a decision about an entry, by its current URN or because it is deleted before replace.
    fn is_dealt_with(&self, node: usize) -> bool {
        let urn = self.current(&self.state(node).urn);
        self.pending_deletes.contains(&node) || self.fate(urn).is_processed()
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

    /// Entries to delete before `root` is replaced: dependents whose replacement it forces, and those with
    /// `replaceWith`.
    fn goes_with(&mut self, root: usize, urn: &Urn) -> Result<Vec<usize>, String> {
        let root_urn = self.state(root).urn.clone();
        let mut replaced: BTreeSet<Urn> = BTreeSet::from([root_urn.clone()]);
        let mut going: Vec<usize> = Vec::new();
        for node in root + 1..self.olds.max(root + 1) {
            let state = self.nodes[node].state.clone();
            if self.nodes[node].gone
                || self.is_dealt_with(node)
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
        let says_so = |node: &usize| {
            let state = self.state(*node);
            let with = state.deleted_with.iter().chain(&state.replace_with);
            let is_free = !self.nodes[*node].gone && !state.delete && !self.is_dealt_with(*node);
            is_free && with.into_iter().any(|it| names.contains(it))
        };
        // Resources with `replaceWith` are deleted first, after their own dependents.
        let mut first: Vec<usize> = (0..self.olds).filter(says_so).collect();
        if !first.is_empty() {
            self.coverage.reach("RWITH-03");
        }
        going.retain(|node| !first.contains(node));
        for node in going.clone() {
            let is_needed = |other: &usize| self.needs(node, &self.state(*other).urn);
            if first.iter().any(is_needed) {
                going.retain(|other| *other != node);
                first.push(node);
            }
        }
        first.sort_unstable();
        going.extend(first);
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
        let is_provider = state.kind == ResourceKind::Provider;
        if !is_touched || (state.provider.is_none() && !is_provider) {
            return Ok(false);
        }
        self.loaded
            .extend(state.provider.as_ref().map(ToString::to_string));
        if self.is_config_unknown(state.provider.as_ref()) {
            return Ok(false);
        }
        let (before, after) = if is_provider {
            (visible(&state.inputs), visible(&inputs))
        } else {
            (state.inputs.as_ref().clone(), inputs)
        };
        // Only the provider decides here; an unknown difference forces nothing.
        let diff = Cloud::diff(self.faults, state.urn.name(), &before, &after)
            .map_err(|error| error.to_string())?;
        let mut diff = told(&diff);
        self.apply_replace_on_changes(state, state, &mut diff);
        Ok(diff.replaces)
    }
}

/// Steps for a resource whose old object is deleted first.
pub(super) fn made_anew(new: &ResourceState, old: usize) -> [Plan; 2] {
    let replace = Plan::new(StepOp::Replace, &new.urn)
        .old(Some(old))
        .new_state(new.clone())
        .way(Way::DeleteFirst);
    let create = Plan {
        op: StepOp::CreateReplacement,
        ..replace.clone()
    };
    [replace, create]
}

/// Steps for a resource whose old object is deleted later.
pub(super) fn made_first(new: &ResourceState, old: usize) -> [Plan; 2] {
    let create = Plan::new(StepOp::CreateReplacement, &new.urn)
        .old(Some(old))
        .new_state(new.clone())
        .way(Way::CreateFirst);
    let marker = Plan {
        op: StepOp::Replace,
        ..create.clone()
    };
    [create, marker]
}
