//! Views: what a provider shows as parts of a resource, its owner (`engine.md` 8.2).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ecow::EcoString;
use plumb_value::PropertyMap;

use crate::provider::PropertyDiff;
use crate::{StepOp, TypeToken};

/// A part of a resource, as its provider shows it. Type and name tell the views of one owner apart.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Type of the view.
    pub type_token: TypeToken,
    /// Its name.
    pub name: EcoString,
    /// Its inputs.
    pub inputs: Arc<PropertyMap>,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
}

/// What a provider did to a view while it worked on the owner.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewStep {
    /// Type of the view.
    pub type_token: TypeToken,
    /// Its name.
    pub name: EcoString,
    /// What was done.
    pub op: StepOp,
    /// How it went.
    pub status: ViewStatus,
    /// What went wrong.
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

/// What is known of a view after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewStatus {
    /// It is as the step says; if the step failed, as before.
    Known,
    /// The step was done, and the view is not healthy.
    Partial,
    /// Nobody knows.
    Unknown,
}

/// Where a provider may tell of views while it works on a call.
#[derive(Clone, PartialEq, Eq)]
pub struct StatusTarget {
    /// `host:port` of the service.
    pub address: EcoString,
    /// Stands for the call, and must not be guessed.
    pub token: EcoString,
}

impl fmt::Debug for StatusTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusTarget")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
