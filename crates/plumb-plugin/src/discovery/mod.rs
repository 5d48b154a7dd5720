//! Discovery of plugin files (`protocol.md` 14.1 to 14.4).
//!
//! [`Discovery::find`] searches the following places in order; the first match wins:
//! 1. plugins that the project file names;
//! 2. the search path, with any version;
//! 3. the plugins bundled with the program;
//! 4. the plugin cache, see [`cache`].

pub mod cache;
mod kind;
mod manifest;
mod repository;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plumb_resource::provider::PluginSpec;
use semver::Version;

pub use cache::{Cache, CachedPlugin};
pub use kind::PluginKind;
pub(crate) use manifest::read_manifest;
pub use manifest::{MANIFEST_FILE, ManifestError, PluginManifest};
pub use repository::{Repository, RepositoryError, commit_of, commit_version};
pub use version::parse_tolerant;

const BUNDLED_LANGUAGES: [&str; 8] = [
    "nodejs", "bun", "go", "python", "dotnet", "yaml", "java", "pcl",
];
const BUNDLED_RESOURCES: [&str; 2] = ["pulumi-nodejs", "pulumi-python"];

/// A plugin in the project file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPlugin {
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// Name of the plugin.
    pub name: String,
    /// Version, if the project gives one.
    pub version: Option<Version>,
    /// The executable, or the directory that holds it (or a `PulumiPlugin.yaml`). Absolute.
    pub path: PathBuf,
}

/// Place where a plugin was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginSource {
    /// The project file.
    Project,
    /// The search path.
    Path,
    /// The folder of the program.
    Bundled,
    /// The plugin cache.
    Cache,
}

/// A plugin on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlugin {
    /// Place where the plugin was found.
    pub source: PluginSource,
    /// The executable; it need not exist when the plugin is a directory with a `PulumiPlugin.yaml`.
    pub executable: PathBuf,
    /// The version, if the place determines it.
    pub version: Option<Version>,
    /// Warnings for the user about the choice.
    pub warnings: Vec<String>,
}

impl FoundPlugin {
    /// Folder of the `PulumiPlugin.yaml` that describes how to run the plugin; `None` for an executable.
    pub fn source_directory(&self) -> Option<&Path> {
        if self.executable.is_file() {
            return None;
        }
        let directory = if self.executable.is_dir() {
            self.executable.as_path()
        } else {
            self.executable.parent()?
        };
        directory.join(MANIFEST_FILE).is_file().then_some(directory)
    }
}

/// Errors of discovery.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No place has the plugin.
    #[error(
        "no {kind} plugin 'pulumi-{kind}-{name}' found in the workspace{}{}{}",
        version.as_ref().map(|version| format!(" at version v{version}")).unwrap_or_default(),
        if *searched_path { " or on your $PATH" } else { "" },
        url.as_ref().map(|url| format!(" from {url}")).unwrap_or_default()
    )]
    NotFound {
        /// Requested kind.
        kind: PluginKind,
        /// Requested name.
        name: String,
        /// Requested version.
        version: Option<Version>,
        /// Whether the search path was searched.
        searched_path: bool,
        /// Address from which the plugin could be downloaded.
        url: Option<String>,
    },
    /// The project file names the plugin more than once.
    #[error("multiple project plugins with kind {kind}, name {name}, version {}", display_version(version.as_ref()))]
    Ambiguous {
        /// Requested kind.
        kind: PluginKind,
        /// Requested name.
        name: String,
        /// Version that both entries have.
        version: Option<Version>,
    },
}

fn display_version(version: Option<&Version>) -> String {
    version.map_or_else(|| "<nil>".to_owned(), ToString::to_string)
}

/// Places to search for plugins.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// Plugins in the project file.
    pub project: Vec<ProjectPlugin>,
    /// The search path; `None` when it must not be used.
    pub search_path: Option<OsString>,
    /// Folder of the program, with symbolic links resolved.
    pub bundled: Option<PathBuf>,
    /// The plugin cache.
    pub cache: Cache,
    /// Whether a cached plugin newer than the requested one is accepted.
    pub accept_newer: bool,
}

impl Discovery {
    /// Finds the plugin for `spec`.
    pub(crate) fn find_spec(
        &self,
        kind: PluginKind,
        spec: &PluginSpec,
    ) -> Result<FoundPlugin, FindError> {
        let (version, url) = (spec.version.as_ref(), spec.download_url.as_deref());
        let found = self.find(kind, &spec.name, version, url);
        let repository = url.filter(|url| url.starts_with("git://"));
        let repository = repository.and_then(|url| Repository::parse(url).ok());
        let is_elsewhere = match &found {
            Ok(found) => found.source != PluginSource::Cache,
            Err(error) => !matches!(error, FindError::NotFound { .. }),
        };
        let (Some(repository), false) = (repository, is_elsewhere) else {
            return found;
        };
        // A plugin from a repository is cached under a name made from its address, and may be in a subfolder.
        let fetched = self.find_fetched(kind, &spec.name, &repository, version);
        fetched.ok_or_else(|| FindError::NotFound {
            kind,
            name: spec.name.to_string(),
            version: version.cloned(),
            searched_path: self.search_path.is_some(),
            url: url.map(ToOwned::to_owned),
        })
    }

    fn find_fetched(
        &self,
        kind: PluginKind,
        name: &str,
        repository: &Repository,
        version: Option<&Version>,
    ) -> Option<FoundPlugin> {
        let fetched = repository.plugin_name();
        let plugin = self.cache.select(kind, &fetched, version, false)?;
        let folder = plugin.directory.join(repository.folder());
        Some(FoundPlugin {
            source: PluginSource::Cache,
            executable: executable_in(&folder, &kind.file_name(name)),
            version: plugin.version,
            warnings: Vec::new(),
        })
    }

