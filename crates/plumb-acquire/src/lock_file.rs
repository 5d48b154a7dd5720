//! `plumb.lock`: the plugins of a project, with digests of their archives and files.
//!
//! The file is JSON with sorted keys and one line per digest, so that changes are easy to review:
//!
//! ```json
//! {
//!   "version": 2,
//!   "plugins": {
//!     "resource-random-v4.16.7": {
//!       "linux-amd64": {
//!         "archive": "…64 hex digits…",
//!         "content": "…64 hex digits…"
//!       }
//!     }
//!   }
//! }
//! ```
//!
//! `archive` is the hash of the downloaded archive; plugins from repositories have none. `content` is the digest of the
//! files ([`crate::content`]). In version 1 the hash of the archive takes the place of the object.
//!
//! A plugin is added when it is first used. From then on no other archive is accepted for it, and with [`LockMode::Frozen`]
//! no other content.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plumb_plugin::PluginKind;
use plumb_plugin::discovery::parse_tolerant;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::content::Contents;
use crate::source::Platform;

const VERSION: u32 = 2;

/// Permitted changes of a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Plugins are added at their first use.
    Update,
    /// Plugins missing from the file may not be used.
    Frozen,
}

/// Errors of a lock file, and reasons to reject a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// The file cannot be read or written.
    #[error("could not {action} {}", path.display())]
    File {
        /// Verb for the failed action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The file is not valid.
    #[error("could not understand {}; restore it from version control, or remove it to start anew", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: serde_json::Error,
    },
    /// The file has a newer version than this program supports.
    #[error("{} has version {version}, but this program knows versions up to {VERSION}; upgrade it", path.display())]
    Later {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        version: u32,
    },
    /// The checksum of the archive does not match.
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
    /// The digest of the files does not match.
    #[error(
        "the files of {plugin} in {} are not those that {} names{}: expected {expected}, actual {actual}; reinstall it with \
         `plumb install --reinstall`, or remove its lines from the file if the change is intended",
        folder.display(),
        path.display(),
        file.as_ref().map(|file| format!(" (see {file})")).unwrap_or_default()
    )]
    Changed {
        /// The plugin.
        plugin: String,
        /// Folder of the plugin.
        folder: Box<Path>,
        /// The file.
        path: Box<Path>,
        /// A file that was changed, added or removed, if known.
        file: Option<String>,
        /// The digest in the file.
        expected: Box<str>,
        /// The digest of the files on disk.
        actual: Box<str>,
    },
    /// The frozen file does not contain the plugin.
    #[error(
        "{} does not name {plugin} for {platform}; run `plumb install` without --locked (with \
         PULUMI_IGNORE_AMBIENT_PLUGINS=true if the plugin is on your PATH), and commit the file",
        path.display()
    )]
    Unknown {
        /// The plugin.
        plugin: String,
        /// The platform.
        platform: String,
        /// The file.
        path: PathBuf,
    },
    /// The file contains only the archive's checksum, because an older version of the program wrote it.
    #[error(
        "{} names the archive of {plugin} for {platform} and not what is in it; run `plumb install` without --locked, and \
         commit the file",
        path.display()
    )]
    NoContent {
        /// The plugin.
        plugin: String,
        /// The platform.
        platform: String,
        /// The file.
        path: PathBuf,
    },
    /// The listing of the published files is missing.
    #[error(
        "nobody knows which files {plugin} in {} was published with; reinstall it with `plumb install --reinstall`",
        folder.display()
    )]
    NoListing {
        /// The plugin.
        plugin: String,
        /// Folder of the plugin.
        folder: PathBuf,
    },
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    #[serde(default)]
    plugins: BTreeMap<String, BTreeMap<String, Digests>>,
}

/// Digests of a plugin on one platform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenDigests")]
pub(crate) struct Digests {
    /// Checksum of the archive that the plugin was installed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) archive: Option<String>,
    /// Digest of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenDigests {
    /// The form of version 1.
    Archive(String),
    Both {
        archive: Option<String>,
        content: Option<String>,
    },
}

impl From<WrittenDigests> for Digests {
    fn from(written: WrittenDigests) -> Self {
        match written {
            WrittenDigests::Archive(archive) => Digests {
                archive: Some(archive),
                content: None,
            },
            WrittenDigests::Both { archive, content } => Digests { archive, content },
        }
    }
}

/// Key of a plugin in the file.
#[derive(Clone, Debug)]
pub(crate) struct Locked {
    plugin: String,
    platform: String,
}

impl Locked {
    pub(crate) fn new(kind: PluginKind, name: &str, version: &Version, platform: Platform) -> Self {
        Locked {
            plugin: format!("{kind}-{name}-v{version}"),
            platform: platform.key(),
        }
    }
}

