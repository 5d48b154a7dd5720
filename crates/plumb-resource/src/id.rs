//! Ids that providers assign to resources.

use ecow::EcoString;

/// The id of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResourceId {
    /// The resource has no id: a component, or one that was never created.
    None,
    /// The id is not known yet; only in previews.
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

    /// The text of a known id, otherwise the empty string, which is what state files and most messages hold for no id.
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
