//! Steps: what a deployment does to one resource, one thing at a time (`engine.md` 1.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{PropertyDiff, ResourceState, StepOp, Urn};

use crate::arena::StateIdx;
use crate::event::InstanceId;

/// One step of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) op: StepOp,
    pub(crate) urn: Urn,
    /// The state before, if there is one.
    pub(crate) old: Option<StateIdx>,
    /// The state to bring about; for deletes none.
    pub(crate) new: Option<Box<ResourceState>>,
    /// Who does it; none for components and providers.
    pub(crate) instance: Option<InstanceId>,
    pub(crate) why: Why,
    pub(crate) how: How,
    /// For imports that are done: the object as it was read, which events show as the old state.
    pub(crate) imported: Option<Arc<ResourceState>>,
}

/// Why a step is made, as events show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Why {
    /// Keys that force a replacement.
    pub(crate) keys: Vec<EcoString>,
    /// Keys that differ.
    pub(crate) diffs: Vec<EcoString>,
    /// Difference by path.
    pub(crate) detailed_diff: Option<BTreeMap<EcoString, PropertyDiff>>,
}

/// What is special about a step, beyond its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Nothing.
    Plainly,
    /// A same step that stands for the creation of something left out.
    SkippedCreate,
    /// A same step for a resource that is not targeted: the old state stays to the letter.
    Untargeted,
    /// Part of a replacement that creates first: the old state is left to be deleted.
    CreateFirst,
    /// Part of a replacement that deletes first: the old state waits for its replacement.
    DeleteFirst,
    /// A refresh within the run of a program.
    PersistedRefresh,
}

impl Step {
    pub(crate) fn new(op: StepOp, urn: Urn) -> Self {
        Step {
            op,
            urn,
            old: None,
            new: None,
            instance: None,
            why: Why::default(),
            how: How::Plainly,
            imported: None,
        }
    }

    pub(crate) fn old(self, old: Option<StateIdx>) -> Self {
        Step { old, ..self }
    }

    pub(crate) fn new_state(self, new: ResourceState) -> Self {
        Step {
            new: Some(Box::new(new)),
            ..self
        }
    }

    pub(crate) fn by(self, instance: Option<InstanceId>) -> Self {
        Step { instance, ..self }
    }

    pub(crate) fn because(self, why: Why) -> Self {
        Step { why, ..self }
    }

    pub(crate) fn how(self, how: How) -> Self {
        Step { how, ..self }
    }
}