/// The lock file of a project.
pub struct LockFile {
    path: PathBuf,
    mode: LockMode,
    /// Serializes access by this process.
    turn: Mutex<()>,
}

impl LockFile {
    /// Name of the file, beside the project file.
    pub const NAME: &str = "plumb.lock";

    /// The lock file in `folder`, which need not exist.
    pub fn in_folder(folder: &Path, mode: LockMode) -> Self {
        LockFile {
            path: folder.join(Self::NAME),
            mode,
            turn: Mutex::default(),
        }
    }

    pub(crate) fn mode(&self) -> LockMode {
        self.mode
    }

    /// Returns the digests of a plugin. A frozen file must name the plugin and the digest of its files.
    pub(crate) fn known(&self, locked: &Locked) -> Result<Digests, LockFileError> {
        let mut content = self.read()?;
        let known = content.plugins.remove(&locked.plugin);
        let known = known.and_then(|mut platforms| platforms.remove(&locked.platform));
        if self.mode == LockMode::Update {
            return Ok(known.unwrap_or_default());
        }
        let digests = known.ok_or_else(|| LockFileError::Unknown {
            plugin: locked.plugin.clone(),
            platform: locked.platform.clone(),
            path: self.path.clone(),
        })?;
        if digests.content.is_none() {
            return Err(self.no_content(locked));
        }
        Ok(digests)
    }

    /// The newest version of a plugin for a platform in the file; an error if there is none.
    pub(crate) fn newest(
        &self,
        kind: PluginKind,
        name: &str,
        platform: Platform,
    ) -> Result<Version, LockFileError> {
        let prefix = format!("{kind}-{name}-v");
        let content = self.read()?;
        let here = platform.key();
        let versions = content
            .plugins
            .iter()
            .filter(|(_, platforms)| platforms.contains_key(&here))
            .filter_map(|(plugin, _)| parse_tolerant(plugin.strip_prefix(&prefix)?));
        versions.max().ok_or_else(|| LockFileError::Unknown {
            plugin: format!("{kind}-{name}"),
            platform: here,
            path: self.path.clone(),
        })
    }

    /// Checks that the archive with this checksum may be used for a plugin.
    pub(crate) fn admit_archive(&self, locked: &Locked, actual: &str) -> Result<(), LockFileError> {
        match self.known(locked)?.archive {
            Some(expected) if expected != actual => Err(LockFileError::Different {
                plugin: locked.plugin.clone(),
                platform: locked.platform.clone(),
                path: self.path.clone(),
                expected,
                actual: actual.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that a plugin with this digest of files may be used. `None` means that its listing is missing.
    pub(crate) fn admit_content(
        &self,
        locked: &Locked,
        folder: &Path,
        actual: Option<&str>,
    ) -> Result<(), LockFileError> {
        let expected = self.known(locked)?.content;
        let expected = expected.ok_or_else(|| self.no_content(locked))?;
        let actual = actual.ok_or_else(|| LockFileError::NoListing {
            plugin: locked.plugin.clone(),
            folder: folder.to_owned(),
        })?;
        if actual == expected {
            return Ok(());
        }
        Err(LockFileError::Changed {
            plugin: locked.plugin.clone(),
            folder: folder.into(),
            path: self.path.clone().into(),
            file: Contents::first_change(folder, &expected),
            expected: expected.into(),
            actual: actual.into(),
        })
    }

    /// Adds the digests of a plugin; existing digests are kept.
    pub(crate) fn note(&self, locked: &Locked, found: Digests) -> Result<(), LockFileError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut content = self.read()?;
        let platforms = content.plugins.entry(locked.plugin.clone()).or_default();
        let known = platforms.entry(locked.platform.clone()).or_default();
        let both = Digests {
            archive: known.archive.clone().or(found.archive),
            content: known.content.clone().or(found.content),
        };
        if *known == both {
            return Ok(());
        }
        *known = both;
        content.version = VERSION;
        match self.write(&content) {
            // The project may be on a read-only disk; then every run behaves like the first one.
            Err(LockFileError::File { source, path, .. }) if is_read_only(&source) => {
                tracing::warn!(path = %path.display(), error = %source, "the lock file cannot be written");
                Ok(())
            }
            written => written,
        }
    }

    fn no_content(&self, locked: &Locked) -> LockFileError {
        LockFileError::NoContent {
            plugin: locked.plugin.clone(),
            platform: locked.platform.clone(),
            path: self.path.clone(),
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

    /// Replaces the file atomically, because other processes may read it concurrently.
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

fn is_read_only(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}
