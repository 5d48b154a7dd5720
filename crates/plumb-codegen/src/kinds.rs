//! Kinds of resources.

use plumb_schema::bound::Resource;

/// How a resource is registered, which determines its base class and its options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Custom,
    Component,
    Provider,
}

impl Kind {
    /// Kind of a resource that is not the provider of the package.
    pub(crate) fn of(resource: &Resource<'_>) -> Self {
        Kind::with(resource, false)
    }

    /// Kind of a resource that may be the provider of the package.
    pub(crate) fn with(resource: &Resource<'_>, is_provider: bool) -> Self {
        match (is_provider, resource.is_component) {
            (true, _) => Kind::Provider,
            (false, true) => Kind::Component,
            (false, false) => Kind::Custom,
        }
    }
}
