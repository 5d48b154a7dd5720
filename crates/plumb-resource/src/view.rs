//! Views: parts of a resource (their owner) that its provider publishes (`engine.md` 8.2).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ecow::EcoString;
use plumb_value::PropertyMap;

use crate::provider::PropertyDiff;
use crate::{StepOp, TypeToken};

/// A part of a resource, as its provider publishes it. Type and name identify a view among those of its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Type of the view.
    pub type_token: TypeToken,
    /// Name of the view.
    pub name: EcoString,
    /// Inputs of the view.
    pub inputs: Arc<PropertyMap>,
    /// Outputs of the view.
    pub outputs: Arc<PropertyMap>,
}

/// Step of a provider on a view, performed during a call for the owner.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewStep {
    /// Type of the view.
    pub type_token: TypeToken,
    /// Name of the view.
    pub name: EcoString,
    /// Kind of the step.
    pub op: StepOp,
    /// State of the view after the step.
    pub status: ViewStatus,
    /// Error message of a failed step.
    pub error: Option<EcoString>,
    /// The view before.
    pub old: Option<View>,
    /// The view after.
    pub new: Option<View>,
    /// Keys that force a replacement.
    pub keys: Vec<EcoString>,
    /// Keys that differ.
    pub diffs: Vec<EcoString>,
    /// Difference by path.
    pub detailed_diff: Option<BTreeMap<EcoString, PropertyDiff>>,
}

/// State of a view after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewStatus {
    /// The view is in the new state; in the old state, if the step failed.
    Known,
    /// The step was applied, but the view is not healthy.
    Partial,
    /// The state of the view is not known.
    Unknown,
}

/// Address at which a provider publishes views while it performs a call.
#[derive(Clone, PartialEq, Eq)]
pub struct StatusTarget {
    /// `host:port` of the service.
    pub address: EcoString,
    /// Secret that identifies the call.
    pub token: EcoString,
}

impl fmt::Debug for StatusTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusTarget")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
