//! Steps: what a deployment does to one resource, one thing at a time (`engine.md` 1.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{PropertyDiff, ResourceState, StepOp, Urn};

use crate::facts::arena::StateIdx;
use crate::ids::InstanceId;

/// One step of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) urn: Urn,
    pub(crate) kind: StepKind,
    pub(crate) why: StepReason,
    /// The partial object of an earlier attempt, which is in the state already.
    pub(crate) left: Option<StateIdx>,
}

/// Kind of a step, with the states that it is about. Events share these states.
///
/// `instance` is the provider that does it; components and providers have none.
#[derive(Clone, Debug)]
pub(crate) enum StepKind {
    /// Nobody is asked for anything; what the program says beyond inputs is taken over.
    Same {
        old: StateIdx,
        new: Arc<ResourceState>,
    },
    /// The resource is not targeted: the old state stays to the letter, under the URN of `new`.
    Kept {
        old: StateIdx,
        new: Arc<ResourceState>,
        /// Whether the program registered it. If not, something else needs it to be there, and the step is left out once
        /// the program does.
        is_registered: bool,
        /// The state that events show, where it is not the one that stays: a destroy that runs the program shows a
        /// resource that now depends on one that is not created like that one.
        shown: Option<Arc<ResourceState>>,
    },
    /// Stands for the creation of something that is left out.
    SkippedCreate { new: Arc<ResourceState> },
    /// Makes the resource.
    Create {
        new: Arc<ResourceState>,
        instance: Option<InstanceId>,
        replaces: Option<Replaced>,
    },
    /// Changes the resource in place.
    Update {
        old: StateIdx,
        new: Arc<ResourceState>,
        instance: Option<InstanceId>,
    },
    /// Marks a replacement for people; does nothing by itself.
    Replace {
        new: Arc<ResourceState>,
        replaces: Replaced,
    },
    /// Deletes the resource, or forgets it where it is not ours.
    Delete {
        old: StateIdx,
        deletion: Deletion,
        is_external: bool,
        instance: Option<InstanceId>,
    },
    /// Reads an object for the program.
    Read {
        former: ReadPrior,
        new: Arc<ResourceState>,
        instance: InstanceId,
    },
    /// Compares the state with the world.
    Refresh {
        old: StateIdx,
        instance: Option<InstanceId>,
        /// The state that the program registers, if it runs during the refresh; events show it as the new state.
        registered: Option<Arc<ResourceState>>,
    },
    /// Adopts an existing object.
    Import {
        new: Arc<ResourceState>,
        /// Who reads it; nobody reads components.
        instance: Option<InstanceId>,
        replaces: Option<StateIdx>,
        /// The object as it was read, which events show as the old state.
        found: Option<Arc<ResourceState>>,
    },
}

/// The old half of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) old: StateIdx,
    pub(crate) order: Order,
}

/// In which order a replacement is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The old state is left to be deleted at the end.
    CreateFirst,
    /// The old state is gone and waits for its replacement.
    DeleteFirst,
}

/// Why something is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// Nobody wants it any more.
    Unwanted,
    /// Its replacement is there.
    Replaced,
    /// Delete-before-replace: it stays in the state until its replacement is created.
    ForReplacement,
    /// Its object was deleted by an earlier run, whose replacement was never created.
    Forgotten,
}

/// The old state that a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPrior {
    /// Nothing.
    Nothing,
    /// The object that is read.
    Same(StateIdx),
    /// Another one, which is managed.
    Replaced(StateIdx),
}

/// Why a step is made, as events show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StepReason {
    /// Keys that force a replacement.
    pub(crate) keys: Vec<EcoString>,
    /// Keys that differ.
    pub(crate) diffs: Vec<EcoString>,
    /// Difference by path.
    pub(crate) detailed_diff: Option<BTreeMap<EcoString, PropertyDiff>>,
}

/// Why a step failed.
#[derive(Debug)]
pub(crate) struct StepFailure {
    pub(crate) message: String,
    pub(crate) status: FailureImpact,
}

/// Effect of a failed step on its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureImpact {
    /// Nothing.
    None,
    /// The resource exists but is not ready.
    Partial,
    /// Nobody knows.
    Unknown,
    /// Nothing: the engine itself refused to delete something protected.
    Protected,
}

impl Step {
    pub(crate) fn new(urn: Urn, kind: StepKind) -> Self {
        Step {
            urn,
            kind,
            why: StepReason::default(),
            left: None,
        }
    }

    pub(crate) fn because(self, why: StepReason) -> Self {
        Step { why, ..self }
    }

