//! What hooks are called with: functions of the program that run around the steps of a resource (`engine.md` 8.1).

use std::sync::Arc;

use ecow::EcoString;
use plumb_value::PropertyMap;

use crate::{ResourceId, ResourceState, Urn};

/// What a hook is told of its resource.
#[derive(Clone, Debug, PartialEq)]
pub struct HookCall {
    /// The resource.
    pub urn: Urn,
    /// Its id, as far as there is one.
    pub id: ResourceId,
    /// Inputs before; not for creations.
    pub old_inputs: Option<Arc<PropertyMap>>,
    /// Outputs before; not for creations.
    pub old_outputs: Option<Arc<PropertyMap>>,
    /// Checked inputs of the program; not for deletions.
    pub new_inputs: Option<Arc<PropertyMap>>,
    /// Outputs of the provider; only after creations and updates.
    pub new_outputs: Option<Arc<PropertyMap>>,
    /// The state that holds the options before; not for creations.
    pub old_options: Option<Arc<ResourceState>>,
    /// The state that holds the options that the program gave; not for deletions.
    pub new_options: Option<Arc<ResourceState>>,
}

impl HookCall {
    /// Before `new` is created.
    pub fn create(new: Arc<ResourceState>) -> Self {
        HookCall {
            urn: new.urn.clone(),
            id: new.id.clone(),
            old_inputs: None,
            old_outputs: None,
            new_inputs: Some(new.inputs.clone()),
            new_outputs: None,
            old_options: None,
            new_options: Some(new),
        }
    }

    /// Before `old` becomes `new`.
    pub fn update(old: Arc<ResourceState>, new: Arc<ResourceState>) -> Self {
        HookCall {
            id: old.id.clone(),
            old_inputs: Some(old.inputs.clone()),
            old_outputs: Some(old.outputs.clone()),
            old_options: Some(old),
            ..HookCall::create(new)
        }
    }

    /// Before or after `old` is deleted.
    pub fn delete(old: Arc<ResourceState>) -> Self {
        HookCall {
            urn: old.urn.clone(),
            id: old.id.clone(),
            old_inputs: Some(old.inputs.clone()),
            old_outputs: Some(old.outputs.clone()),
            new_inputs: None,
            new_outputs: None,
            old_options: Some(old),
            new_options: None,
        }
    }

    /// The same once the step has left `new`.
    #[must_use]
    pub fn after(self, new: &ResourceState) -> Self {
        HookCall {
            id: new.id.clone(),
            new_outputs: Some(new.outputs.clone()),
            ..self
        }
    }
}

/// What an error hook is told.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorHookCall {
    /// The resource.
    pub resource: HookCall,
    /// What failed.
    pub operation: FailedOperation,
    /// Why it failed, each time so far; the newest comes first.
    pub errors: Vec<EcoString>,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedOperation {
    /// Create.
    Create,
    /// Update.
    Update,
    /// Delete.
    Delete,
}

impl FailedOperation {
    /// The name on the wire and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            FailedOperation::Create => "create",
            FailedOperation::Update => "update",
            FailedOperation::Delete => "delete",
        }
    }
}
