//! Access to other stacks.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ecow::EcoString;
use plumb_value::PropertyMap;

/// Outputs of a stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackOutputs {
    /// Outputs by name; secret ones are wrapped.
    pub outputs: PropertyMap,
    /// Names of omitted secret outputs, which could not be decrypted.
    pub undecryptable: Vec<EcoString>,
}

/// A resource of another stack.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceOutputs {
    /// Type token.
    pub type_token: EcoString,
    /// Outputs; secret ones are wrapped.
    pub outputs: PropertyMap,
}

/// Error while reading a stack, with a text for the user.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StackReadError {
    /// Text of the error.
    pub message: String,
    /// Cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Reader of other stacks, implemented with the backend.
#[async_trait]
pub trait StackReader: Send + Sync {
    /// Outputs of the stack `name`, which can be a short name within this project or organization.
    async fn stack_outputs(&self, name: &str) -> Result<StackOutputs, StackReadError>;

    /// Outputs of all resources in the stack `name`, by URN.
    async fn stack_resource_outputs(
        &self,
        name: &str,
    ) -> Result<BTreeMap<EcoString, ResourceOutputs>, StackReadError>;
}
