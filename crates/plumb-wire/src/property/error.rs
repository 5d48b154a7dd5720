//! What can be wrong with property values.

/// A value that cannot be written, or that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A signed map whose signature nobody knows.
    #[error("unrecognized signature '{signature}' in property map for {key:?}")]
    UnrecognizedSignature {
        /// What stands under the signature key.
        signature: String,
        /// The property.
        key: String,
    },
    /// A signed map without the value that it should wrap.
    #[error("malformed RPC {kind}: missing value for {key:?}")]
    MissingValue {
        /// What the signature promises.
        kind: &'static str,
        /// The property.
        key: String,
    },
    /// A signed map with a member of the wrong type, or without a member that it must have.
    #[error("malformed RPC {kind}: {member:?} is not {expected} in {key:?}")]
    Malformed {
        /// What the signature promises.
        kind: &'static str,
        /// The member.
        member: &'static str,
        /// What the member should be.
        expected: &'static str,
        /// The property.
        key: String,
    },
    /// An unknown where there must be none.
    #[error("unexpected unknown property value for {key:?}")]
    UnexpectedUnknown {
        /// The property.
        key: String,
    },
    /// An asset or archive where there must be none.
    #[error("unexpected {kind} for {key:?}")]
    UnexpectedAsset {
        /// `asset` or `archive`.
        kind: &'static str,
        /// The property.
        key: String,
    },
    /// A byte string for a peer that takes text only.
    #[error("the string at {key:?} is not valid UTF-8 and the peer does not accept byte strings")]
    ByteString {
        /// The property.
        key: String,
    },
    /// A member of an archive that is neither an asset nor an archive.
    #[error("member {member:?} of the archive at {key:?} is neither an asset nor an archive")]
    ArchiveMember {
        /// Name of the member.
        member: String,
        /// The property.
        key: String,
    },
}
