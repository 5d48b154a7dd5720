//! The plugin cache: one folder per plugin and version (`protocol.md` 14.2).

use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use semver::Version;

use super::{PluginKind, parse_tolerant};

/// The folder of downloaded plugins.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
}

/// A plugin in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedPlugin {
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// Name of the plugin; for a plugin from a repository, the address with separators replaced.
    pub name: String,
    /// Version; `None` only for folders of very old programs.
    pub version: Option<Version>,
    /// Folder of the plugin.
    pub directory: PathBuf,
}

/// Details of a cached plugin for `plugin ls`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginUsage {
    /// Size of all its files, in bytes.
    pub size: u64,
    /// Time of the installation.
    pub installed: Option<SystemTime>,
    /// Time of the last start.
    pub last_used: Option<SystemTime>,
}

/// Error of reading or removing a file of the cache.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {}", path.display())]
pub struct CacheError {
    /// Verb for the failed action.
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Cause.
    #[source]
    pub source: io::Error,
}

impl Cache {
    /// The cache in `directory`, which need not exist.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Cache {
            directory: directory.into(),
        }
    }

    /// The folder itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// All completely installed plugins, by name, then kind, then version from new to old.
    pub fn list(&self) -> Result<Vec<CachedPlugin>, CacheError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(CacheError {
                    action: "read",
                    path: self.directory.clone(),
                    source,
                });
            }
        };
        let mut plugins: Vec<CachedPlugin> = entries
            .filter_map(|entry| plugin_at(&entry.ok()?.path()))
            .collect();
        plugins.sort_by(|left, right| {
            (&left.name, left.kind)
                .cmp(&(&right.name, right.kind))
                .then_with(|| compare_versions(right.version.as_ref(), left.version.as_ref()))
        });
        Ok(plugins)
    }

    /// The cached plugin that `file` belongs to, if any.
    pub fn owner_of(&self, file: &Path) -> Option<CachedPlugin> {
        let mut folders = file.ancestors();
        plugin_at(folders.find(|folder| folder.parent() == Some(&self.directory))?)
    }

    /// Selects the plugin to run (`protocol.md` 14.4) and records the time of use.
    pub(super) fn select(
        &self,
        kind: PluginKind,
        name: &str,
        version: Option<&Version>,
        accept_newer: bool,
    ) -> Option<CachedPlugin> {
        let candidates: Vec<CachedPlugin> = self
            .list()
            .ok()?
            .into_iter()
            .filter(|plugin| plugin.kind == kind && plugin.name == name)
            .collect();
        let chosen = choose(candidates, version, accept_newer)?;
        mark_used(&chosen.directory);
        Some(chosen)
    }

    /// Size and times of a plugin.
    pub fn usage(&self, plugin: &CachedPlugin) -> Result<PluginUsage, CacheError> {
        let error = |source| CacheError {
            action: "read",
            path: plugin.directory.clone(),
            source,
        };
        let metadata = fs::metadata(&plugin.directory).map_err(error)?;
        let last_used = fs::metadata(beside(&plugin.directory, ".lastused"))
            .and_then(|marker| marker.modified())
            .or_else(|_| metadata.accessed())
            .ok();
        Ok(PluginUsage {
            size: size_of(&plugin.directory).map_err(error)?,
            installed: change_time(&metadata).or_else(|| metadata.modified().ok()),
            last_used,
        })
    }

    /// Time at which a plugin was installed.
    pub(crate) fn installed(plugin: &CachedPlugin) -> Option<SystemTime> {
        let metadata = fs::metadata(&plugin.directory).ok()?;
        change_time(&metadata).or_else(|| metadata.modified().ok())
    }

    /// Removes a plugin and the files beside its folder.
    pub fn remove(&self, plugin: &CachedPlugin) -> Result<(), CacheError> {
        fs::remove_dir_all(&plugin.directory).map_err(|source| CacheError {
            action: "remove",
            path: plugin.directory.clone(),
            source,
        })?;
        for suffix in [".lock", ".partial", ".lastused", ".sha256", ".contents"] {
            let path = beside(&plugin.directory, suffix);
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(CacheError {
                        action: "remove",
                        path,
                        source,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn beside(directory: &Path, suffix: &str) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn plugin_at(path: &Path) -> Option<CachedPlugin> {
    let (kind, name, version) = parse_directory_name(path.file_name()?.to_str()?)?;
    if !path.is_dir() || beside(path, ".partial").exists() {
        return None;
    }
    Some(CachedPlugin {
        kind,
        name,
        version: Some(version),
        directory: path.to_owned(),
    })
}

/// Splits `<kind>-<name>-v<version>`.
fn parse_directory_name(text: &str) -> Option<(PluginKind, String, Version)> {
    if let Some((_, digits)) = text.rsplit_once(".tmp")
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let (kind, rest) = text.split_once('-')?;
    let kind = PluginKind::from_name(kind)?;
    let (name, version) = rest.rmatch_indices("-v").find_map(|(at, _)| {
        let version = parse_tolerant(&rest[at + 2..])?;
        is_plugin_name(&rest[..at]).then(|| (rest[..at].to_owned(), version))
    })?;
    Some((kind, name, version))
}

fn is_plugin_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let bytes = name.as_bytes();
    let first = bytes
        .first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let last = bytes.last().is_some_and(u8::is_ascii_alphanumeric);
    first && last && bytes.len() >= 2 && bytes.iter().copied().all(legal)
}

/// Orders versions by precedence, then by text; no version comes first.
fn compare_versions(left: Option<&Version>, right: Option<&Version>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => left
            .cmp_precedence(right)
            .then_with(|| left.to_string().cmp(&right.to_string())),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

fn choose(
    candidates: Vec<CachedPlugin>,
    wanted: Option<&Version>,
    accept_newer: bool,
) -> Option<CachedPlugin> {
    let is_commit = |version: &Version| {
        (version.major, version.minor, version.patch) == (0, 0, 0) && !version.pre.is_empty()
    };
    let best = |keep: &dyn Fn(&Version) -> bool| {
        candidates
            .iter()
            .filter(|plugin| plugin.version.as_ref().is_none_or(keep))
            .max_by(|left, right| compare_versions(left.version.as_ref(), right.version.as_ref()))
    };
    let chosen = match wanted {
        Some(wanted) if is_commit(wanted) => candidates
            .iter()
            .find(|plugin| plugin.version.as_ref() == Some(wanted)),
        Some(wanted) if !accept_newer => {
            best(&|version| version.cmp_precedence(wanted) == Ordering::Equal)
        }
        _ => {
            let fits = |version: &Version| {
                wanted.is_none_or(|wanted| version.cmp_precedence(wanted) != Ordering::Less)
            };
            let release = best(&|version| fits(version) && version.pre.is_empty());
            release
                .filter(|plugin| plugin.version.is_some())
                .or_else(|| best(&fits))
        }
    };
    chosen.cloned()
}

/// Records the time of use. Failures are ignored, because only a listing shows this time.
fn mark_used(directory: &Path) {
    let path = beside(directory, ".lastused");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let marked = options
        .open(&path)
        .and_then(|file| file.set_modified(SystemTime::now()));
    if let Err(error) = marked {
        tracing::debug!(path = %path.display(), %error, "could not note the use of a plugin");
    }
}

fn size_of(path: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        total += if metadata.is_dir() {
            size_of(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(total)
}

#[cfg(unix)]
fn change_time(metadata: &fs::Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u32::try_from(metadata.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
fn change_time(metadata: &fs::Metadata) -> Option<SystemTime> {
    metadata.created().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_names_are_split() {
        let split = |text: &str| {
            parse_directory_name(text)
                .map(|(kind, name, version)| format!("{kind} {name} {version}"))
        };
        assert_eq!(
            split("resource-aws-v6.1.0").as_deref(),
            Some("resource aws 6.1.0")
        );
        assert_eq!(
            split("resource-azure-native-v2.0.0-beta.1").as_deref(),
            Some("resource azure-native 2.0.0-beta.1")
        );
        assert_eq!(
            split("resource-github.com_org_repo-v0.0.0-xabc1").as_deref(),
            Some("resource github.com_org_repo 0.0.0-xabc1")
        );
        for text in [
            "resource-aws",
            "thing-aws-v1.0.0",
            "resource--v1.0.0",
            "resource-aws-v1.0.0.tmp12",
            "resource-aws-vx",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
