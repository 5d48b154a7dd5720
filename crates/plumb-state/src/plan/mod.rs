//! Update plans: what a preview means to do, kept so that an update does nothing else (`engine.md` 8.5).
//!
//! [`Plan`] is the decrypted form that the engine makes and checks; [`EncryptedPlan`] can be written to a file, and
//! [`PlanFile`] is what a file held. What a plan demands of an update is the engine's business.

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

/// What is planned for each resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// By URN.
    pub resources: BTreeMap<Urn, ResourcePlan>,
}

/// What is planned for one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourcePlan {
    /// What the program asks for; none when the resource is to go.
    pub goal: Option<GoalPlan>,
    /// Steps in order.
    pub steps: Vec<StepOp>,
    /// Outputs as far as the preview knew them, for readers; none when there was no new state.
    pub outputs: Option<Arc<PropertyMap>>,
    /// Where names and other values made by chance came from.
    pub seed: Option<Arc<[u8]>>,
}

/// What a registration is to ask for.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalPlan {
    /// Type of the resource.
    pub type_token: TypeToken,
    /// Name of the resource.
    pub name: EcoString,
    /// Whether a provider manages it (providers too), or it is a component.
    pub is_custom: bool,
    /// How checked inputs are to differ from those of the state.
    pub inputs: PlanDiff,
    /// How registered outputs are to differ from those of the state.
    pub outputs: PlanDiff,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Whether deletes and replacements are refused.
    pub protect: bool,
    /// Resources that this one depends on.
    pub dependencies: EcoVec<Urn>,
    /// Provider; its id is unknown if the preview would have made it.
    pub provider: Option<ProviderRef>,
    /// Which resources each property was computed from.
    pub property_dependencies: PropertyDependencies,
    /// Whether to delete the old resource before creating its replacement.
    pub delete_before_replace: Option<bool>,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
    /// Outputs to treat as secret.
    pub additional_secret_outputs: EcoVec<PropertyKey>,
    /// Former identities.
    pub aliases: EcoVec<Alias>,
    /// Id of an existing object to adopt; empty for none.
    pub import_id: EcoString,
    /// Time limits.
    pub custom_timeouts: CustomTimeouts,
}

/// How properties are to differ, by key. What is not known yet is there as an unknown value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanDiff {
    /// Properties to be added.
    pub adds: Arc<PropertyMap>,
    /// Properties to be removed.
    pub deletes: BTreeSet<PropertyKey>,
    /// Properties to be changed, with their new values.
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
