//! How other stacks are read.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ecow::EcoString;
use plumb_value::PropertyMap;

/// Outputs of a stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackOutputs {
    /// Outputs by name; secret ones are wrapped.
    pub outputs: PropertyMap,
    /// Names of secret outputs that could not be decrypted and were left out.
    pub undecryptable: Vec<EcoString>,
}

/// A resource of another stack.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceOutputs {
    /// Its type.
    pub type_token: EcoString,
    /// Its outputs; secret ones are wrapped.
    pub outputs: PropertyMap,
}

/// A stack could not be read. The text is fit for the user.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StackReadError {
    /// What went wrong.
    pub message: String,
    /// Why.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Reads other stacks; the backend is behind it.
#[async_trait]
pub trait StackReader: Send + Sync {
    /// Outputs of the stack `name`, which may be short for one of this project or organization.
    async fn stack_outputs(&self, name: &str) -> Result<StackOutputs, StackReadError>;

    /// Outputs of all resources of the stack `name`, by URN.
    async fn stack_resource_outputs(
        &self,
        name: &str,
    ) -> Result<BTreeMap<EcoString, ResourceOutputs>, StackReadError>;
}
