//! The step of an owner is done: its views follow.

use std::sync::Arc;

use ecow::{EcoString, eco_vec};
use plumb_events::FailedStatus;
use plumb_resource::{ResourceState, StepOp, Urn, ViewStatus, ViewStep};
use plumb_state::journal::{Entry, EntryKind, OperationId, Slot};

use super::publish::is_removal;
use super::{owner_before, replaced_by, view_state};
use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::ids::Fence;
use crate::setup::Operation;
use crate::status::Stage;
use crate::step::{Step, StepKind};

/// How the views of a step fared.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Followed {
    /// The journal entry that must be durable before anybody hears of them.
    pub(crate) fence: Fence,
    /// Whether a step of one failed.
    pub(crate) is_failed: bool,
}

/// The views of one owner, while they follow it.
pub(super) struct Following {
    pub(super) owner: Urn,
    /// Where the journal has the owner.
    slot: Option<Slot>,
    /// Whether the owner was read again; steps of views are then refreshes.
    is_refreshed: bool,
    /// Whether the owner is due for deletion, and its views with it.
    is_due: bool,
    views: Vec<StateIdx>,
    /// Views that are recorded already.
    done: Vec<StateIdx>,
    /// Types and names of views whose step failed.
    pub(super) failed: Vec<(EcoString, EcoString)>,
    pub(super) followed: Followed,
}

impl Following {
    fn has_failed(&self, step: &ViewStep) -> bool {
        let name = |(token, name): &(EcoString, EcoString)| {
            token == step.type_token.as_str() && *name == step.name
        };
        self.failed.iter().any(name)
    }

    /// The step as people see it.
    pub(super) fn shown(&self, op: StepOp) -> StepOp {
        if self.is_refreshed {
            StepOp::Refresh
        } else {
            op
        }
    }
}

impl Deployment {
    /// The owner is recorded as `now`: what was published is recorded too, and what follows from it.
    pub(crate) fn views_follow(
        &mut self,
        step: &Step,
        operation: OperationId,
        now: Option<StateIdx>,
    ) -> Followed {
        if self.views.is_unused() {
            return Followed::default();
        }
        let Some(now) = now else {
            // It was deleted, and its views before it.
            return Followed::default();
        };
        let before = owner_before(step);
        let former = before.map(|before| self.arena.state(before).urn.clone());
        let stays = [
            replaced_by(step),
            before.filter(|_| self.is_left_over(step, now)),
        ];
        let mut fence = Fence::NONE;
        for old in stays.into_iter().flatten() {
            fence = self.retire_views(old);
        }
        if let Some(before) = before {
            self.views.follow(before, now);
        }
        let mut following = self.following(step, Some(now));
        following.followed.fence = fence;
        let published = self.published(operation);
        if let Some(former) = former.filter(|former| *former != following.owner) {
            self.release_views(&former, &published);
        }
        for step in published {
            self.follow_step(&mut following, step);
        }
        self.follow_unpublished(step, &mut following);
        self.views.put(now, following.views);
        following.followed
    }

    /// The owner is about to be recorded as gone: its views go first, whether that was published or not.
    pub(crate) fn views_go(&mut self, step: &Step, operation: OperationId) -> Followed {
        if self.views.is_unused() {
            return Followed::default();
        }
        let mut following = self.following(step, owner_before(step));
        for step in self.published(operation) {
            self.follow_step(&mut following, step);
        }
        for view in following.views.clone() {
            let gone = self.removal_of(view);
            if !following.has_failed(&gone) {
                let (urn, op) = (self.arena.state(view).urn.clone(), following.shown(gone.op));
                let owner = following.owner.clone();
                self.announce_view(&urn, op, &gone, Some(view), &owner);
                self.tell_view(&following, &gone, urn, Some(view), None);
            }
            self.remove_view(&mut following, view);
        }
        following.followed
    }

    /// The owner's step failed and left it as it was: what was published of its views happened all the same. Without an
    /// owner there are no views.
    pub(crate) fn views_of_failed(&mut self, step: &Step, operation: OperationId) -> Followed {
        if self.views.published.is_empty() {
            return Followed::default();
        }
        let published = self.published(operation);
        let Some(owner) = owner_before(step) else {
            self.release_views(&step.urn, &published);
            for step_of_view in published {
                let urn = self.view_urn(&step.urn, &step_of_view.type_token, &step_of_view.name);
                self.tell_view_failed(&step_of_view, &urn, &step.urn, None, FailedStatus::Ok);
            }
            return Followed::default();
        };
        let mut following = self.following(step, Some(owner));
        for step in published {
            self.follow_step(&mut following, step);
        }
        self.views.put(owner, following.views);
        following.followed
    }

