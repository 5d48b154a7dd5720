//! Errors shared by several modules.

use plumb_resource::Urn;

/// Error for a former URN claimed by two resources.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Two resources ('{first}' and '{second}') aliased to the same: '{alias}'")]
pub struct AliasConflict {
    /// The former URN.
    pub alias: Urn,
    /// The first resource that claims it.
    pub first: Urn,
    /// The second resource that claims it.
    pub second: Urn,
}
