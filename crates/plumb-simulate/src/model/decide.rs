//! Same, create, update or replace (`engine.md` 4.3, 4.6, 4.9).

use std::collections::BTreeSet;
use std::sync::Arc;

use plumb_deploy::request::Outcome;
use plumb_resource::provider::{DiffChanges, DiffResult};
use plumb_resource::{ProviderRef, ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::{PropertyMap, Value};

use super::monitor::Wanted;
use super::replace::made_anew;
use super::steps::{Ended, Plan, Way};
use super::{Flow, Model};
use crate::cloud::Cloud;
use crate::story::{Res, Verb};

/// A difference, as far as decisions need it.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) is_some: bool,
    pub(super) replaces: bool,
    pub(super) keys: BTreeSet<String>,
    pub(super) delete_first: bool,
}

/// A configuration without the engine's own key.
pub(super) fn visible(inputs: &PropertyMap) -> PropertyMap {
    let mut visible = inputs.clone();
    visible.remove("__internal");
    visible
}

impl Model<'_> {
    /// A registration, from its arrival to its reply.
    pub(super) fn register(&mut self, res: &Res, mut wanted: Wanted) -> Flow {
        let urn = wanted.state.urn.clone();
        let (found, conflict) = self.find_old(&urn, res, wanted.state.parent.clone().as_ref());
        if let Some(text) = conflict {
            return self.refuse(text);
        }
        // That it was passed on, for something that needs it, does not count any more.
        self.fate_mut(&urn).same = false;
        if let Some(former) = found.as_ref().and_then(|found| found.former.clone()) {
            self.fate_mut(&former).same = false;
        }
        self.fate_mut(&urn).seen = true;
        let mut old = found.as_ref().map(|found| found.node);
        if let Some(node) = old {
            wanted.state.refresh_before_update = self.state(node).refresh_before_update;
        }
        wanted.state.aliases = found.and_then(|found| found.former).into_iter().collect();
        let included = self.is_included(&wanted.state);
        if self.refreshes_in_program()
            && included
            && let Some(node) = old
        {
            match self.refresh_for(node, &urn) {
                Ended::Done(state) => old = state,
                Ended::Cut => return Flow::Cut,
                Ended::Failed(_) | Ended::Skipped => {
                    return Self::answer(&wanted.state, Outcome::Failed, false);
                }
            }
        }
        if let Some(flow) = self.mode_special(&wanted, old) {
            return flow;
        }
        if let Some(provider) = wanted.state.provider.clone()
            && !self.provider_is_there(&provider)
        {
            return self.refuse(format!("{}: unknown provider {provider}", res.name));
        }
        let mut imported = false;
        if included && self.wants_import(&wanted, old) {
            match self.import(&wanted, old) {
                Ended::Done(Some(node)) => {
                    wanted.state.refresh_before_update = false;
                    old = Some(node);
                    imported = true;
                }
                Ended::Failed(_) => return Self::answer(&wanted.state, Outcome::Failed, false),
                Ended::Skipped => return Self::answer(&wanted.state, Outcome::Skipped, false),
                Ended::Cut | Ended::Done(None) => return Flow::Cut,
            }
        }
        if let Err(reason) = self.check(&mut wanted, old, included) {
            return self.refuse(reason);
        }
        self.decide(wanted, old, included, imported)
    }

    /// Refresh and destroy runs change nothing that the program says (part C).
    fn mode_special(&mut self, wanted: &Wanted, old: Option<usize>) -> Option<Flow> {
        let managed = wanted.state.kind == ResourceKind::Custom;
        let on_skipped = wanted
            .state
            .references()
            .any(|urn| self.fate(urn).skipped_create);
        let urn = wanted.state.urn.clone();
        match self.operation.verb {
            Verb::Refresh if managed || on_skipped => Some(match old {
                None => self.skip_create(&wanted.state),
                Some(node) => {
                    self.fate_mut(&urn).refreshed = true;
                    let node = self.rename(node, &urn);
                    Self::answer(&self.state(node).clone(), Outcome::Success, false)
                }
            }),
            Verb::Destroy if on_skipped => Some(match old {
                None => self.skip_create(&wanted.state),
                Some(node) => self.keep(wanted, node),
            }),
            Verb::Destroy if managed => Some(match old {
                None => self.skip_create(&wanted.state),
                Some(node) => {
                    self.coverage.reach("DESTROY-01");
                    self.fate_mut(&urn).same = true;
                    let state = ResourceState {
                        inputs: self.state(node).inputs.clone(),
                        ..wanted.state.clone()
                    };
                    let step = Plan::new(StepOp::Same, &urn)
                        .old(Some(node))
                        .new_state(state);
                    self.registered(wanted, vec![step])
                }
            }),
            _ => None,
        }
    }

    /// The entry goes on under another name, if it has one.
    fn rename(&mut self, node: usize, urn: &Urn) -> usize {
        if self.state(node).urn == *urn {
            self.news.insert(urn.clone(), node);
            return node;
        }
        self.nodes[node].gone = true;
        let state = renamed(self.state(node), urn);
        self.add_as_it_is(state)
    }

    /// The program goes on with unknowns, the state gets nothing.
    pub(super) fn skip_create(&mut self, state: &ResourceState) -> Flow {
        self.coverage.reach("TARGET-13");
        let urn = state.urn.clone();
        let fate = self.fate_mut(&urn);
        fate.same = true;
        fate.skipped_create = true;
        if self.skips(state.references()) {
            self.fate_mut(&urn).errored = true;
            return Self::answer(state, Outcome::Skipped, false);
        }
        if !self.begin(&urn, StepOp::Same) {
            return Flow::Cut;
        }
        self.count(&urn, StepOp::Same);
        Self::answer(state, Outcome::Success, true)
    }

    fn wants_import(&self, wanted: &Wanted, old: Option<usize>) -> bool {
        let id = &wanted.state.import_id;
        if id.is_empty() || wanted.state.kind != ResourceKind::Custom {
            return false;
        }
        let Some(node) = old else { return true };
        let old = self.state(node);
        let known = if old.import_id.is_empty() {
            old.id.as_str()
        } else {
            &old.import_id
        };
        old.external || known != id.as_str()
    }

    fn import(&mut self, wanted: &Wanted, old: Option<usize>) -> Ended {
        self.coverage.reach("IMPORT-01");
        let urn = wanted.state.urn.clone();
        let mut state = wanted.state.clone();
        state.id = ResourceId::Known(wanted.state.import_id.clone());
        state.refresh_before_update = false;
        let op = if old.is_some() {
            let fate = self.fate_mut(&urn);
            fate.deleted = false;
            fate.replaced = true;
            StepOp::ImportReplacement
        } else {
            StepOp::Import
        };
        let step = Plan::new(op, &urn)
            .old(old)
            .new_state(state)
            .way(Way::CreateFirst);
        let mut steps = vec![step.clone()];
        if old.is_some() {
            steps.push(Plan {
                op: StepOp::Replace,
                ..step
            });
        }
        if !self.refers_to_what_will_be_there(&steps) {
            return Ended::Cut;
        }
        self.chain(steps)
    }

    /// Part F: inputs after ignoreChanges and Check.
    fn check(
        &mut self,
        wanted: &mut Wanted,
        old: Option<usize>,
        included: bool,
    ) -> Result<(), String> {
        let old_state = old.map(|node| self.state(node).clone());
        if let Some(old) = &old_state {
            let mut inputs = wanted.raw.as_ref().clone();
            reset_ignored(&wanted.state, &mut inputs, &old.inputs);
            wanted.state.inputs = Arc::new(inputs);
        }
        if wanted.state.kind == ResourceKind::Component {
            return Ok(());
        }
        if !included {
            wanted.state.inputs = old_state.map(|old| old.inputs.clone()).unwrap_or_default();
            return Ok(());
        }
        let urn = &wanted.state.urn;
        let fresh = old_state.as_ref().is_none_or(|old| old.external)
            || self.fate(urn).deleted
            || self.is_replace_target(urn, old_state.as_deref());
        self.check_inputs(wanted, old_state.filter(|_| !fresh).as_deref())
    }

    /// Check, with the old inputs if there are any that count, else as if the resource were new.
    pub(super) fn check_inputs(
        &mut self,
        wanted: &mut Wanted,
        old: Option<&ResourceState>,
    ) -> Result<(), String> {
        if old.is_none() {
            wanted.state.inputs = wanted.raw.clone();
        }
        let urn = wanted.state.urn.clone();
        if self.is_config_unknown(wanted.state.provider.as_ref()) {
            return Ok(());
        }
        let is_provider = wanted.state.kind == ResourceKind::Provider;
        let (olds, news) = if is_provider {
            let olds = old.map(|old| visible(&old.inputs)).unwrap_or_default();
            (Some(olds), Arc::new(visible(&wanted.state.inputs)))
        } else {
            (
                old.map(|old| old.inputs.as_ref().clone()),
                wanted.state.inputs.clone(),
            )
        };
        let checked = Cloud::check(self.faults, urn.name(), olds.as_ref(), &news)
            .map_err(|reason| reason.to_string())?;
        let internal = wanted.state.inputs.get("__internal").cloned();
        wanted.state.inputs = match internal {
            Some(internal) => Arc::new(checked.as_ref().clone().with("__internal", internal)),
            None => checked,
        };
        Ok(())
    }

    /// Part G: the first case that applies.
    fn decide(
        &mut self,
        wanted: Wanted,
        old: Option<usize>,
        included: bool,
        imported: bool,
    ) -> Flow {
        let urn = wanted.state.urn.clone();
        if let (true, true, Some(node)) = (included, self.targets.is_constrained(), old) {
            self.pass_on_what_it_needs(node);
        }
        if let (true, Some(node)) = (self.fate(&urn).deleted, old) {
            return self.recreate(wanted, node);
        }
        if let Some(node) = old.filter(|node| self.state(*node).external) {
            self.coverage.reach("STEPGEN-06");
            let fate = self.fate_mut(&urn);
            fate.created = true;
            fate.replaced = true;
            let step = Plan::new(StepOp::CreateReplacement, &urn)
                .old(Some(node))
                .new_state(wanted.state.clone())
                .way(Way::CreateFirst);
            let marker = Plan {
                op: StepOp::Replace,
                ..step.clone()
            };
            return self.registered(&wanted, vec![step, marker]);
        }
        self.note_target(&wanted.state, included);
        match (old, included) {
            (Some(node), false) => self.untargeted_same(&wanted, node),
            (Some(node), true) => self.compare_and_act(wanted, node, imported),
            (None, false) => self.skip_create(&wanted.state),
            (None, true) => {
                self.fate_mut(&urn).created = true;
                let step = Plan::new(StepOp::Create, &urn).new_state(wanted.state.clone());
                self.registered(&wanted, vec![step])
            }
        }
    }

    /// Runs the steps of a registration and answers it.
    pub(super) fn registered(&mut self, wanted: &Wanted, steps: Vec<Plan>) -> Flow {
        if !self.refers_to_what_will_be_there(&steps) {
            return Flow::Cut;
        }
        match self.chain(steps) {
            Ended::Done(Some(node)) => {
                Self::answer(&self.state(node).clone(), Outcome::Success, false)
            }
            Ended::Done(None) | Ended::Cut => Flow::Cut,
            Ended::Failed(Some(node)) => {
                Self::answer(&self.state(node).clone(), Outcome::Failed, false)
            }
            Ended::Failed(None) => Self::answer(&wanted.state, Outcome::Failed, false),
            Ended::Skipped => Self::answer(&wanted.state, Outcome::Skipped, false),
        }
    }

    /// Case 1: the old object went for the replacement of something else.
    fn recreate(&mut self, wanted: Wanted, old: usize) -> Flow {
        self.coverage.reach("DBR-01");
        let urn = wanted.state.urn.clone();
        let fate = self.fate_mut(&urn);
        fate.deleted = false;
        fate.replaced = true;
        if !self.cut_short && !self.state(old).pending_replacement {
            // It could not be deleted.
            self.fate_mut(&urn).errored = true;
            return Self::answer(&wanted.state, Outcome::Skipped, false);
        }
        self.registered(&wanted, made_anew(&wanted, old).into())
    }

    pub(super) fn is_replace_target(&self, urn: &Urn, old: Option<&ResourceState>) -> bool {
        self.targets.is_replaced(urn) || old.is_some_and(|old| old.taint)
    }

    fn compare_and_act(&mut self, mut wanted: Wanted, node: usize, imported: bool) -> Flow {
        let old = self.state(node).clone();
        let urn = wanted.state.urn.clone();
        if !self.is_preview() && wanted.state.replacement_trigger.contains_unknowns() {
            self.coverage.reach("RTRIG-04");
            return self.refuse("the replacement trigger contains unknowns");
        }
        let fires = trigger_fires(&old.replacement_trigger, &wanted.state.replacement_trigger);
        let mut diff = match self.difference(&wanted, &old) {
            Ok(diff) => diff,
            Err(reason) => return self.refuse(reason),
        };
        self.apply_replace_on_changes(&wanted.state, &old, &mut diff);
        if fires {
            self.coverage.reach("RTRIG-01");
            diff.is_some = true;
            diff.replaces = true;
        }
        if diff.is_some || old.pending_replacement {
            if !diff.replaces && !old.pending_replacement {
                return self.update(&wanted, node);
            }
            return self.replace(&mut wanted, node, &diff);
        }
        if !old.init_errors.is_empty() {
            self.coverage.reach("STEPGEN-07");
            return self.update(&wanted, node);
        }
        self.fate_mut(&urn).same = true;
        if imported {
            self.coverage.reach("IMPORT-17");
            if self.cut_short && !self.was_answered(&urn) {
                return Flow::Cut;
            }
            let mut state = old.as_ref().clone();
            // The state keeps what was read, but for what the program says is secret.
            let inputs = Arc::make_mut(&mut state.inputs);
            for (key, value) in wanted.state.inputs.iter() {
                if let Some(read) = inputs.get_mut(key.as_str())
                    && value.contains_secrets()
                    && !read.is_secret()
                {
                    let is_same = value.without_secrets() == read.without_secrets();
                    *read = if is_same {
                        value.clone()
                    } else {
                        Value::secret(read.clone())
                    };
                }
            }
            self.hide_secrets(&mut state);
            let flow = Self::answer(&state, Outcome::Success, false);
            self.nodes[node].state = Arc::new(state);
            return flow;
        }
        let step = Plan::new(StepOp::Same, &urn)
            .old(Some(node))
            .new_state(wanted.state.clone());
        self.registered(&wanted, vec![step])
    }

    fn update(&mut self, wanted: &Wanted, node: usize) -> Flow {
        let urn = wanted.state.urn.clone();
        self.fate_mut(&urn).updated = true;
        let step = Plan::new(StepOp::Update, &urn)
            .old(Some(node))
            .new_state(wanted.state.clone());
        self.registered(wanted, vec![step])
    }

    /// The diff in the order of 4.6.
    fn difference(&mut self, wanted: &Wanted, old: &ResourceState) -> Result<Difference, String> {
        let new = &wanted.state;
        let replace = |key: &str| {
            Ok(Difference {
                is_some: true,
                replaces: true,
                keys: BTreeSet::from([key.to_owned()]),
                delete_first: false,
            })
        };
        if self.is_replace_target(&new.urn, Some(old)) {
            self.coverage
                .reach(if old.taint { "TAINT-01" } else { "TARGET-21" });
            return replace("id");
        }
        if new.replace_with.iter().any(|urn| self.fate(urn).replaced) {
            self.coverage.reach("RWITH-01");
            return replace("replaceWith");
        }
        if new
            .deleted_with
            .as_ref()
            .is_some_and(|urn| self.fate(urn).replaced)
        {
            self.coverage.reach("DWREPL-03");
            return replace("deletedWith");
        }
        if self.provider_changed(old.provider.as_ref(), new.provider.as_ref())? {
            return replace("provider");
        }
        if self.operation.flags.legacy_diff && old.inputs == new.inputs {
            return Ok(Difference::default());
        }
        match new.kind {
            ResourceKind::Component => Ok(Difference {
                is_some: old.inputs != new.inputs,
                ..Difference::default()
            }),
            ResourceKind::Provider => {
                let (before, after) = (visible(&old.inputs), visible(&new.inputs));
                let diff = Cloud::diff(self.faults, new.urn.name(), &before, &after)
                    .map_err(|error| error.to_string())?;
                let mut result = told(&diff);
                if diff.changes == DiffChanges::Unknown {
                    result.is_some = old.outputs.as_ref() != &after;
                }
                Ok(result)
            }
            ResourceKind::Custom => {
                if self.is_config_unknown(new.provider.as_ref()) {
                    self.coverage.reach("PULUMI-03");
                    return Ok(Difference {
                        is_some: true,
                        ..Difference::default()
                    });
                }
                self.managed_difference(&new.urn, old, &new.inputs)
            }
        }
    }

    fn managed_difference(
        &mut self,
        urn: &Urn,
        old: &ResourceState,
        new: &PropertyMap,
    ) -> Result<Difference, String> {
        let diff = Cloud::diff(self.faults, urn.name(), &old.inputs, new)
            .map_err(|error| error.to_string())?;
        let mut result = told(&diff);
        if diff.changes == DiffChanges::Unknown {
            self.coverage.reach("PULUMI-49");
            let (before, after) = (old.inputs.without_secrets(), new.without_secrets());
            let keys = before.keys().chain(after.keys());
            result.keys = keys
                .filter(|key| before.get(key.as_str()) != after.get(key.as_str()))
                .map(|key| key.as_str().to_owned())
                .collect();
            result.is_some = !result.keys.is_empty();
        }
        Ok(result)
    }

    fn provider_changed(
        &mut self,
        before: Option<&ProviderRef>,
        after: Option<&ProviderRef>,
    ) -> Result<bool, String> {
        let (before, after) = match (before, after) {
            (None, None) => return Ok(false),
            (Some(before), Some(after)) => (before, after),
            _ => {
                self.coverage.reach("ALIAS-06");
                return Ok(true);
            }
        };
        let is_renamed = self.aliased.get(before.urn()) == Some(after.urn());
        if before == after || (is_renamed && before.id() == after.id()) {
            return Ok(false);
        }
        let Some(old) = self.provider_entry(before) else {
            return Ok(false);
        };
        let Some(new) = self
            .news
            .get(after.urn())
            .map(|node| self.state(*node).clone())
        else {
            return Ok(false);
        };
        self.coverage.reach("PROV-10");
        let diff = Cloud::diff(
            self.faults,
            after.urn().name(),
            &visible(&old.inputs),
            &visible(&new.inputs),
        )
        .map_err(|error| error.to_string())?;
        Ok(diff.is_replace())
    }

    /// The state of a provider in the state before.
    fn provider_entry(&self, reference: &ProviderRef) -> Option<Arc<ResourceState>> {
        let text = reference.to_string();
        self.nodes[..self.olds]
            .iter()
            .map(|node| &node.state)
            .find(|state| {
                state
                    .as_provider_ref()
                    .is_some_and(|other| other.to_string() == text)
            })
            .cloned()
    }

    /// Whether a provider was registered, or can be had from the state before.
    fn provider_is_there(&self, reference: &ProviderRef) -> bool {
        let registered = self.news.get(reference.urn()).is_some_and(|node| {
            let state = self.state(*node);
            self.is_preview() || state.as_provider_ref().as_ref() == Some(reference)
        });
        registered || self.provider_entry(reference).is_some()
    }

    /// In previews: whether the provider cannot be configured yet, and is not asked.
    pub(super) fn is_config_unknown(&self, reference: Option<&ProviderRef>) -> bool {
        let Some(node) = reference.and_then(|reference| self.news.get(reference.urn())) else {
            return false;
        };
        let inputs = &self.state(*node).inputs;
        self.is_preview()
            && inputs
                .iter()
                .any(|(key, value)| key.as_str() != "version" && value.contains_unknowns())
    }

    pub(super) fn apply_replace_on_changes(
        &mut self,
        new: &ResourceState,
        old: &ResourceState,
        diff: &mut Difference,
    ) {
        let listed = |key: &str| {
            new.replace_on_changes
                .iter()
                .any(|path| path == "*" || path == key)
        };
        if diff.is_some && diff.keys.iter().any(|key| listed(key)) {
            self.coverage.reach("PULUMI-21");
            diff.replaces = true;
        }
        if !old.init_errors.is_empty() && listed("#initerror") {
            diff.is_some = true;
            diff.replaces = true;
        }
    }
}