    /// An owner does not get this name, or has it no more: nor do its views, and others may be called so.
    fn release_views(&mut self, owner: &Urn, published: &[ViewStep]) {
        for step in published {
            let urn = self.view_urn(owner, &step.type_token, &step.name);
            if self.urns.of_base(&urn).is_none() {
                self.views.owners.remove(&urn);
            }
        }
    }

    fn following(&mut self, step: &Step, owner: Option<StateIdx>) -> Following {
        let views = owner.and_then(|owner| self.views.of.remove(&owner));
        // One that was only read, or could not be changed, has not taken its new name.
        let name = owner.map_or(&step.urn, |owner| &self.arena.state(owner).urn);
        Following {
            owner: name.clone(),
            slot: owner.map(|owner| self.arena.slot(owner)),
            is_refreshed: matches!(step.kind, StepKind::Refresh { .. }),
            is_due: owner.is_some_and(|owner| self.arena.state(owner).delete),
            views: views.unwrap_or_default(),
            done: Vec::new(),
            failed: Vec::new(),
            followed: Followed::default(),
        }
    }

    fn published(&mut self, operation: OperationId) -> Vec<ViewStep> {
        self.views.published.remove(&operation).unwrap_or_default()
    }

    /// Whether an earlier attempt of the step left an object of its own, which is due for deletion.
    fn is_left_over(&self, step: &Step, now: StateIdx) -> bool {
        step.left
            .is_some_and(|left| left != now && self.removal.leftovers.contains(&left))
    }

    /// A replaced owner keeps its views until it is deleted; where it is gone already, so are they.
    fn retire_views(&mut self, owner: StateIdx) -> Fence {
        let stays = self.arena.state(owner).delete;
        let mut fence = Fence::NONE;
        for view in self.views.of(Some(owner)).to_vec() {
            if self.arena.state(view).delete {
                continue;
            }
            self.arena.update(view, |view| view.delete = true);
            let slot = Some(self.arena.slot(view));
            let (remove, delete) = if stays { (None, slot) } else { (slot, None) };
            let operation = self.outbox.operation();
            fence = self.record_view(operation, None, remove, delete, None);
        }
        if !stays {
            self.views.of.remove(&owner);
        }
        fence
    }

    /// Views that nothing was published of: of an owner that stays as it is they are the same, and people see that. A
    /// destroy shows nothing, because it deletes them afterwards.
    fn follow_unpublished(&mut self, step: &Step, following: &mut Following) {
        let is_shown = match self.ctx.operation {
            Operation::Import(_) => true,
            Operation::Destroy => false,
            Operation::Update | Operation::Refresh => matches!(step.kind, StepKind::Same { .. }),
        };
        if !is_shown {
            return;
        }
        for view in following.views.clone() {
            if self.arena.state(view).delete || following.done.contains(&view) {
                continue;
            }
            let same = ViewStep {
                op: StepOp::Same,
                ..self.removal_of(view)
            };
            let urn = self.view_urn(&following.owner, &same.type_token, &same.name);
            self.announce_view(&urn, StepOp::Same, &same, Some(view), &following.owner);
            self.follow_step(following, same);
        }
    }

    /// A step by which a view goes that nobody published. A preview asks no provider, and expects deletions alone.
    fn removal_of(&self, view: StateIdx) -> ViewStep {
        let state = self.arena.state(view);
        let is_replaced = state.delete && !self.ctx.options.is_preview();
        ViewStep {
            type_token: state.type_token.clone(),
            name: state.urn.name().into(),
            op: if is_replaced {
                StepOp::DeleteReplaced
            } else {
                StepOp::Delete
            },
            status: ViewStatus::Known,
            error: None,
            old: None,
            new: None,
            keys: Vec::new(),
            diffs: Vec::new(),
            detailed_diff: None,
        }
    }

    /// Records one step, counts it and shows it.
    fn follow_step(&mut self, following: &mut Following, step: ViewStep) {
        let urn = self.view_urn(&following.owner, &step.type_token, &step.name);
        let old = self.find_view(&following.views, &step);
        if let Some(message) = &step.error {
            self.view_failed(following, &step, &urn, old, message.clone());
            if step.status != ViewStatus::Partial {
                return;
            }
        }
        let told_old = self.published_old(&step, old);
        let new = self.record_view_step(following, &step, &urn, old);
        if step.error.is_none() {
            let marked = step.new.as_ref().filter(|_| step.op == StepOp::Replace);
            let marked = marked.map(|new| view_state(&following.owner, urn.clone(), new));
            let shown = new.or(marked.map(Arc::new));
            self.tell_view_done(following, &step, urn, told_old, shown);
        }
    }

