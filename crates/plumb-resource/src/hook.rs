//! Calls of hooks: functions of the program that run before and after the steps of a resource (`engine.md` 8.1).

use std::sync::Arc;

use ecow::EcoString;
use plumb_value::PropertyMap;

use crate::{ResourceId, ResourceState, Urn};

/// Arguments of a hook: the resource before and after its step.
#[derive(Clone, Debug, PartialEq)]
pub struct HookCall {
    /// The resource.
    pub urn: Urn,
    /// Id of the resource, if there is one.
    pub id: ResourceId,
    /// Inputs in the state; `None` for creations.
    pub old_inputs: Option<Arc<PropertyMap>>,
    /// Outputs in the state; `None` for creations.
    pub old_outputs: Option<Arc<PropertyMap>>,
    /// Checked inputs of the program; `None` for deletions.
    pub new_inputs: Option<Arc<PropertyMap>>,
    /// Outputs of the provider; only after creations and updates.
    pub new_outputs: Option<Arc<PropertyMap>>,
    /// The old state, for its options; `None` for creations.
    pub old_options: Option<Arc<ResourceState>>,
    /// The goal state, for its options; `None` for deletions.
    pub new_options: Option<Arc<ResourceState>>,
}

impl HookCall {
    /// The call before `new` is created.
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

    /// The call before `old` is updated to `new`.
    pub fn update(old: Arc<ResourceState>, new: Arc<ResourceState>) -> Self {
        HookCall {
            id: old.id.clone(),
            old_inputs: Some(old.inputs.clone()),
            old_outputs: Some(old.outputs.clone()),
            old_options: Some(old),
            ..HookCall::create(new)
        }
    }

    /// The call before or after `old` is deleted.
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

    /// The call after the step that resulted in `new`.
    #[must_use]
    pub fn after(self, new: &ResourceState) -> Self {
        HookCall {
            id: new.id.clone(),
            new_outputs: Some(new.outputs.clone()),
            ..self
        }
    }
}

/// Arguments of an error hook.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorHookCall {
    /// The resource.
    pub resource: HookCall,
    /// The operation that failed.
    pub operation: FailedOperation,
    /// Errors of all attempts so far, newest first.
    pub errors: Vec<EcoString>,
}

/// Operation that failed.
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
