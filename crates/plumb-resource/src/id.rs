//! Ids that providers give.

use ecow::EcoString;

/// The id of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResourceId {
    /// The resource has no id: a component, or one that was never created.
    None,
    /// There will be an id, but it is not known yet (previews only).
    Unknown,
    /// The provider's id; not empty.
    Known(EcoString),
}

impl ResourceId {
    /// The id with this text; empty text means none.
    pub fn from_text(text: &str) -> Self {
        if text.is_empty() {
            ResourceId::None
        } else {
            ResourceId::Known(text.into())
        }
    }

    /// The text of a known id, otherwise the empty string, as state files and most messages want it.
    pub fn as_str(&self) -> &str {
        match self {
            ResourceId::Known(text) => text,
            ResourceId::None | ResourceId::Unknown => "",
        }
    }

    /// Whether the id is known.
    pub fn is_known(&self) -> bool {
        matches!(self, ResourceId::Known(_))
    }
}
