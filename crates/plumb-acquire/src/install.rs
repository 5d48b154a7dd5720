//! Installation of plugins into the cache (`protocol.md` 14.6).
//!
//! A plugin does not count as installed while `<folder>.partial` exists; the installing process holds `<folder>.lock`.
//! `<folder>.sha256` contains the checksum of its archive, `<folder>.contents` the listing of its published files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plumb_plugin::PluginKind;
use plumb_plugin::discovery::Cache;
use semver::Version;

use crate::archive::{self, ArchiveError, make_folder};
use crate::content::{Contents, listing_of};

/// Source of an installation.
#[derive(Clone, Debug)]
pub enum Package {
    /// A `tar.gz`.
    Archive(PathBuf),
    /// A folder, to be copied.
    Folder(PathBuf),
    /// A single executable.
    Program(PathBuf),
}

impl Package {
    /// The kind of package at `path`, by its name and file type.
    pub fn at(path: PathBuf) -> Self {
        let name = path.to_string_lossy();
        if path.is_dir() {
            Package::Folder(path)
        } else if name.ends_with(".tar.gz") || name.ends_with(".tgz") {
            Package::Archive(path)
        } else {
            Package::Program(path)
        }
    }
}

/// Errors of an installation.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A file could not be created, read or removed.
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
    /// The archive could not be unpacked.
    #[error("{} is not the archive of a plugin", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// Cause.
        #[source]
        source: ArchiveError,
    },
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_owned();
    move |source| InstallError::File {
        action,
        path,
        source,
    }
}

/// Exclusive right to install into a folder of the cache.
pub(crate) struct Claim {
    folder: PathBuf,
    /// Lock file; closing it releases the lock.
    _lock: File,
}

impl Claim {
    /// Claims the folder of a plugin; waits while another process installs it.
    pub(crate) fn take(
        cache: &Cache,
        kind: PluginKind,
        name: &str,
        version: &Version,
    ) -> Result<Self, InstallError> {
        let folder = cache.directory().join(format!("{kind}-{name}-v{version}"));
        fs::create_dir_all(cache.directory()).map_err(failed("create", cache.directory()))?;
        let path = beside(&folder, ".lock");
        let lock = File::create(&path).map_err(failed("create", &path))?;
        lock.lock().map_err(failed("lock", &path))?;
        Ok(Claim {
            folder,
            _lock: lock,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the plugin is completely installed.
    pub(crate) fn is_installed(&self) -> bool {
        self.folder.is_dir() && !self.marker().exists()
    }

    fn marker(&self) -> PathBuf {
        beside(&self.folder, ".partial")
    }

    /// Lists the published files before dependencies are installed beside them, stores the listing and returns its digest.
    pub(crate) fn list(&self) -> Result<String, InstallError> {
        let contents = Contents::of(&self.folder).map_err(failed("read", &self.folder))?;
        let listing = listing_of(&self.folder);
        contents
            .keep(&self.folder)
            .map_err(failed("write", &listing))?;
        Ok(contents.digest())
    }

    /// Unpacks a package and replaces existing content. The plugin does not count as installed before [`Claim::finish`].
    pub(crate) fn unpack(&self, package: &Package, program: &str) -> Result<(), InstallError> {
        let (folder, marker) = (&self.folder, self.marker());
        File::create(&marker).map_err(failed("create", &marker))?;
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed("remove", folder))?;
        }
        make_folder(folder).map_err(failed("create", folder))?;
        match package {
            Package::Archive(path) => {
                archive::unpack(path, folder).map_err(|source| InstallError::Archive {
                    path: path.clone(),
                    source,
                })
            }
            Package::Folder(path) => copy_folder(path, folder).map_err(failed("copy", path)),
            Package::Program(path) => {
                let target = folder.join(program);
                fs::copy(path, &target).map_err(failed("copy", path))?;
                make_executable(&target).map_err(failed("make executable", &target))
            }
        }
    }

    /// Marks the plugin as installed.
    pub(crate) fn finish(&self, checksum: Option<&str>) -> Result<(), InstallError> {
        let origin = beside(&self.folder, ".sha256");
        match checksum {
            Some(checksum) => {
                fs::write(&origin, format!("{checksum}\n")).map_err(failed("write", &origin))?;
            }
            // The checksum is that of an earlier installation.
            None if origin.exists() => {
                fs::remove_file(&origin).map_err(failed("remove", &origin))?;
            }
            None => {}
        }
        let marker = self.marker();
        fs::remove_file(&marker).map_err(failed("remove", &marker))
    }
}

/// SHA-256 of the archive that the plugin in `folder` was installed from, if known.
pub(crate) fn checksum_of(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(beside(folder, ".sha256")).ok()?;
    Some(text.trim().to_owned())
}

/// Installs a plugin from a local package; returns false if it is already installed and `reinstall` is false.
pub fn install(
    cache: &Cache,
    kind: PluginKind,
    name: &str,
    version: &Version,
    package: &Package,
    reinstall: bool,
) -> Result<bool, InstallError> {
    let claim = Claim::take(cache, kind, name, version)?;
    if claim.is_installed() && !reinstall {
        return Ok(false);
    }
    claim.unpack(package, &kind.file_name(name))?;
    claim.list()?;
    claim.finish(None)?;
    Ok(true)
}

pub(crate) fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            make_folder(&target)?;
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}