    /// The kind as events and the journal name it.
    pub(crate) fn op(&self) -> StepOp {
        match &self.kind {
            StepKind::Same { .. } | StepKind::Kept { .. } | StepKind::SkippedCreate { .. } => {
                StepOp::Same
            }
            StepKind::Create { replaces: None, .. } => StepOp::Create,
            StepKind::Create { .. } => StepOp::CreateReplacement,
            StepKind::Update { .. } => StepOp::Update,
            StepKind::Replace { .. } => StepOp::Replace,
            StepKind::Delete {
                deletion,
                is_external,
                ..
            } => deletion.op(*is_external),
            StepKind::Read {
                former: ReadPrior::Replaced(_),
                ..
            } => StepOp::ReadReplacement,
            StepKind::Read { .. } => StepOp::Read,
            StepKind::Refresh { .. } => StepOp::Refresh,
            StepKind::Import { replaces: None, .. } => StepOp::Import,
            StepKind::Import { .. } => StepOp::ImportReplacement,
        }
    }

    /// The state before, if there is one.
    pub(crate) fn old(&self) -> Option<StateIdx> {
        match &self.kind {
            StepKind::Same { old, .. }
            | StepKind::Kept { old, .. }
            | StepKind::Update { old, .. }
            | StepKind::Delete { old, .. }
            | StepKind::Refresh { old, .. } => Some(*old),
            StepKind::Replace { replaces, .. } => Some(replaces.old),
            StepKind::Create { replaces, .. } => replaces.map(|replaced| replaced.old),
            StepKind::Import { replaces, .. } => *replaces,
            StepKind::Read { former, .. } => match former {
                ReadPrior::Nothing => None,
                ReadPrior::Same(old) | ReadPrior::Replaced(old) => Some(*old),
            },
            StepKind::SkippedCreate { .. } => None,
        }
    }

    /// The state to bring about; deletes have none.
    pub(crate) fn new_state(&self) -> Option<&Arc<ResourceState>> {
        match &self.kind {
            StepKind::Same { new, .. }
            | StepKind::Kept { new, .. }
            | StepKind::SkippedCreate { new }
            | StepKind::Create { new, .. }
            | StepKind::Update { new, .. }
            | StepKind::Replace { new, .. }
            | StepKind::Read { new, .. }
            | StepKind::Import { new, .. } => Some(new),
            StepKind::Refresh { registered, .. } => registered.as_ref(),
            StepKind::Delete { .. } => None,
        }
    }

    /// The provider that does it.
    pub(crate) fn instance(&self) -> Option<InstanceId> {
        match &self.kind {
            StepKind::Create { instance, .. }
            | StepKind::Update { instance, .. }
            | StepKind::Delete { instance, .. }
            | StepKind::Refresh { instance, .. }
            | StepKind::Import { instance, .. } => *instance,
            StepKind::Read { instance, .. } => Some(*instance),
            StepKind::Same { .. }
            | StepKind::Kept { .. }
            | StepKind::SkippedCreate { .. }
            | StepKind::Replace { .. } => None,
        }
    }

    /// Has a refresh done by this provider.
    pub(crate) fn set_instance(&mut self, by: InstanceId) {
        if let StepKind::Refresh { instance, .. } = &mut self.kind {
            *instance = Some(by);
        }
    }

    /// The old half, of a step that belongs to a replacement.
    pub(crate) fn replaced(&self) -> Option<Replaced> {
        match &self.kind {
            StepKind::Create { replaces, .. } => *replaces,
            StepKind::Replace { replaces, .. } => Some(*replaces),
            _ => None,
        }
    }

    /// The state that this step deletes before its replacement is created.
    pub(crate) fn deleted_for_replacement(&self) -> Option<StateIdx> {
        match self.kind {
            StepKind::Delete {
                old,
                deletion: Deletion::ForReplacement,
                ..
            } => Some(old),
            _ => None,
        }
    }

    /// Whether the step passes something on that the program has not registered, because something else needs it.
    pub(crate) fn passes_on(&self) -> bool {
        matches!(
            self.kind,
            StepKind::Kept {
                is_registered: false,
                ..
            }
        )
    }

    /// Whether the step reads the old state of a registration, which waits for it.
    pub(crate) fn is_read_for_registration(&self) -> bool {
        matches!(
            self.kind,
            StepKind::Refresh {
                registered: Some(_),
                ..
            }
        )
    }

    /// Whether the step stands for the creation of something left out.
    pub(crate) fn is_skipped_create(&self) -> bool {
        matches!(self.kind, StepKind::SkippedCreate { .. })
    }
}

impl Deletion {
    /// The kind of step by which a state goes.
    pub(crate) fn op(self, is_external: bool) -> StepOp {
        match (self, is_external) {
            (Deletion::Unwanted, false) => StepOp::Delete,
            (Deletion::Unwanted, true) => StepOp::Discard,
            (Deletion::Replaced | Deletion::ForReplacement, false) => StepOp::DeleteReplaced,
            (Deletion::Replaced | Deletion::ForReplacement, true) => StepOp::DiscardReplaced,
            (Deletion::Forgotten, _) => StepOp::RemovePendingReplace,
        }
    }
}
/// Why a state goes at the end of a run.
pub(crate) fn deletion_of(state: &ResourceState) -> Deletion {
    if state.delete {
        Deletion::Replaced
    } else if state.pending_replacement {
        Deletion::Forgotten
    } else {
        Deletion::Unwanted
    }
}
