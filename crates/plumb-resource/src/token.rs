//! Type tokens.

use std::fmt;

use ecow::EcoString;

const PROVIDER_PREFIX: &str = "pulumi:providers:";

/// Type of a resource: `package:module:Name` for managed resources. Local components may have any text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeToken(EcoString);

/// Error for a text that is not a three-part token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Type '{text}' is not a valid type token (must have format '*:*:*')")]
pub struct TypeTokenError {
    /// The rejected text.
    pub text: String,
}

impl TypeToken {
    /// A token with any text.
    pub fn new(text: impl Into<EcoString>) -> Self {
        TypeToken(text.into())
    }

    /// A three-part token, the only form that managed resources may have.
    pub fn managed(text: &str) -> Result<Self, TypeTokenError> {
        if Self::is_managed(text) {
            return Ok(TypeToken(text.into()));
        }
        Err(TypeTokenError {
            text: text.to_owned(),
        })
    }

    /// Whether `text` is a three-part token, the only form that managed resources may have.
    pub fn is_managed(text: &str) -> bool {
        let mut colons = colons(text);
        match (colons.next(), colons.next(), colons.next()) {
            (Some(first), Some(second), None) => first > 0 && second + 1 < text.len(),
            _ => false,
        }
    }

    /// The package part of the token `text`; the whole text when there is no colon.
    pub fn package_in(text: &str) -> &str {
        colons(text).next().map_or(text, |at| &text[..at])
    }

    /// The type of the provider resources of `package`.
    pub fn provider_of(package: &str) -> Self {
        TypeToken(format!("{PROVIDER_PREFIX}{package}").into())
    }

    /// The token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The package part; the whole text when there is no colon.
    pub fn package(&self) -> &str {
        Self::package_in(&self.0)
    }

    /// The last part.
    pub fn name(&self) -> &str {
        self.0.rsplit(':').next().unwrap_or_default()
    }

    /// Whether the token is the type of a provider resource, `pulumi:providers:<package>`.
    pub fn is_provider(&self) -> bool {
        self.0
            .strip_prefix(PROVIDER_PREFIX)
            .is_some_and(|rest| !rest.is_empty())
    }

    /// The package that a provider resource of this type serves; `None` for other types.
    pub fn provided_package(&self) -> Option<&str> {
        self.0
            .strip_prefix(PROVIDER_PREFIX)
            .filter(|rest| !rest.is_empty())
    }

    /// Whether the token is the type of the root stack resource.
    pub fn is_root_stack(&self) -> bool {
        self.0 == crate::ROOT_STACK_TYPE
    }
}

impl fmt::Display for TypeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TypeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Byte offsets of the colons of a token. Every registration needs them: tokens are so short that a plain scan is fastest.
fn colons(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.bytes().enumerate();
    bytes.filter_map(|(at, byte)| (byte == b':').then_some(at))
}
