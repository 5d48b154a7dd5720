//! Manifest of a snapshot: program version and time.

use ecow::EcoString;
use jiff::Timestamp;
use jiff::tz::Offset;
use sha2::{Digest, Sha256};

/// Manifest of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Time at which the snapshot was made.
    pub time: Timestamp,
    /// Offset from UTC in which the time is written.
    pub offset: Offset,
    /// Digest of the version, see [`magic_of`].
    pub magic: EcoString,
    /// Version of the program that wrote the snapshot, with a leading `v`; empty if unknown.
    pub version: EcoString,
    /// Plugins; only in old files.
    pub plugins: Vec<ManifestPlugin>,
}

/// A plugin in the manifest of an old file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestPlugin {
    /// Name of the plugin.
    pub name: EcoString,
    /// Path of the plugin.
    pub path: EcoString,
    /// Kind of plugin: `resource`, `language`, and so on.
    pub kind: EcoString,
    /// Version of the plugin.
    pub version: EcoString,
}

impl Manifest {
    /// Manifest of a snapshot made at `time` by this program version.
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
    /// Manifest of a file without one. Its time is the zero time, 0001-01-01T00:00:00Z.
    fn default() -> Self {
        let zero = Timestamp::from_second(-62_135_596_800).expect("year one is within range");
        Manifest::new(zero, "")
    }
}

/// Digest of a version in the manifest: SHA-256 in lowercase hex; empty for an empty version.
pub fn magic_of(version: &str) -> EcoString {
    if version.is_empty() {
        EcoString::new()
    } else {
        hex::encode(Sha256::digest(version.as_bytes())).into()
    }
}
