//! Views (`engine.md` 8.2): parts of an object that its provider reports during the steps of the owner.
//!
//! 1. A provider gets the existing views, and reports steps of them. The steps are ignored if a view has the URN of
//!    another owner's view.
//! 2. When the owner's step ends, the reported steps apply in their order: after the owner's step, or before it for a
//!    deletion.
//! 3. Other views follow the owner: they are the same if it is, are deleted with it, and wait for deletion with it.
//! 4. A failed view step fails the owner, whose new state is recorded nevertheless.
//!
//! [`Views::due`] has the predicted displays of views; the displays of the run are compared with it before the next
//! event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_resource::{ResourceKind, ResourceState, StepOp, Urn, View, ViewStatus, ViewStep};
use plumb_value::PropertyMap;

use super::steps::{Plan, Way};
use super::{Model, Node, illegal};
use crate::story::{CallKind, PROJECT, STACK, Verb};
use crate::world::views::{PART, told};
use crate::world::{ViewMoment, Violation};

/// Display of a view step.
type Shown = (ViewMoment, Urn, StepOp);

/// Views of a run, apart from the views of each entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Views {
    /// Owners of views, by URN.
    owners: BTreeMap<Urn, Urn>,
    /// Live views in the old state.
    before: BTreeSet<Urn>,
    /// Reported steps of a running step, by its number.
    told: BTreeMap<usize, Vec<ViewStep>>,
    /// Whether the reported steps apply.
    is_heard: bool,
    due: Vec<Shown>,
    shown: Vec<Shown>,
}

/// Views of an entry during the end of its step.
struct Owner {
    node: usize,
    urn: Urn,
    is_read: bool,
    views: Vec<Arc<ResourceState>>,
    /// Views that were processed.
    done: BTreeSet<(Urn, bool)>,
    failed: BTreeSet<Urn>,
}

/// Removes the views from a state, and assigns each to its owner: the live entry, or the one pending deletion.
pub(super) fn given_to_owners(states: Vec<Arc<ResourceState>>, nodes: &mut Vec<Node>) {
    for state in states {
        let Some(owner) = &state.view_of else {
            nodes.push(Node::of(state));
            continue;
        };
        let owned = |node: &&mut Node| node.state.urn == *owner;
        let alike = nodes
            .iter()
            .any(|it| it.state.urn == *owner && it.state.delete == state.delete);
        let mut owners = nodes.iter_mut().rev().filter(owned);
        if let Some(node) = owners.find(|it| !alike || it.state.delete == state.delete) {
            node.views.push(state);
        }
    }
}

fn urn_of(owner: &Urn, name: &str) -> Urn {
    Urn::new(STACK, PROJECT, owner.qualified_type(), PART, name)
}

/// View in the form that a provider gets.
fn known(state: &ResourceState) -> View {
    View {
        type_token: state.type_token.clone(),
        name: state.urn.name().into(),
        inputs: state.inputs.clone(),
        outputs: state.outputs.clone(),
    }
}

fn removes(op: StepOp) -> bool {
    matches!(op, StepOp::Delete | StepOp::DeleteReplaced)
}

/// Entry whose views a step processes; a replaced entry keeps its own.
fn before(step: &Plan) -> Option<usize> {
    let goes_on = matches!(
        step.op,
        StepOp::Same | StepOp::Update | StepOp::Refresh | StepOp::Read
    );
    step.old
        .filter(|_| goes_on || super::chains::is_delete(step.op))
}

