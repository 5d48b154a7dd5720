//! Errors that several modules share.

use plumb_resource::Urn;

/// Two resources claim the same former URN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Two resources ('{first}' and '{second}') aliased to the same: '{alias}'")]
pub struct AliasConflict {
    /// The former URN.
    pub alias: Urn,
    /// Who claimed it first.
    pub first: Urn,
    /// Who claimed it too.
    pub second: Urn,
}
