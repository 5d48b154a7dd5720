//! Who wrote a snapshot, and when.

use ecow::EcoString;
use jiff::Timestamp;
use jiff::tz::Offset;
use sha2::{Digest, Sha256};

/// The head of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// When the snapshot was made.
    pub time: Timestamp,
    /// The offset from UTC in which the time is written.
    pub offset: Offset,
    /// Digest of the version, see [`magic_of`].
    pub magic: EcoString,
    /// Version of the program that wrote the snapshot, with a leading `v`; empty when not known.
    pub version: EcoString,
    /// Plugins in use; only in old files.
    pub plugins: Vec<ManifestPlugin>,
}

/// A plugin in the manifest of an old file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestPlugin {
    /// Name of the plugin.
    pub name: EcoString,
    /// Where it was found.
    pub path: EcoString,
    /// Its kind: `resource`, `language`, and so on.
    pub kind: EcoString,
    /// Its version.
    pub version: EcoString,
}

impl Manifest {
    /// The manifest of a snapshot made at `time` by a program of this version.
    pub fn new(time: Timestamp, version: &str) -> Self {
        Manifest {
            time,
            offset: Offset::UTC,
            magic: magic_of(version),
            version: version.into(),
            plugins: Vec::new(),
        }
    }
}

impl Default for Manifest {
    /// The manifest of a file that has none: the zero time, which is midnight of the first of January of year one.
    fn default() -> Self {
        let zero = Timestamp::from_second(-62_135_596_800).expect("year one is within range");
        Manifest::new(zero, "")
    }
}

/// The digest that ties a manifest to its version: lowercase hex SHA-256 of the text, nothing for no version.
pub fn magic_of(version: &str) -> EcoString {
    if version.is_empty() {
        EcoString::new()
    } else {
        hex::encode(Sha256::digest(version.as_bytes())).into()
    }
}
