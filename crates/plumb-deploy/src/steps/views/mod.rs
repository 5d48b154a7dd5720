//! Views: what providers show as parts of a resource, its owner (`engine.md` 8.2).
//!
//! 1. While a provider works on Create, Read, Update or Delete of a resource it may publish steps of views of that
//!    resource (`publish.rs`). They are checked, announced and kept with the operation of the owner's step.
//! 2. When the step of the owner has its outcome, they are recorded, counted and shown, in the order in which they were
//!    published (`follow.rs`): after the owner, but before it where it is deleted. Nothing is done for them, so that no
//!    intent is recorded.
//! 3. What nobody published follows from the owner: views of an owner that stays as it is are the same, views of one that
//!    goes are deleted, views of one that waits for its deletion wait with it.
//!
//! **No view outlives its owner**, whatever its provider publishes. **No two views have the same URN**, unless all but one
//! are due for deletion.
//!
//! A run without views has nothing in here; each step then looks at two empty maps.

mod follow;
mod publish;
mod tell;

use plumb_resource::{ResourceKind, ResourceState, TypeToken, Urn, View, ViewStep};
use plumb_state::journal::OperationId;
use plumb_state::owners_of_views;
use rustc_hash::FxHashMap;

use crate::deployment::Deployment;
use crate::facts::arena::{Arena, StateIdx};
use crate::step::{ReadPrior, Replaced, Step, StepKind};

pub(crate) use follow::Followed;

/// The views of a run.
#[derive(Debug, Default)]
pub(crate) struct Views {
    /// Views in the state, by owner, each in snapshot order.
    of: FxHashMap<StateIdx, Vec<StateIdx>>,
    /// Whose view a URN is.
    owners: FxHashMap<Urn, Urn>,
    /// Steps of views that were published for running steps, by the operation of the step.
    published: FxHashMap<OperationId, Vec<ViewStep>>,
}

impl Views {
    /// Finds the views in a base.
    pub(crate) fn new(arena: &Arena, order: &[StateIdx]) -> Self {
        let mut views = Views::default();
        let states = order.iter().map(|idx| arena.state(*idx).as_ref());
        let owners = owners_of_views(states);
        if owners.is_empty() {
            return views;
        }
        for (place, idx) in order.iter().enumerate() {
            let state = arena.state(*idx);
            if let Some(owner) = owners.get(&place) {
                views.of.entry(order[*owner]).or_default().push(*idx);
            }
            if let Some(owner) = &state.view_of {
                views.owners.insert(state.urn.clone(), owner.clone());
            }
        }
        views
    }

    /// Whether there are none, and none were published.
    fn is_unused(&self) -> bool {
        self.of.is_empty() && self.published.is_empty()
    }

    /// Whether `urn` is a view's.
    pub(crate) fn has(&self, urn: &Urn) -> bool {
        self.owners.contains_key(urn)
    }

    /// The owner is known by another index from now on.
    pub(crate) fn follow(&mut self, from: StateIdx, to: StateIdx) {
        if from != to
            && let Some(views) = self.of.remove(&from)
        {
            self.put(to, views);
        }
    }

    fn put(&mut self, owner: StateIdx, views: Vec<StateIdx>) {
        if !views.is_empty() {
            self.of.insert(owner, views);
        }
    }

    fn of(&self, owner: Option<StateIdx>) -> &[StateIdx] {
        owner
            .and_then(|owner| self.of.get(&owner))
            .map_or(&[], Vec::as_slice)
    }
}

impl Deployment {
    /// Old views of the resource that a step is about, in the form in which its provider gets them.
    pub(crate) fn old_views(&self, step: &Step) -> Vec<View> {
        let views = self.views.of(owner_before(step)).iter();
        views
            .map(|idx| {
                let state = self.arena.state(*idx);
                View {
                    type_token: state.type_token.clone(),
                    name: state.urn.name().into(),
                    inputs: state.inputs.clone(),
                    outputs: state.outputs.clone(),
                }
            })
            .collect()
    }

    /// The URN of a view.
    fn view_urn(&self, owner: &Urn, type_token: &TypeToken, name: &str) -> Urn {
        let parent_type = owner.qualified_type();
        Urn::new(
            &self.ctx.stack,
            &self.ctx.project,
            parent_type,
            type_token.as_str(),
            name,
        )
    }
}

/// The state that the views of a step's resource belong to before it. What a step replaces keeps its own.
fn owner_before(step: &Step) -> Option<StateIdx> {
    step.left.or(match &step.kind {
        StepKind::Same { old, .. }
        | StepKind::Kept { old, .. }
        | StepKind::Update { old, .. }
        | StepKind::Delete { old, .. }
        | StepKind::Refresh { old, .. }
        | StepKind::Read {
            former: ReadPrior::Same(old),
            ..
        } => Some(*old),
        StepKind::Create { .. }
        | StepKind::Read { .. }
        | StepKind::Import { .. }
        | StepKind::Replace { .. }
        | StepKind::SkippedCreate { .. } => None,
    })
}

/// The state that a step replaces, which stays with its views or has gone before.
fn replaced_by(step: &Step) -> Option<StateIdx> {
    match &step.kind {
        StepKind::Create {
            replaces: Some(Replaced { old, .. }),
            ..
        }
        | StepKind::Read {
            former: ReadPrior::Replaced(old),
            ..
        }
        | StepKind::Import {
            replaces: Some(old),
            ..
        } => Some(*old),
        _ => None,
    }
}

/// The state of a view.
fn view_state(owner: &Urn, urn: Urn, view: &View) -> ResourceState {
    ResourceState {
        inputs: view.inputs.clone(),
        outputs: view.outputs.clone(),
        parent: Some(owner.clone()),
        view_of: Some(owner.clone()),
        ..ResourceState::new(urn, ResourceKind::Component)
    }
}
