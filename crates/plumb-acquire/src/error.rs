//! What can go wrong when a plugin is got.

use std::io;
use std::path::PathBuf;

use plumb_plugin::PluginKind;
use plumb_plugin::discovery::RepositoryError;
use semver::Version;

use crate::{DownloadError, GitError, InstallError, LockFileError, SourceError};

/// Why a plugin could not be got.
#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// Its address makes no sense.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The address of its repository makes no sense.
    #[error(transparent)]
    Address(#[from] RepositoryError),
    /// Its repository could not be fetched.
    #[error(transparent)]
    Repository(#[from] GitError),
    /// It is in none of the places.
    #[error(
        "could not download the {kind} plugin {name}{}{}",
        version.as_ref().map(|version| format!(" {version}")).unwrap_or_default(),
        listed(failures)
    )]
    Nowhere {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Its name.
        name: String,
        /// Its version.
        version: Option<Version>,
        /// What happened at each place.
        failures: Vec<DownloadError>,
    },
    /// The archive is another one than expected.
    #[error(
        "invalid checksum of {kind} plugin {name} {version}, expected {expected}, actual {actual}"
    )]
    Checksum {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Its name.
        name: String,
        /// Its version.
        version: Version,
        /// What the program or the user said.
        expected: String,
        /// What the archive has.
        actual: String,
    },
    /// The project's lock file does not allow it.
    #[error(transparent)]
    LockFile(#[from] LockFileError),
    /// Its files cannot be compared with what the lock file says.
    #[error("could not read all files of the plugin in {}", folder.display())]
    Content {
        /// Where it is.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It could not be put into the cache.
    #[error("could not install the {kind} plugin {name} {version}")]
    Install {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Its name.
        name: String,
        /// Its version.
        version: Version,
        /// Why.
        #[source]
        source: InstallError,
    },
    /// It is a folder of sources, and what they need could not be installed.
    #[error("could not install the dependencies of the {kind} plugin {name} {version}")]
    Prepare {
        /// Kind of the plugin.
        kind: PluginKind,
        /// Its name.
        name: String,
        /// Its version.
        version: Version,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no way to speak to servers.
    #[error("could not set up downloads")]
    Client(#[source] reqwest::Error),
}

/// What happened at each place, with the causes, a line each.
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