    /// Finds the plugin in the project file, if the file names it.
    pub fn find_named(
        &self,
        kind: PluginKind,
        name: &str,
    ) -> Result<Option<FoundPlugin>, FindError> {
        let mut warnings = Vec::new();
        let found = self.find_in_project(kind, name, None, &mut warnings)?;
        Ok(found.map(|found| FoundPlugin { warnings, ..found }))
    }

    /// Finds a plugin; `url` is only used in the error message.
    pub fn find(
        &self,
        kind: PluginKind,
        name: &str,
        version: Option<&Version>,
        url: Option<&str>,
    ) -> Result<FoundPlugin, FindError> {
        let mut warnings = Vec::new();
        let mut found = self.find_in_project(kind, name, version, &mut warnings)?;
        if found.is_none() {
            found = self.find_on_path(kind, name);
        }
        let found = found
            .or_else(|| self.find_bundled(kind, name))
            .or_else(|| self.find_cached(kind, name, version))
            .ok_or_else(|| FindError::NotFound {
                kind,
                name: name.to_owned(),
                version: version.cloned(),
                searched_path: self.search_path.is_some(),
                url: url.map(ToOwned::to_owned),
            })?;
        warnings.extend(found.warnings);
        Ok(FoundPlugin { warnings, ..found })
    }

    fn find_in_project(
        &self,
        kind: PluginKind,
        name: &str,
        version: Option<&Version>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<FoundPlugin>, FindError> {
        let mut hit: Option<&ProjectPlugin> = None;
        for plugin in self
            .project
            .iter()
            .filter(|plugin| plugin.kind == kind && plugin.name == name)
        {
            if let (Some(wanted), Some(given)) = (version, &plugin.version)
                && wanted != given
            {
                warnings.push(format!(
                    "the project plugin {name} at {} has version {given}, but {wanted} is wanted; it is not used",
                    plugin.path.display()
                ));
                continue;
            }
            if hit.is_some_and(|other| other.version == plugin.version) {
                return Err(FindError::Ambiguous {
                    kind,
                    name: name.to_owned(),
                    version: plugin.version.clone(),
                });
            }
            hit = hit.or(Some(plugin));
        }
        Ok(hit.map(|plugin| FoundPlugin {
            source: PluginSource::Project,
            executable: executable_in(&plugin.path, &kind.file_name(name)),
            version: plugin.version.clone(),
            warnings: Vec::new(),
        }))
    }

    fn find_on_path(&self, kind: PluginKind, name: &str) -> Option<FoundPlugin> {
        let path = self.search_path.as_ref()?;
        let file = kind.file_name(name);
        let executable = which::which_in_global(&file, Some(path))
            .ok()?
            .find(|executable| !self.is_program(executable))?;
        let bundled = self.find_bundled(kind, name).map(|found| found.executable);
        if let Some(bundled) = &bundled
            && same_file(&executable, bundled)
        {
            return Some(FoundPlugin {
                source: PluginSource::Bundled,
                executable,
                version: None,
                warnings: Vec::new(),
            });
        }
        let expected = bundled
            .map(|path| format!(" expected {}", path.display()))
            .unwrap_or_default();
        let warning = format!(
            "using {file} from $PATH at {}{expected}",
            executable.display()
        );
        Some(FoundPlugin {
            source: PluginSource::Path,
            executable,
            version: None,
            warnings: vec![warning],
        })
    }

    fn find_bundled(&self, kind: PluginKind, name: &str) -> Option<FoundPlugin> {
        let names: &[&str] = match kind {
            PluginKind::Language => &BUNDLED_LANGUAGES,
            PluginKind::Resource => &BUNDLED_RESOURCES,
            PluginKind::Analyzer | PluginKind::Converter | PluginKind::Tool => &[],
        };
        if !names.contains(&name) {
            return None;
        }
        let executable = executable_in(self.bundled.as_ref()?, &kind.file_name(name));
        let is_plugin = is_executable(&executable) && !self.is_program(&executable);
        is_plugin.then_some(FoundPlugin {
            source: PluginSource::Bundled,
            executable,
            version: None,
            warnings: Vec::new(),
        })
    }

    /// Whether a plugin is a link to this program, which serves its language hosts under such names. Such a plugin is
    /// skipped, because the program reaches its own hosts without a process.
    fn is_program(&self, plugin: &Path) -> bool {
        let Ok(target) = plugin.canonicalize() else {
            return false;
        };
        let is_named_otherwise = || {
            let name = target.file_name().unwrap_or_default();
            !name.to_string_lossy().starts_with("pulumi-")
        };
        self.bundled.is_some() && target.parent() == self.bundled.as_deref() && is_named_otherwise()
    }

    fn find_cached(
        &self,
        kind: PluginKind,
        name: &str,
        version: Option<&Version>,
    ) -> Option<FoundPlugin> {
        let plugin = self.cache.select(kind, name, version, self.accept_newer)?;
        Some(FoundPlugin {
            source: PluginSource::Cache,
            executable: executable_in(&plugin.directory, &kind.file_name(name)),
            version: plugin.version,
            warnings: Vec::new(),
        })
    }
}

/// The executable called `file` in `path`, or `path` itself if it is a file.
fn executable_in(path: &Path, file: &str) -> PathBuf {
    if path.is_file() {
        return path.to_owned();
    }
    let candidates: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd"]
    } else {
        &[""]
    };
    candidates
        .iter()
        .map(|suffix| path.join(format!("{file}{suffix}")))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| path.join(file))
}

fn same_file(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests;
