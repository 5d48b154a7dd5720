//! References to provider resources.

use std::fmt;

use ecow::EcoString;

use crate::{InvalidUrn, UNKNOWN_SENTINEL, Urn};

const DENIED_ID: &str = "denydefaultprovider";

/// Reference to a provider resource: `<provider URN>::<id>`, see `engine.md` 1.2.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ProviderRef {
    urn: Urn,
    id: ProviderInstanceId,
}

/// The id part of a [`ProviderRef`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProviderInstanceId {
    /// The provider would be created in this preview.
    Unknown,
    /// The program may not use the default provider of this package.
    Denied,
    /// Id of the provider resource.
    Known(EcoString),
}

/// Errors for a text that is not a provider reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderRefError {
    /// No `::` at all.
    #[error("expected '::' in provider reference '{text}'")]
    Separator {
        /// The rejected text.
        text: String,
    },
    /// The part before the id is not a URN.
    #[error("{text} is not a valid URN")]
    Urn {
        /// The part before the id.
        text: String,
        /// Reason why the part is not a URN.
        #[source]
        source: InvalidUrn,
    },
    /// The URN names something other than a provider.
    #[error("invalid module in type: expected 'pulumi:providers', got '{urn}'")]
    NotAProvider {
        /// The URN.
        urn: Urn,
    },
}

impl ProviderRef {
    /// A reference to the provider `urn` with `id`; an empty id means unknown.
    pub fn new(urn: Urn, id: &str) -> Self {
        let id = match id {
            "" | UNKNOWN_SENTINEL => ProviderInstanceId::Unknown,
            DENIED_ID => ProviderInstanceId::Denied,
            known => ProviderInstanceId::Known(known.into()),
        };
        ProviderRef { urn, id }
    }

    /// The reference that stands for a default provider that the project denies.
    pub fn denied(package: &str) -> Self {
        let urn = Urn::new(
            "denied",
            "denied",
            "denied",
            "pulumi:providers:denied",
            package,
        );
        ProviderRef {
            urn,
            id: ProviderInstanceId::Denied,
        }
    }

    /// Parses `text`, split at its last `::`.
    pub fn parse(text: &str) -> Result<Self, ProviderRefError> {
        let (urn_text, id) = text
            .rsplit_once("::")
            .ok_or_else(|| ProviderRefError::Separator {
                text: text.to_owned(),
            })?;
        let urn = Urn::parse(urn_text).map_err(|source| ProviderRefError::Urn {
            text: urn_text.to_owned(),
            source,
        })?;
        if !urn.type_token().is_provider() {
            return Err(ProviderRefError::NotAProvider { urn });
        }
        Ok(ProviderRef::new(urn, id))
    }

    /// URN of the provider resource.
    pub fn urn(&self) -> &Urn {
        &self.urn
    }

    /// Id of the provider resource.
    pub fn id(&self) -> &ProviderInstanceId {
        &self.id
    }

    /// A reference with the same id under another URN.
    #[must_use]
    pub fn with_urn(&self, urn: Urn) -> Self {
        ProviderRef {
            urn,
            id: self.id.clone(),
        }
    }

    /// The package that the provider serves; for a denied provider, the package that was requested.
    pub fn package(&self) -> &str {
        if self.id == ProviderInstanceId::Denied {
            return self.urn.name();
        }
        let text = self.urn.type_text();
        text.rsplit(':').next().unwrap_or(text)
    }

    /// Whether the reference stands for a denied default provider.
    pub fn is_denied(&self) -> bool {
        self.id == ProviderInstanceId::Denied
    }
}

impl fmt::Display for ProviderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = match &self.id {
            ProviderInstanceId::Unknown => UNKNOWN_SENTINEL,
            ProviderInstanceId::Denied => DENIED_ID,
            ProviderInstanceId::Known(id) => id,
        };
        write!(f, "{}::{id}", self.urn)
    }
}

impl fmt::Debug for ProviderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
