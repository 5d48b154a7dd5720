//! Publication of views: steps that a provider sends while it works on their owner.

use std::sync::Arc;

use plumb_events::{Event, StateView, StepEvent};
use plumb_resource::{ResourceState, StepOp, Urn, ViewStep};

use super::{owner_before, view_state};
use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::{CallId, Fence, RequestId};
use crate::request::{Reply, RequestError, RequestErrorKind};
use crate::step::{Step, StepKind, StepReason};
use crate::steps::calls::Waiter;

impl Deployment {
    /// Takes steps of views that a provider publishes while it works on `call`.
    pub(crate) fn take_view_steps(&mut self, id: RequestId, call: CallId, steps: Vec<ViewStep>) {
        let reply = match self.publish(call, steps) {
            Ok(()) => Reply::Done,
            Err(message) => Reply::Failed(RequestError::new(
                RequestErrorKind::InvalidArgument,
                message,
            )),
        };
        self.send_reply(id, reply, Fence::NONE);
    }

    /// Announces the steps and keeps them until the owner's step is done; all of them or none.
    fn publish(&mut self, call: CallId, steps: Vec<ViewStep>) -> Result<(), String> {
        let running = match self.calls.waiters.get(&call) {
            Some(Waiter::Chain(idx)) => self.chains.running_step(*idx),
            _ => None,
        };
        let Some((owner, operation)) = running else {
            return Err("the call that views are published for is over".to_owned());
        };
        // Steps are data of the run; the chain must not be borrowed while their events are emitted.
        let owner = self.owner_of(owner);
        for step in &steps {
            self.check_view_step(&owner, step)?;
        }
        for step in &steps {
            let urn = self.view_urn(&owner.urn, &step.type_token, &step.name);
            let op = if owner.is_refreshed {
                StepOp::Refresh
            } else {
                step.op
            };
            let old = self.find_view(self.views.of(owner.state), step);
            self.announce_view(&urn, op, step, old, &owner.urn);
            for name in owner.names() {
                let urn = self.view_urn(name, &step.type_token, &step.name);
                self.views.owners.insert(urn, name.clone());
            }
        }
        let published = self.views.published.entry(operation).or_default();
        published.extend(steps);
        Ok(())
    }

    fn owner_of(&self, step: &Step) -> Owner {
        let state = owner_before(step);
        let is_refreshed = matches!(step.kind, StepKind::Refresh { .. });
        // What is only read has not taken its new name.
        let former = state.map(|state| &self.arena.state(state).urn);
        let present = former.filter(|_| is_refreshed);
        let urn = present.unwrap_or(&step.urn);
        Owner {
            urn: urn.clone(),
            former: former.filter(|former| *former != urn).cloned(),
            state,
            is_refreshed,
        }
    }

    fn check_view_step(&self, owner: &Owner, step: &ViewStep) -> Result<(), String> {
        let urn = self.view_urn(&owner.urn, &step.type_token, &step.name);
        if let (Some(old), Some(new)) = (&step.old, &step.new)
            && (&old.type_token, &old.name) != (&new.type_token, &new.name)
        {
            return Err(format!("a step of view {urn} ends with another view"));
        }
        let is_known = self.find_view(self.views.of(owner.state), step).is_some();
        if !is_known && (step.old.is_some() || is_removal(step.op)) {
            let owner = &owner.urn;
            return Err(format!(
                "old state {urn} of view {owner} not found in previous deployment"
            ));
        }
        if step.new.is_none() && needs_new(step.op) {
            let op = step.op.as_str();
            return Err(format!("a {op} step of view {urn} has no new state"));
        }
        let named = |owner| (owner, self.view_urn(owner, &step.type_token, &step.name));
        let mut names = owner.names().map(named);
        match names.find(|(owner, urn)| self.is_taken_by_another(owner, urn)) {
            Some((_, urn)) => Err(format!(
                "Duplicate resource URN '{urn}'; try giving it a unique name"
            )),
            None => Ok(()),
        }
    }

