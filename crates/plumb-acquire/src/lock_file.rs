//! `plumb.lock`: which archives a project's plugins came from.
//!
//! The file is JSON with sorted keys, one line for each archive, so that changes read well in a review:
//!
//! ```json
//! {
//!   "version": 1,
//!   "plugins": {
//!     "resource-random-v4.16.7": {
//!       "linux-amd64": "…64 hex digits…"
//!     }
//!   }
//! }
//! ```
//!
//! An archive is written down when it is used for the first time. From then on, nothing else is taken for that plugin.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plumb_plugin::PluginKind;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::source::Platform;

const VERSION: u32 = 1;

/// What may happen to a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// What is used for the first time is written down.
    Update,
    /// Nothing may be used that is not written down.
    Frozen,
}

/// Why a plugin may not be used, or the file not.
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// It cannot be read or written.
    #[error("could not {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// It makes no sense.
    #[error("could not understand {}; restore it from version control, or remove it to start anew", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A later version of the program wrote it.
    #[error("{} has version {version}, but this program knows versions up to {VERSION}; upgrade it", path.display())]
    Later {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Another archive than the one that is written down.
    #[error(
        "the archive of {plugin} for {platform} is not the one that {} names: expected {expected}, actual {actual}; if \
         the change is intended, remove its line from the file",
        path.display()
    )]
    Different {
        /// The plugin.
        plugin: String,
        /// The platform.
        platform: String,
        /// The file.
        path: PathBuf,
        /// The checksum in the file.
        expected: String,
        /// The checksum of the archive.
        actual: String,
    },
    /// Nothing is written down, and nothing may be added.
    #[error("{} does not name {plugin} for {platform}; run `plumb install` without --locked, and commit the file", path.display())]
    Unknown {
        /// The plugin.
        plugin: String,
        /// The platform.
        platform: String,
        /// The file.
        path: PathBuf,
    },
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    #[serde(default)]
    plugins: BTreeMap<String, BTreeMap<String, String>>,
}

/// The lock file of a project.
pub struct LockFile {
    path: PathBuf,
    mode: LockMode,
    /// One reads and writes at a time.
    turn: Mutex<()>,
}

impl LockFile {
    /// Name of the file, beside the project file.
    pub const NAME: &str = "plumb.lock";

    /// The lock file in `folder`, which need not have one.
    pub fn in_folder(folder: &Path, mode: LockMode) -> Self {
        LockFile {
            path: folder.join(Self::NAME),
            mode,
            turn: Mutex::default(),
        }
    }

    /// Whether the archive with this checksum may be used for a plugin; notes it if it is the first one.
    pub(crate) fn admit(
        &self,
        kind: PluginKind,
        name: &str,
        version: &Version,
        platform: Platform,
        checksum: &str,
    ) -> Result<(), LockFileError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut content = self.read()?;
        let plugin = format!("{kind}-{name}-v{version}");
        let platform = platform.key();
        let known = content.plugins.entry(plugin.clone()).or_default();
        match known.get(&platform) {
            Some(expected) if expected == checksum => Ok(()),
            Some(expected) => Err(LockFileError::Different {
                expected: expected.clone(),
                plugin,
                platform,
                path: self.path.clone(),
                actual: checksum.to_owned(),
            }),
            None if self.mode == LockMode::Frozen => Err(LockFileError::Unknown {
                plugin,
                platform,
                path: self.path.clone(),
            }),
            None => {
                known.insert(platform, checksum.to_owned());
                self.write(&content)
            }
        }
    }

    fn failed(&self, action: &'static str) -> impl FnOnce(io::Error) -> LockFileError {
        let path = self.path.clone();
        move |source| LockFileError::File {
            action,
            path,
            source,
        }
    }

    fn read(&self) -> Result<Content, LockFileError> {
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Content {
                    version: VERSION,
                    plugins: BTreeMap::new(),
                });
            }
            Err(error) => return Err(self.failed("read")(error)),
        };
        let content: Content =
            serde_json::from_slice(&text).map_err(|source| LockFileError::Parse {
                path: self.path.clone(),
                source,
            })?;
        if content.version > VERSION {
            return Err(LockFileError::Later {
                path: self.path.clone(),
                version: content.version,
            });
        }
        Ok(content)
    }

    /// Others may read the file at this moment: they see it before or after.
    fn write(&self, content: &Content) -> Result<(), LockFileError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer_pretty(&mut file, content)?;
            file.write_all(b"\n")?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let everybody = std::fs::Permissions::from_mode(0o644);
                file.as_file().set_permissions(everybody)?;
            }
            file.persist(&self.path)?;
            Ok(())
        };
        write().map_err(self.failed("write"))
    }
}