    /// Records a step of a view; returns the view after it.
    fn record_view_step(
        &mut self,
        following: &mut Following,
        step: &ViewStep,
        urn: &Urn,
        old: Option<StateIdx>,
    ) -> Option<Arc<ResourceState>> {
        let is_gone = is_removal(step.op) || (step.op == StepOp::Refresh && step.new.is_none());
        match (is_gone, step.op, old) {
            (_, StepOp::Replace, _) => None,
            (true, _, Some(old)) => {
                self.remove_view(following, old);
                None
            }
            (true, _, None) => None,
            (
                false,
                StepOp::CreateReplacement | StepOp::ReadReplacement | StepOp::ImportReplacement,
                Some(old),
            ) => {
                let new = self.new_view(following, step, urn, None)?;
                self.arena.update(old, |old| old.delete = true);
                following.done.push(old);
                let slot = self.arena.slot(old);
                Some(self.add_view(following, new, None, Some(slot)))
            }
            (false, _, Some(old)) => {
                let new = self.new_view(following, step, urn, Some(old))?;
                Some(self.change_view(following, old, new))
            }
            (false, _, None) => {
                let new = self.new_view(following, step, urn, None)?;
                Some(self.add_view(following, new, None, None))
            }
        }
    }

    /// How a view is after a step. One that is the same need not be told again.
    fn new_view(
        &self,
        following: &Following,
        step: &ViewStep,
        urn: &Urn,
        old: Option<StateIdx>,
    ) -> Option<ResourceState> {
        let old = old.map(|old| self.arena.state(old));
        let renamed = old.filter(|old| old.urn != *urn);
        let aliases = renamed
            .map(|old| eco_vec![old.urn.clone()])
            .unwrap_or_default();
        let new = match &step.new {
            Some(new) => view_state(&following.owner, urn.clone(), new),
            None => ResourceState {
                urn: urn.clone(),
                parent: Some(following.owner.clone()),
                view_of: Some(following.owner.clone()),
                ..old?.as_ref().clone()
            },
        };
        let delete = following.is_due || old.is_some_and(|old| old.delete);
        Some(ResourceState {
            aliases,
            delete,
            ..new
        })
    }

    fn change_view(
        &mut self,
        following: &mut Following,
        old: StateIdx,
        new: ResourceState,
    ) -> Arc<ResourceState> {
        if **self.arena.state(old) == new {
            following.done.push(old);
            return self.arena.state(old).clone();
        }
        let slot = self.arena.slot(old);
        if following.is_refreshed && self.stage_reads_everything() {
            let new = Arc::new(new);
            let operation = self.outbox.operation();
            let kind = EntryKind::RefreshSuccess {
                slot: Some(slot),
                state: Some(new.clone()),
            };
            following.followed.fence = self.journal_view(operation, kind);
            self.arena.put(old, new.clone());
            following.done.push(old);
            return new;
        }
        following.views.retain(|view| *view != old);
        self.add_view(following, new, Some(slot), None)
    }

    fn add_view(
        &mut self,
        following: &mut Following,
        new: ResourceState,
        remove: Option<Slot>,
        delete: Option<Slot>,
    ) -> Arc<ResourceState> {
        let new = Arc::new(new);
        let operation = self.outbox.operation();
        let owner = following.slot;
        following.followed.fence =
            self.record_view(operation, Some(new.clone()), remove, delete, owner);
        let idx = self.arena.push(new.clone(), Slot::New(operation));
        following.views.push(idx);
        following.done.push(idx);
        self.views
            .owners
            .insert(new.urn.clone(), following.owner.clone());
        new
    }

    fn remove_view(&mut self, following: &mut Following, view: StateIdx) {
        let slot = self.arena.slot(view);
        let operation = self.outbox.operation();
        following.followed.fence = if following.is_refreshed && self.stage_reads_everything() {
            let kind = EntryKind::RefreshSuccess {
                slot: Some(slot),
                state: None,
            };
            self.journal_view(operation, kind)
        } else {
            self.record_view(operation, None, Some(slot), None, None)
        };
        following.views.retain(|it| *it != view);
        let state = self.arena.state(view);
        if !state.delete {
            self.views.owners.remove(&state.urn);
        }
    }

    /// Whether views that are read become the base of the rest of the run, at their places in the state.
    fn stage_reads_everything(&self) -> bool {
        matches!(self.stage, Stage::Refreshing | Stage::LateRefresh)
    }

    fn record_view(
        &mut self,
        operation: OperationId,
        state: Option<Arc<ResourceState>>,
        remove: Option<Slot>,
        delete: Option<Slot>,
        owner: Option<Slot>,
    ) -> Fence {
        let kind = EntryKind::Success {
            state,
            remove,
            delete,
            pending_replacement: None,
            is_refresh: self.stage == Stage::Refreshing,
            owner,
        };
        self.journal_view(operation, kind)
    }

    fn journal_view(&mut self, operation: OperationId, kind: EntryKind) -> Fence {
        if self.stage == Stage::Refreshing {
            let kind = kind.clone();
            self.refreshes.push(Entry { operation, kind });
        }
        self.journal(operation, kind)
    }
}
