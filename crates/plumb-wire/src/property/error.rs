//! Errors of encoding and decoding property values.

/// Error of a property value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A map has an unknown signature.
    #[error("unrecognized signature '{signature}' in property map for {key:?}")]
    UnrecognizedSignature {
        /// The signature.
        signature: String,
        /// The property.
        key: String,
    },
    /// A map with a signature lacks the wrapped value.
    #[error("malformed RPC {kind}: missing value for {key:?}")]
    MissingValue {
        /// Kind of value that the signature requires.
        kind: &'static str,
        /// The property.
        key: String,
    },
    /// A member of a map with a signature is missing or has the wrong type.
    #[error("malformed RPC {kind}: {member:?} is not {expected} in {key:?}")]
    Malformed {
        /// Kind of value that the signature requires.
        kind: &'static str,
        /// The member.
        member: &'static str,
        /// Expected type of the member.
        expected: &'static str,
        /// The property.
        key: String,
    },
    /// An unknown value is not allowed here.
    #[error("unexpected unknown property value for {key:?}")]
    UnexpectedUnknown {
        /// The property.
        key: String,
    },
    /// An asset or archive is not allowed here.
    #[error("unexpected {kind} for {key:?}")]
    UnexpectedAsset {
        /// `asset` or `archive`.
        kind: &'static str,
        /// The property.
        key: String,
    },
    /// A byte string cannot be sent, because the peer accepts text only.
    #[error("the string at {key:?} is not valid UTF-8 and the peer does not accept byte strings")]
    ByteString {
        /// The property.
        key: String,
    },
    /// A member of an archive is neither an asset nor an archive.
    #[error("member {member:?} of the archive at {key:?} is neither an asset nor an archive")]
    ArchiveMember {
        /// Name of the member.
        member: String,
        /// The property.
        key: String,
    },
}
