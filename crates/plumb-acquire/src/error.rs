//! Errors of acquiring plugins.

use std::io;
use std::path::PathBuf;

use plumb_plugin::PluginKind;
use plumb_plugin::discovery::RepositoryError;
use semver::Version;

use crate::{DownloadError, GitError, InstallError, LockFileError, SourceError};

/// Error of acquiring a plugin.
#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// The address of the plugin is not valid.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The address of the repository is not valid.
    #[error(transparent)]
    Address(#[from] RepositoryError),
    /// The repository could not be fetched.
    #[error(transparent)]
    Repository(#[from] GitError),
    /// None of the sources has the plugin.
    #[error(
        "could not download the {kind} plugin {name}{}{}",
        version.as_ref().map(|version| format!(" {version}")).unwrap_or_default(),
        listed(failures)
    )]
    Nowhere {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Name of the plugin.
        name: String,
        /// Version of the plugin.
        version: Option<Version>,
        /// Error of each source.
        failures: Vec<DownloadError>,
    },
    /// The checksum of the archive does not match.
    #[error(
        "invalid checksum of {kind} plugin {name} {version}, expected {expected}, actual {actual}"
    )]
    Checksum {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Name of the plugin.
        name: String,
        /// Version of the plugin.
        version: Version,
        /// Checksum required by the program or the user.
        expected: String,
        /// Checksum of the archive.
        actual: String,
    },
    /// The lock file does not allow the plugin.
    #[error(transparent)]
    LockFile(#[from] LockFileError),
    /// The files of the plugin cannot be read for the comparison with the lock file.
    #[error("could not read all files of the plugin in {}", folder.display())]
    Content {
        /// Folder of the plugin.
        folder: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The plugin could not be installed into the cache.
    #[error("could not install the {kind} plugin {name} {version}")]
    Install {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Name of the plugin.
        name: String,
        /// Version of the plugin.
        version: Version,
        /// Cause.
        #[source]
        source: InstallError,
    },
    /// The dependencies of a plugin in source form could not be installed.
    #[error("could not install the dependencies of the {kind} plugin {name} {version}")]
    Prepare {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Name of the plugin.
        name: String,
        /// Version of the plugin.
        version: Version,
        /// Cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The HTTP client could not be created.
    #[error("could not set up downloads")]
    Client(#[source] reqwest::Error),
}

/// Errors of all sources with their causes, one line each.
fn listed(failures: &[DownloadError]) -> String {
    let mut text = String::new();
    for failure in failures {
        let mut separator = "\n  ";
        let mut next: Option<&dyn std::error::Error> = Some(failure);
        while let Some(error) = next {
            text.push_str(separator);
            text.push_str(&error.to_string());
            separator = ": ";
            next = error.source();
        }
    }
    text
}
