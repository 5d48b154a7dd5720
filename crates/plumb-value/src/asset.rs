//! Assets and archives.

use std::collections::BTreeMap;

use ecow::EcoString;

use crate::Value;

/// Hash of the empty text asset: SHA-256 of nothing.
pub const EMPTY_TEXT_HASH: &str =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Hash of the empty archive: SHA-256 of an empty tar stream.
pub const EMPTY_ARCHIVE_HASH: &str =
    "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";

/// A blob with an optional content hash (lowercase hex SHA-256).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Content hash; empty when not computed yet.
    pub hash: EcoString,
    /// Location of the content.
    pub source: AssetSource,
}

/// Location of an [`Asset`]'s content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssetSource {
    /// Inline text.
    Text(EcoString),
    /// A file, relative to the program's working directory unless absolute.
    Path(EcoString),
    /// An `http`, `https` or `file` address.
    Uri(EcoString),
    /// Only the hash is known, because the sender left the content out.
    Elided,
}

/// A collection of assets with an optional content hash.
#[derive(Clone, Debug, PartialEq)]
pub struct Archive {
    /// Content hash; empty when not computed yet.
    pub hash: EcoString,
    /// Location of the content.
    pub source: ArchiveSource,
}

/// Location of an [`Archive`]'s content.
#[derive(Clone, Debug, PartialEq)]
pub enum ArchiveSource {
    /// Members by name; every value is [`Value::Asset`] or [`Value::Archive`].
    Assets(BTreeMap<EcoString, Value>),
    /// A directory or an archive file.
    Path(EcoString),
    /// An address of an archive file.
    Uri(EcoString),
    /// Only the hash is known, because the sender left the content out.
    Elided,
}
