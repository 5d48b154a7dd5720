//! Same, create, update or replace (`engine.md` 4.3, 4.6, 4.9).

use std::sync::Arc;

use plumb_deploy::request::Outcome;
use plumb_resource::{ProviderRef, ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::Value;

use super::Model;
use super::chains::Owner;
use super::difference::Difference;
use super::monitor::Wanted;
use super::registrations::{Registration, Stage};
use super::replace::{made_anew, made_first};
use super::steps::{Plan, Way};
use crate::story::{Res, Verb};

impl Model<'_> {
    /// Looks up the old state of a registration; if the program runs during a refresh, the old state is read first.
    pub(super) fn arrive(&mut self, res: &Res, mut registration: Registration) {
        let wanted = &mut registration.wanted;
        let urn = wanted.state.urn.clone();
        let parent = wanted.state.parent.clone();
        let (found, conflict) = self.find_old(&urn, res, parent.as_ref());
        if let Some(text) = conflict {
            self.reason(text);
            registration.stage = Stage::Over;
            self.registrations.push(registration);
            return;
        }
        // The resource was kept unchanged for a reference to it before; the registration takes precedence.
        self.supersede(&urn);
        let former = found.as_ref().and_then(|found| found.former.clone());
        if let Some(former) = &former {
            self.supersede(former);
        }
        self.fate_mut(&urn).seen = true;
        registration.old = found.map(|found| found.node);
        if let Some(node) = registration.old {
            wanted.state.refresh_before_update = self.state(node).refresh_before_update;
        }
        wanted.state.aliases = former.into_iter().collect();
        registration.included = self.is_included(&wanted.state);
        let old = registration
            .old
            .filter(|_| self.refreshes_in_program())
            .filter(|node| self.is_selected(self.state(*node)));
        let number = self.registrations.len();
        self.registrations.push(registration);
        match old {
            Some(node) => {
                self.registrations[number].stage = Stage::Refreshing;
                let read = Plan::new(StepOp::Refresh, &urn).old(Some(node));
                self.plan(Owner::Registration(number), vec![read]);
            }
            None => self.mode_special(number),
        }
    }

    fn supersede(&mut self, urn: &Urn) {
        self.fate_mut(urn).same = false;
    }

    /// Refuses a decision, which ends the run.
    pub(super) fn refuse(&mut self, number: usize, text: impl Into<String>) {
        self.reason(text);
        self.registrations[number].stage = Stage::Over;
    }

    /// Part C: refresh and destroy runs do not apply the registration; other runs continue with provider and import (D,
    /// E).
    pub(super) fn mode_special(&mut self, number: usize) {
        let Registration { wanted, old, .. } = self.registrations[number].clone();
        let managed = wanted.state.kind == ResourceKind::Custom;
        // A destroy does not create providers either.
        let destroys = self.operation.verb == Verb::Destroy;
        let provider = wanted.state.provider.as_ref().filter(|_| destroys);
        let on_skipped = wanted
            .state
            .references()
            .chain(provider.map(ProviderRef::urn))
            .any(|urn| self.fate(urn).skipped_create);
        // If the run continued after a failure, the provider may be missing.
        let on_skipped = on_skipped || provider.is_some_and(|it| self.fate(it.urn()).errored);
        let urn = wanted.state.urn.clone();
        match (self.operation.verb, old) {
            (Verb::Refresh, Some(node))
                if managed || on_skipped || self.leads_to(&wanted.state, &urn) =>
            {
                self.fate_mut(&urn).refreshed = true;
                let node = self.rename(node, &urn, wanted.state.parent.as_ref());
                self.news.insert(urn, node);
                let state = self.state(node).clone();
                self.answer(number, Some(&state), Outcome::Success);
            }
            (Verb::Destroy, Some(node)) if on_skipped || self.leads_to(&wanted.state, &urn) => {
                self.fate_mut(&urn).kept_on_skipped = on_skipped;
                self.keep(number, node);
            }
            (Verb::Destroy, Some(node)) if managed => {
                self.coverage.reach("DESTROY-01");
                self.fate_mut(&urn).same = true;
                let state = ResourceState {
                    inputs: self.state(node).inputs.clone(),
                    ..wanted.state
                };
                let step = Plan::new(StepOp::Same, &urn)
                    .old(Some(node))
                    .new_state(state);
                self.proceed(number, vec![step]);
            }
            (Verb::Refresh | Verb::Destroy, None) if managed || on_skipped => {
                self.skip_create(number);
            }
            _ => self.find_provider(number),
        }
    }

    fn find_provider(&mut self, number: usize) {
        let Registration {
            wanted,
            old,
            included,
            ..
        } = self.registrations[number].clone();
        if let Some(provider) = &wanted.state.provider
            && !self.provider_is_there(provider)
        {
            let text = format!("{}: unknown provider", wanted.state.urn.name());
            return self.refuse(number, text);
        }
        if let Some(provider) = &wanted.state.provider {
            self.pass_provider_on(provider);
        }
        if included && self.wants_import(&wanted, old) {
            self.import(number);
        }
    }

    /// Renames an entry, if its URN changed. It takes its new parent if that is there.
    pub(super) fn rename(&mut self, node: usize, urn: &Urn, parent: Option<&Urn>) -> usize {
        if self.state(node).urn == *urn {
            return node;
        }
        self.nodes[node].gone = true;
        let mut state = renamed(self.state(node), urn);
        if parent.is_none_or(|parent| self.news.contains_key(parent)) {
            state.parent = parent.cloned();
        }
        let views = std::mem::take(&mut self.nodes[node].views);
        let node = self.add_as_it_is(state);
        self.nodes[node].views = views;
        node
    }

    /// Skips a creation: the program continues with unknown outputs, and the state does not change.
    pub(super) fn skip_create(&mut self, number: usize) {
        self.coverage.reach("TARGET-13");
        let state = self.registrations[number].wanted.state.clone();
        let fate = self.fate_mut(&state.urn);
        fate.same = true;
        fate.skipped_create = true;
        let step = Plan::new(StepOp::Same, &state.urn.clone())
            .new_state(state)
            .way(Way::LeftOut);
        self.plan(Owner::Registration(number), vec![step]);
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

    fn import(&mut self, number: usize) {
        self.coverage.reach("IMPORT-01");
        let Registration { wanted, old, .. } = self.registrations[number].clone();
        let urn = wanted.state.urn.clone();
        let state = ResourceState {
            id: ResourceId::Known(wanted.state.import_id.clone()),
            refresh_before_update: false,
            ..wanted.state
        };
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
        let marker = old.map(|_| Plan {
            op: StepOp::Replace,
            ..step.clone()
        });
        self.registrations[number].stage = Stage::Importing;
        self.proceed(number, [step].into_iter().chain(marker).collect());
    }

    /// Continues after Check: keeps the entries that the inputs refer to, and compares.
    pub(super) fn weigh(&mut self, number: usize) {
        let judged = self
            .check(number)
            .and_then(|()| self.put_to_policies(number));
        if let Err(reason) = judged {
            return self.refuse(number, reason);
        }
        let Registration {
            wanted,
            old,
            included,
            ..
        } = self.registrations[number].clone();
        if included {
            self.pass_on_references(&wanted.state);
        }
        let is_deleted = self.is_deleted(number);
        let is_external = old.is_some_and(|node| self.state(node).external);
        if !is_deleted && !is_external {
            self.note_target(&wanted.state, included);
        }
        let compares = !is_deleted && !is_external && included;
        let diff = match old.filter(|_| compares) {
            None => None,
            Some(node) => match self.compare(&wanted, node) {
                Ok(diff) => Some(diff),
                Err(reason) => return self.refuse(number, reason),
            },
        };
        self.registrations[number].stage = Stage::Weighed(diff);
    }

    /// Whether the old object was deleted for the replacement of another resource. A renamed resource is compared if it
    /// is targeted.
    fn is_deleted(&self, number: usize) -> bool {
        let registration = &self.registrations[number];
        registration.old.is_some_and(|node| {
            let by_name = self.fate(&registration.wanted.state.urn).deleted;
            by_name || (!registration.included && self.pending_deletes.contains(&node))
        })
    }

    /// Part G: applies the first matching case.
    pub(super) fn decide(&mut self, number: usize, diff: Option<Difference>) {
        let Registration {
            wanted,
            old,
            included,
            imported,
            ..
        } = self.registrations[number].clone();
        let urn = wanted.state.urn.clone();
        if let (true, Some(node)) = (self.is_deleted(number), old) {
            return self.recreate(number, node);
        }
        match (old, diff) {
            (Some(node), _) if self.state(node).external => self.take_ownership(number, node),
            (Some(node), _) if !included => self.untargeted_same(number, node),
            (Some(node), Some(diff)) => self.act(number, node, imported, &diff),
            (Some(_), None) => self.refuse(number, "it is not compared"),
            (None, _) if !included => self.skip_create(number),
            (None, _) => {
                self.fate_mut(&urn).created = true;
                let step = Plan::new(StepOp::Create, &urn).new_state(wanted.state);
                self.proceed(number, vec![step]);
            }
        }
    }

    /// Starts the steps of a registration, if all of its references can be resolved.
    pub(super) fn proceed(&mut self, number: usize, steps: Vec<Plan>) {
        if self.refers_to_what_will_be_there(&steps) {
            self.plan(Owner::Registration(number), steps);
        } else {
            self.registrations[number].stage = Stage::Over;
        }
    }

    fn take_ownership(&mut self, number: usize, node: usize) {
        self.coverage.reach("STEPGEN-06");
        let state = self.registrations[number].wanted.state.clone();
        let fate = self.fate_mut(&state.urn);
        fate.created = true;
        self.proceed(number, made_first(&state, node).into());
    }

    /// Case 1: the old object was deleted for the replacement of another resource.
    fn recreate(&mut self, number: usize, old: usize) {
        self.coverage.reach("DBR-01");
        if let Err(reason) = self.check_anew(number) {
            return self.refuse(number, reason);
        }
        let state = self.registrations[number].wanted.state.clone();
        let fate = self.fate_mut(&state.urn);
        fate.deleted = false;
        fate.replaced = true;
        // Its dependents are no longer deleted with it.
        let former = self.state(old).urn.clone();
        self.deleting.remove(&former);
        self.proceed(number, made_anew(&state, old).into());
    }

    fn act(&mut self, number: usize, node: usize, imported: bool, diff: &Difference) {
        let old = self.state(node).clone();
        let is_gone = old.pending_replacement || self.pending_deletes.contains(&node);
        if diff.is_some && diff.replaces || is_gone {
            return self.replace(number, node, diff);
        }
        let state = self.registrations[number].wanted.state.clone();
        let urn = state.urn.clone();
        let retries = !old.init_errors.is_empty();
        if retries {
            self.coverage.reach("STEPGEN-07");
        }
        if diff.is_some || retries {
            self.fate_mut(&urn).updated = true;
            let step = Plan::new(StepOp::Update, &urn).old(Some(node));
            return self.proceed(number, vec![step.new_state(state)]);
        }
        self.fate_mut(&urn).same = true;
        if imported {
            return self.stay_imported(number, node);
        }
        let step = Plan::new(StepOp::Same, &urn).old(Some(node));
        self.proceed(number, vec![step.new_state(state)]);
    }

    /// Keeps the inputs and outputs that were read for an imported object, except for secrets given by the program
    /// (IMPORT-17).
    fn stay_imported(&mut self, number: usize, node: usize) {
        self.coverage.reach("IMPORT-17");
        let mut state = self.state(node).as_ref().clone();
        let inputs = Arc::make_mut(&mut state.inputs);
        for (key, value) in self.registrations[number].wanted.state.inputs.iter() {
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
        self.nodes[node].state = Arc::new(state.clone());
        self.answer(number, Some(&state), Outcome::Success);
    }

    pub(super) fn is_replace_target(&self, urn: &Urn, old: Option<&ResourceState>) -> bool {
        self.targets.is_replaced(urn) || old.is_some_and(|old| old.taint)
    }
}

/// Copy of a state with another URN.
pub(super) fn renamed(state: &ResourceState, urn: &Urn) -> ResourceState {
    let mut state = state.clone();
    if state.urn != *urn {
        state.type_token = urn.type_token();
        state.aliases = [std::mem::replace(&mut state.urn, urn.clone())].into();
    }
    state
}
