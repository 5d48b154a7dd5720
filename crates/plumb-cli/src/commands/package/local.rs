//! Packages of projects and plugins, and what the plugins of these packages need themselves.
//!
//! A package can come from a plugin whose sources lie in a folder. Before such a plugin runs for the first time, its own packages
//! and the dependencies of its program are installed; its packages can come from folders, too.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use plumb_operate::packages::path_of;
use plumb_operate::{Context, Error};
use plumb_plugin::discovery::MANIFEST_FILE;

use super::sdk::{self, LocalSdk};
use super::target::Target;
use crate::commands::new;

/// Manifest of the plugin that the source of a package names, if this is the folder of a plugin with sources.
fn manifest_of(source: &str, root: &Path) -> Option<PathBuf> {
    let folder = path_of(source, root)?.canonicalize().ok()?;
    Some(folder.join(MANIFEST_FILE)).filter(|path| path.is_file())
}

/// Installation of packages, and of the plugins in folders that they come from, each plugin once.
pub(crate) struct PackageInstallation<'c> {
    ctx: &'c Context,
    /// Whether the dependencies of plugins' programs are installed, too.
    with_dependencies: bool,
    installed: BTreeSet<PathBuf>,
}

impl<'c> PackageInstallation<'c> {
    pub(crate) fn new(with_dependencies: bool, ctx: &'c Context) -> Self {
        PackageInstallation {
            ctx,
            with_dependencies,
            installed: BTreeSet::new(),
        }
    }

    /// Installs the packages of a project or plugin: generates their SDKs, and links them to its program. Plugins that need each
    /// other are an error before anything is installed.
    pub(crate) fn packages_of(&mut self, target: &Target<'_>) -> Result<(), Error> {
        let mut above = match target.project {
            Some(_) => Vec::new(),
            None => vec![target.root().canonicalize()?],
        };
        check_cycles(target, &mut above)
            .map_err(|cycle| while_installing(target, Error::user(cycle.text(target.root()))))?;
        self.packages(target)
    }

    /// Installs what the plugin in a folder needs: its packages, and the dependencies of its program.
    pub(crate) fn plugin(&mut self, manifest: PathBuf) -> Result<(), Error> {
        let target = Target::of_plugin(manifest)?;
        self.packages_of(&target)?;
        self.dependencies(&target)
    }

    /// Installs what the plugin of the package `source` needs, if its sources are in a folder.
    pub(crate) fn source(&mut self, source: &str, root: &Path) -> Result<(), Error> {
        match manifest_of(source, root) {
            Some(manifest) if self.installed.insert(manifest.clone()) => self.plugin(manifest),
            _ => Ok(()),
        }
    }

    fn packages(&mut self, target: &Target<'_>) -> Result<(), Error> {
        let mut made = Vec::new();
        for (name, spec) in &target.packages {
            let mut one = || -> Result<LocalSdk, Error> {
                self.source(&spec.source, target.root())?;
                let schema = sdk::schema_of(spec, target.root(), self.ctx)?;
                sdk::make(&schema, &target.runtime, target.root(), self.ctx)
            };
            made.push(one().map_err(|error| while_installing(target, error.context(name)))?);
        }
        if !made.is_empty() {
            sdk::link(&made, &target.runtime, target.info.clone(), self.ctx)?;
        }
        Ok(())
    }

    fn dependencies(&self, target: &Target<'_>) -> Result<(), Error> {
        if self.with_dependencies {
            new::install_pack(&target.file, self.ctx)?;
        }
        Ok(())
    }
}

fn while_installing(target: &Target<'_>, error: Error) -> Error {
    let file = target.file.file_name().unwrap_or_default();
    error.context(format!("installing `packages` from {}", file.display()))
}

/// Folders of plugins that need each other in this order. The last one is the first one again.
struct Cycle(Vec<PathBuf>);

impl Cycle {
    /// The error, with paths relative to `root`.
    fn text(&self, root: &Path) -> String {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let folders = self.0.iter();
        let names: Vec<String> = folders
            .map(|folder| relative(folder, &root).display().to_string())
            .collect();
        format!("cycle found: {}", names.join(" -> "))
    }
}

/// Follows the packages from folders; `above` has the folders of the plugins on the way to `target`.
///
/// Manifests that cannot be read are left to the installation, which reports them with the package that needs them.
fn check_cycles(target: &Target<'_>, above: &mut Vec<PathBuf>) -> Result<(), Cycle> {
    for spec in target.packages.values() {
        let Some(manifest) = manifest_of(&spec.source, target.root()) else {
            continue;
        };
        let folder = manifest.parent().unwrap_or(Path::new("/")).to_owned();
        if let Some(first) = above.iter().position(|it| *it == folder) {
            let mut cycle = above[first..].to_vec();
            cycle.push(folder);
            return Err(Cycle(cycle));
        }
        if let Ok(plugin) = Target::of_plugin(manifest) {
            above.push(folder);
            check_cycles(&plugin, above)?;
            above.pop();
        }
    }
    Ok(())
}

/// The path `path` as seen from the folder `root`. Both are absolute and free of `..`.
fn relative(path: &Path, root: &Path) -> PathBuf {
    let shared = path
        .components()
        .zip(root.components())
        .take_while(|(left, right)| left == right)
        .count();
    let up = root.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
    if relative.as_os_str().is_empty() {
        return PathBuf::from(".");
    }
    relative
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_a_folder() {
        let relative = |path: &str| super::relative(Path::new(path), Path::new("/a/b"));
        assert_eq!(relative("/a/c"), Path::new("../c"));
        assert_eq!(relative("/a/b/c"), Path::new("c"));
        assert_eq!(relative("/x"), Path::new("../../x"));
        assert_eq!(relative("/a/b"), Path::new("."));
    }
}