impl Model<'_> {
    /// Determines the owners of the URNs in a new base.
    pub(super) fn name_views(&mut self) {
        let views = self.nodes.iter().flat_map(|node| &node.views);
        let owned = views
            .clone()
            .filter_map(|it| Some((it.urn.clone(), it.view_of.clone()?)));
        self.views.owners = owned.collect();
        let live = views.filter(|it| !it.delete).map(|it| it.urn.clone());
        self.views.before = live.collect();
    }

    pub(super) fn view_shown(&mut self, shown: Shown) {
        self.views.shown.push(shown);
    }

    /// Checks that exactly the predicted displays happened.
    pub(super) fn views_are_shown(&mut self) -> Result<(), Violation> {
        let (due, shown) = (
            std::mem::take(&mut self.views.due),
            std::mem::take(&mut self.views.shown),
        );
        let sorted = |list: &[Shown]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        if sorted(&due) == sorted(&shown) {
            return Ok(());
        }
        Err(illegal(format!(
            "of views is shown {shown:?}, the model has {due:?}"
        )))
    }

    /// View steps that the provider of a running step must report.
    fn told_of(&self, step: &Plan) -> Vec<ViewStep> {
        let node = before(step);
        let views = node.map(|node| self.nodes[node].views.iter().map(|it| known(it)));
        let views: Vec<View> = views.into_iter().flatten().collect();
        let old = step.old.map(|old| self.state(old).id.clone());
        let (kind, after) = match (step.op, &step.new) {
            (StepOp::Create | StepOp::CreateReplacement, Some(new)) => {
                (CallKind::Create, Some(&new.inputs))
            }
            (StepOp::Update, Some(new)) => (CallKind::Update, Some(&new.inputs)),
            (StepOp::Delete | StepOp::DeleteReplaced, _) => (CallKind::Delete, None),
            (_, new) => {
                let id = new.as_ref().map(|new| new.id.clone()).or(old);
                let object = id.and_then(|id| self.cloud.objects().get(id.as_str()));
                (CallKind::Read, object)
            }
        };
        let after = after.map(AsRef::<PropertyMap>::as_ref);
        told(self.faults, kind, step.urn.name(), &views, after)
    }

    /// Handles view steps reported by a provider during a step.
    pub(super) fn tells(&mut self, number: usize, steps: &[ViewStep]) -> Result<(), Violation> {
        let chain = self.chain_running(number);
        let Some(step) = chain.and_then(|at| self.next_step(at)) else {
            return Err(illegal("views are told of a step that does not run"));
        };
        let sorted = |steps: &[ViewStep]| {
            let mut steps: Vec<_> = steps.iter().map(|it| format!("{it:?}")).collect();
            steps.sort();
            steps
        };
        let expected = self.told_of(&step);
        if sorted(&expected) != sorted(steps) {
            return Err(illegal(format!(
                "told is {steps:?}, the model has {expected:?}"
            )));
        }
        let is_read = step.op == StepOp::Refresh;
        // The resource keeps its former URN if the step fails.
        let former = before(&step).map(|node| self.state(node).urn.clone());
        let owner = former.clone().filter(|_| is_read);
        let owner = owner.unwrap_or_else(|| step.urn.clone());
        let names: BTreeSet<Urn> = former.into_iter().chain([owner.clone()]).collect();
        let is_free = |urn: &Urn| {
            let other = self.views.owners.get(urn);
            other.is_none_or(|other| self.current(other) == self.current(&owner))
        };
        let mut told = steps
            .iter()
            .flat_map(|it| names.iter().map(|name| urn_of(name, &it.name)));
        self.views.is_heard = told.all(|urn| is_free(&urn));
        if !self.views.is_heard {
            return Ok(());
        }
        self.coverage.reach("VIEW-01");
        for step in steps {
            let urn = urn_of(&owner, &step.name);
            let op = if is_read { StepOp::Refresh } else { step.op };
            self.views.due.push((ViewMoment::Began, urn, op));
            let names = names.iter();
            let named = names.map(|name| (urn_of(name, &step.name), name.clone()));
            self.views.owners.extend(named);
        }
        self.views.told.insert(number, steps.to_vec());
        Ok(())
    }

    pub(super) fn heard(&mut self, is_heard: bool) -> Result<(), Violation> {
        if is_heard == self.views.is_heard {
            return Ok(());
        }
        Err(illegal(format!("that views are heard of is {is_heard}")))
    }

    fn owner(&mut self, node: usize, step: &Plan) -> Owner {
        Owner {
            node,
            urn: self.state(node).urn.clone(),
            is_read: step.op == StepOp::Refresh,
            views: std::mem::take(&mut self.nodes[node].views),
            done: BTreeSet::new(),
            failed: BTreeSet::new(),
        }
    }

    /// Applies view steps after the end of the step with this number. Returns false if one of them failed.
    pub(super) fn views_follow(
        &mut self,
        number: usize,
        step: &Plan,
        result: Result<Option<usize>, Option<usize>>,
    ) -> Result<bool, Violation> {
        let told = self.views.told.remove(&number).unwrap_or_default();
        let goes = super::chains::is_delete(step.op) || step.op == StepOp::Refresh;
        match (result, before(step)) {
            (Err(None), before) => Ok(self.views_of_failed(step, before, &told)),
            // The owner was deleted, and its views before it.
            (Ok(None), Some(node)) if goes => {
                let mut owner = self.owner(node, step);
                self.do_what_was_told(&mut owner, &told);
                self.views_go(&owner);
                self.views_are_shown()?;
                Ok(owner.failed.is_empty())
            }
            (Ok(None), _) => Ok(true),
            (Ok(Some(node)) | Err(Some(node)), before) => {
                self.views_are_shown()?;
                match before.or(step.old) {
                    Some(old) if before.is_none() => self.retire_views(old),
                    Some(old) if old != node => {
                        self.nodes[node].views = std::mem::take(&mut self.nodes[old].views);
                    }
                    _ => {}
                }
                let mut owner = self.owner(node, step);
                let former = before.map(|node| self.state(node).urn.clone());
                if let Some(former) = former.filter(|former| *former != owner.urn) {
                    self.forget(&former, &told);
                }
                self.do_what_was_told(&mut owner, &told);
                let is_destroy = self.operation.verb == Verb::Destroy;
                let stays = step.op == StepOp::Same && step.way != Way::Untargeted && !is_destroy;
                if stays || self.operation.verb == Verb::Import {
                    self.views_stay(&mut owner);
                }
                self.nodes[node].views = owner.views;
                Ok(owner.failed.is_empty())
            }
        }
    }

    /// Handles a failed call, also before a retry: reported view steps apply, unless there is no owner.
    fn views_of_failed(&mut self, step: &Plan, node: Option<usize>, told: &[ViewStep]) -> bool {
        let Some(node) = node else {
            self.forget(&step.urn, told);
            for it in told {
                self.show_failed(urn_of(&step.urn, &it.name), it.op);
            }
            return true;
        };
        let mut owner = self.owner(node, step);
        self.do_what_was_told(&mut owner, told);
        self.nodes[node].views = owner.views;
        owner.failed.is_empty()
    }

    /// Forgets the owner under a URN that it did not get, and its views.
    fn forget(&mut self, owner: &Urn, told: &[ViewStep]) {
        for it in told {
            let urn = urn_of(owner, &it.name);
            if !self.views.before.contains(&urn) {
                self.views.owners.remove(&urn);
            }
        }
    }

    /// Handles a retried call.
    pub(super) fn views_of_attempt(&mut self, number: usize, step: &Plan) {
        let told = self.views.told.remove(&number).unwrap_or_default();
        self.views_of_failed(step, before(step), &told);
    }

    fn show_failed(&mut self, urn: Urn, op: StepOp) {
        if !self.is_preview() {
            self.views.due.push((ViewMoment::Failed, urn, op));
        }
    }

    /// Displays and counts the end of a view step. Views of an owner that is read count as refreshed, except in a refresh
    /// operation.
    fn show_done(&mut self, owner: &Owner, urn: &Urn, op: StepOp) {
        let is_refresh = owner.is_read && self.operation.verb != Verb::Refresh;
        let op = if is_refresh { StepOp::Refresh } else { op };
        self.views.due.push((ViewMoment::Ended, urn.clone(), op));
        self.count(urn, op);
    }

    fn do_what_was_told(&mut self, owner: &mut Owner, told: &[ViewStep]) {
        for step in told {
            let urn = urn_of(&owner.urn, &step.name);
            if step.error.is_some() {
                self.coverage.reach("VIEW-02");
                self.show_failed(urn.clone(), step.op);
                self.fail(&owner.urn.clone(), "a view failed");
                owner.failed.insert(urn.clone());
                if step.status != ViewStatus::Partial {
                    continue;
                }
            } else {
                self.show_done(owner, &urn, step.op);
            }
            self.do_step(owner, step, urn);
        }
    }

    fn do_step(&mut self, owner: &mut Owner, step: &ViewStep, urn: Urn) {
        if step.op == StepOp::Replace {
            return;
        }
        let is_it = |it: &&Arc<ResourceState>| it.urn.name() == step.name;
        let named = || owner.views.iter().filter(is_it);
        let may_wait = removes(step.op) || step.old.is_some();
        let other = named().next().filter(|_| may_wait);
        let is_meant = |it: &&Arc<ResourceState>| it.delete == (step.op == StepOp::DeleteReplaced);
        let old = named().find(is_meant).or(other).cloned();
        if removes(step.op) {
            self.coverage.reach("VIEW-03");
            if let Some(old) = &old {
                self.drop_view(owner, old);
            }
            return;
        }
        if step.op == StepOp::CreateReplacement {
            let before = if old.is_some() { "VIEW-12" } else { "VIEW-11" };
            self.coverage.reach(before);
            for replaced in owner
                .views
                .iter_mut()
                .filter(|it| Some(&**it) == old.as_ref())
            {
                Arc::make_mut(replaced).delete = true;
                owner.done.insert((replaced.urn.clone(), true));
            }
        }
        let old = old.filter(|_| step.op != StepOp::CreateReplacement);
        let shared = old.as_deref();
        let inputs = step
            .new
            .as_ref()
            .map(|new| (new.inputs.clone(), new.outputs.clone()));
        let inputs = inputs.or_else(|| Some((shared?.inputs.clone(), shared?.outputs.clone())));
        let (inputs, outputs) = inputs.unwrap_or_default();
        let former = shared.filter(|old| old.urn != urn);
        let is_due = self.state(owner.node).delete;
        let new = ResourceState {
            inputs,
            outputs,
            parent: Some(owner.urn.clone()),
            view_of: Some(owner.urn.clone()),
            aliases: former.iter().map(|old| old.urn.clone()).collect(),
            delete: is_due || shared.is_some_and(|old| old.delete),
            ..ResourceState::new(urn, ResourceKind::Component)
        };
        self.put_view(owner, old.as_ref(), new);
    }

    fn put_view(
        &mut self,
        owner: &mut Owner,
        old: Option<&Arc<ResourceState>>,
        new: ResourceState,
    ) {
        owner.done.insert((new.urn.clone(), new.delete));
        if old.is_none_or(|old| **old != new) {
            self.views.owners.insert(new.urn.clone(), owner.urn.clone());
        }
        owner.views.retain(|it| Some(it) != old);
        owner.views.push(Arc::new(new));
    }

    fn drop_view(&mut self, owner: &mut Owner, view: &Arc<ResourceState>) {
        owner.views.retain(|it| it != view);
        if !view.delete {
            self.views.owners.remove(&view.urn);
        }
    }

    /// Deletes the owner's remaining views.
    fn views_go(&mut self, owner: &Owner) {
        for view in &owner.views {
            let urn = &view.urn;
            if !owner.failed.contains(urn) {
                let op = if view.delete && !self.is_preview() {
                    StepOp::DeleteReplaced
                } else {
                    StepOp::Delete
                };
                let begun = if owner.is_read { StepOp::Refresh } else { op };
                self.views.due.push((ViewMoment::Began, urn.clone(), begun));
                self.show_done(owner, urn, op);
            }
            if !view.delete {
                self.views.owners.remove(urn);
            }
        }
    }

    /// Keeps the views of an unchanged owner, under its current URN.
    fn views_stay(&mut self, owner: &mut Owner) {
        for view in owner.views.clone() {
            if view.delete || owner.done.contains(&(view.urn.clone(), false)) {
                continue;
            }
            let urn = urn_of(&owner.urn, view.urn.name());
            self.views
                .due
                .push((ViewMoment::Began, urn.clone(), StepOp::Same));
            self.show_done(owner, &urn, StepOp::Same);
            let aliases = (urn != view.urn).then(|| view.urn.clone());
            let new = ResourceState {
                urn,
                parent: Some(owner.urn.clone()),
                view_of: Some(owner.urn.clone()),
                aliases: aliases.into_iter().collect(),
                ..view.as_ref().clone()
            };
            self.put_view(owner, Some(&view), new);
        }
    }

    /// Marks the views of a replaced entry as pending deletion.
    fn retire_views(&mut self, old: usize) {
        let old = &mut self.nodes[old];
        for view in &mut old.views {
            Arc::make_mut(view).delete = true;
        }
        if !old.state.delete {
            old.views.clear();
        }
    }
}
