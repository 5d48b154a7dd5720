//! Update plans: the steps of a preview, which constrain a later update (`engine.md` 8.5).
//!
//! [`Plan`] is the decrypted form that the engine makes and checks; [`EncryptedPlan`] can be written to a file, and
//! [`PlanFile`] is the content of a file. The engine decides whether an update follows its plan.

mod file;
mod sealing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_resource::{
    Alias, CustomTimeouts, PropertyDependencies, ProviderRef, StepOp, TypeToken, Urn,
};
use plumb_value::diff::ObjectDiff;
use plumb_value::{PropertyKey, PropertyMap};

pub use file::{PlanError, PlanFile, PlanHead};
pub use sealing::EncryptedPlan;

/// Plans of all resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Plans by URN.
    pub resources: BTreeMap<Urn, ResourcePlan>,
}

/// Plan of one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourcePlan {
    /// Planned goal state; `None` for a resource to be deleted.
    pub goal: Option<GoalPlan>,
    /// Steps, in order.
    pub steps: Vec<StepOp>,
    /// Known outputs of the preview, for display; `None` if there was no new state.
    pub outputs: Option<Arc<PropertyMap>>,
    /// Seed for generated names and other random values.
    pub seed: Option<Arc<[u8]>>,
}

/// Planned goal state of a registration.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalPlan {
    /// Type of the resource.
    pub type_token: TypeToken,
    /// Name of the resource.
    pub name: EcoString,
    /// Whether the resource is a custom or provider resource; otherwise it is a component.
    pub is_custom: bool,
    /// Planned differences between the checked inputs and those of the state.
    pub inputs: PlanDiff,
    /// Planned differences between the registered outputs and those of the state.
    pub outputs: PlanDiff,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Whether deletes and replacements are refused.
    pub protect: bool,
    /// Resources that this one depends on.
    pub dependencies: EcoVec<Urn>,
    /// Provider; its id is unknown if the update will create it.
    pub provider: Option<ProviderRef>,
    /// For each property, the resources that its value was computed from.
    pub property_dependencies: PropertyDependencies,
    /// Whether to delete the old resource before creating its replacement.
    pub delete_before_replace: Option<bool>,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
    /// Outputs to treat as secret.
    pub additional_secret_outputs: EcoVec<PropertyKey>,
    /// Former identities.
    pub aliases: EcoVec<Alias>,
    /// Id of an existing object to import; empty for none.
    pub import_id: EcoString,
    /// Time limits.
    pub custom_timeouts: CustomTimeouts,
}

/// Planned differences of properties, by key. Values that are not known yet are unknown values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanDiff {
    /// Added properties.
    pub adds: Arc<PropertyMap>,
    /// Deleted properties.
    pub deletes: BTreeSet<PropertyKey>,
    /// Changed properties, with their new values.
    pub updates: Arc<PropertyMap>,
}

impl From<ObjectDiff> for PlanDiff {
    fn from(diff: ObjectDiff) -> Self {
        let updates = diff.updates.into_iter().map(|(key, it)| (key, it.new));
        PlanDiff {
            adds: Arc::new(diff.adds.into_iter().collect()),
            deletes: diff.deletes.into_keys().collect(),
            updates: Arc::new(updates.collect()),
        }
    }
}
