//! Signatures of the objects that represent values which JSON does not have.

/// The member that holds the signature.
pub(super) const KEY: &str = "4dabf18193072939515e22adb298388d";
/// A secret.
pub(crate) const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
/// An asset.
pub(super) const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
/// An archive.
pub(super) const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
/// A resource reference.
pub(super) const RESOURCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
/// A NaN or infinite number.
pub(super) const NUMBER: &str = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
/// A string that is not UTF-8.
pub(super) const BYTES: &str = "803fd3297a5875dc03ca845dda5d2a98";