    /// Whether something else has the URN of a view: another resource, or a view of another owner.
    fn is_taken_by_another(&self, owner: &Urn, urn: &Urn) -> bool {
        if let Some(other) = self.views.owners.get(urn) {
            return self.current_urn(other) != self.current_urn(owner);
        }
        let is_resource = |idx| self.arena.state(idx).view_of.is_none();
        self.urns.has(urn, UrnFlag::Seen) || self.urns.of_base(urn).is_some_and(is_resource)
    }

    /// The view among `views` that a step is about; what is to be deleted may be due for that.
    pub(super) fn find_view(&self, views: &[StateIdx], step: &ViewStep) -> Option<StateIdx> {
        let is_it = |idx: &&StateIdx| {
            let state = self.arena.state(**idx);
            state.type_token == step.type_token && state.urn.name() == step.name
        };
        let is_due = |idx: &&StateIdx| self.arena.state(**idx).delete;
        let named = || views.iter().filter(is_it);
        let found = if matches!(step.op, StepOp::DeleteReplaced | StepOp::DiscardReplaced) {
            named().find(is_due).or_else(|| named().next())
        } else if is_removal(step.op) {
            named().find(|idx| !is_due(idx)).or_else(|| named().next())
        } else {
            // Of an owner that is due for deletion, what it has already is due as well.
            let known = || named().next().filter(|_| step.old.is_some());
            named().find(|idx| !is_due(idx)).or_else(known)
        };
        found.copied()
    }

    /// A step of a view is about to be done, or was done.
    pub(super) fn announce_view(
        &mut self,
        urn: &Urn,
        op: StepOp,
        step: &ViewStep,
        old: Option<StateIdx>,
        owner: &Urn,
    ) {
        let new = step.new.as_ref().map(|new| {
            let state = view_state(owner, urn.clone(), new);
            StateView::new(state)
        });
        let old = self.published_old(step, old);
        let metadata = Self::metadata_of(urn, op, &why(step), old, new);
        let planning = self.ctx.options.is_preview();
        self.emit(Event::ResourcePre(StepEvent {
            metadata: Box::new(metadata),
            planning,
            internal: false,
        }));
    }

    /// The view before a step: as the state has it, with what the provider says of it.
    pub(super) fn published_old(
        &self,
        step: &ViewStep,
        old: Option<StateIdx>,
    ) -> Option<Arc<ResourceState>> {
        let state = self.arena.state(old?);
        Some(match &step.old {
            Some(told) => Arc::new(ResourceState {
                inputs: told.inputs.clone(),
                outputs: told.outputs.clone(),
                ..state.as_ref().clone()
            }),
            None => state.clone(),
        })
    }
}

/// The resource whose views are published.
struct Owner {
    urn: Urn,
    /// Another name that it has so far, and keeps if its step fails.
    former: Option<Urn>,
    /// Its state before the step.
    state: Option<StateIdx>,
    is_refreshed: bool,
}

impl Owner {
    /// The names that it may have after the step.
    fn names(&self) -> impl Iterator<Item = &Urn> {
        [&self.urn].into_iter().chain(&self.former)
    }
}

/// Why a step of a view is made, as events show it.
pub(super) fn why(step: &ViewStep) -> StepReason {
    StepReason {
        keys: step.keys.clone(),
        diffs: step.diffs.clone(),
        detailed_diff: step.detailed_diff.clone(),
    }
}

/// Whether nothing is left of a view after such a step.
pub(super) fn is_removal(op: StepOp) -> bool {
    matches!(
        op,
        StepOp::Delete
            | StepOp::DeleteReplaced
            | StepOp::Discard
            | StepOp::DiscardReplaced
            | StepOp::RemovePendingReplace
    )
}

/// Whether such a step must say how the view is after it.
fn needs_new(op: StepOp) -> bool {
    !is_removal(op) && !matches!(op, StepOp::Same | StepOp::Replace | StepOp::Refresh)
}
