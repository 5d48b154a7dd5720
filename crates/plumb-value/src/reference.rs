//! References from property values to resources.

use ecow::EcoString;

/// The id inside a [`ResourceReference`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceId {
    /// The resource is a component and has no id.
    None,
    /// The resource has an id that is not known yet.
    Unknown,
    /// The id.
    Known(EcoString),
}

/// A reference to a resource inside properties.
///
/// Name and type do not count for equality: they are in the URN, and not every peer repeats them.
#[derive(Clone, Debug)]
pub struct ResourceReference {
    /// URN, as text: references from peers are checked only when they are used.
    pub urn: EcoString,
    /// Id of the resource.
    pub id: ReferenceId,
    /// Name, if the peer gave one.
    pub name: Option<EcoString>,
    /// Type token, if the peer gave one.
    pub type_token: Option<EcoString>,
    /// Version of the package that defines the resource; may be empty.
    pub package_version: EcoString,
}

impl PartialEq for ResourceReference {
    fn eq(&self, other: &Self) -> bool {
        self.urn == other.urn
            && self.id == other.id
            && self.package_version == other.package_version
    }
}

impl Eq for ResourceReference {}