/// The same state under another name.
pub(super) fn renamed(state: &ResourceState, urn: &Urn) -> ResourceState {
    let mut state = state.clone();
    if state.urn != *urn {
        state.type_token = urn.type_token();
        state.aliases = vec![std::mem::replace(&mut state.urn, urn.clone())];
    }
    state
}

pub(super) fn told(diff: &DiffResult) -> Difference {
    let detailed = diff.detailed_diff.iter().flatten();
    Difference {
        is_some: diff.changes == DiffChanges::Some,
        replaces: diff.changes == DiffChanges::Some && diff.is_replace(),
        keys: detailed
            .map(|(key, _)| key.to_string())
            .chain(diff.changed_keys.iter().map(ToString::to_string))
            .collect(),
        delete_first: diff.delete_before_replace,
    }
}

/// ignoreChanges: the property is what it was.
fn reset_ignored(state: &ResourceState, inputs: &mut PropertyMap, old: &PropertyMap) {
    for path in &state.ignore_changes {
        let keys: Vec<String> = if path == "*" {
            let all = inputs.keys().chain(old.keys());
            all.map(|key| key.as_str().to_owned()).collect()
        } else {
            vec![path.to_string()]
        };
        for key in keys {
            match old.get(&key) {
                Some(value) => drop(inputs.insert(key.as_str(), value.clone())),
                None => drop(inputs.remove(&key)),
            }
        }
    }
}

fn trigger_fires(old: &Value, new: &Value) -> bool {
    let (old, new) = (old.without_secrets(), new.without_secrets());
    if old.contains_unknowns() || new.contains_unknowns() {
        return true;
    }
    !old.is_null() && !new.is_null() && old != new
}
