//! Plugins that a project names itself, in place of installed ones.

use std::path::Path;

use indexmap::IndexMap;
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::{MANIFEST_FILE, ProjectPlugin};
use plumb_project::files;
use plumb_project::project::{PackageSpec, PluginProject};

use super::{path_of, plugin_at};
use crate::context::LoadedProject;

/// Plugins named in a project file, and those that its plugins from folders name for their own programs.
///
/// For example, a component of plugin A has a component of plugin B as its child, and only the manifest of A says in which folder B
/// is. Of several plugins with the same name, that of the project is used, then the first one found.
pub(super) fn plugins_of(project: &LoadedProject) -> Vec<ProjectPlugin> {
    let mut all = named(project);
    add_packages(&mut all, &project.project.packages, project.root());
    let mut next = 0;
    while let Some(plugin) = all.get(next) {
        next += 1;
        let folder = plugin.path.clone();
        if plugin.kind == PluginKind::Resource
            && let Some(packages) = packages_of(&folder)
        {
            add_packages(&mut all, &packages, &folder);
        }
    }
    all
}

/// Plugins in the section `plugins`.
fn named(project: &LoadedProject) -> Vec<ProjectPlugin> {
    let plugins = &project.project.plugins;
    let kinds = [
        (PluginKind::Resource, &plugins.providers),
        (PluginKind::Language, &plugins.languages),
        (PluginKind::Analyzer, &plugins.analyzers),
    ];
    kinds
        .into_iter()
        .flat_map(|(kind, entries)| entries.iter().map(move |entry| (kind, entry)))
        .map(|(kind, entry)| ProjectPlugin {
            kind,
            name: entry.name.clone(),
            path: project.root().join(&entry.path),
            version: entry
                .version
                .as_ref()
                .and_then(|text| semver::Version::parse(text).ok()),
        })
        .collect()
}

/// Adds the plugins in folders that are the sources of packages.
fn add_packages(
    all: &mut Vec<ProjectPlugin>,
    packages: &IndexMap<String, PackageSpec>,
    root: &Path,
) {
    let packages = packages.iter();
    for plugin in packages.filter_map(|(name, spec)| package_plugin(name, spec, root)) {
        let is_known = |it: &ProjectPlugin| it.kind == plugin.kind && it.name == plugin.name;
        if !all.iter().any(is_known) {
            all.push(plugin);
        }
    }
}

/// Local plugin of a package. It has the name of the package, unless the package is parameterized.
fn package_plugin(name: &str, spec: &PackageSpec, root: &Path) -> Option<ProjectPlugin> {
    let is_schema = plumb_schema::Format::of_file(&spec.source).is_some();
    if is_schema || !spec.source.starts_with(['.', '/']) {
        return None;
    }
    let path = path_of(&spec.source, root)?;
    if !spec.parameters.is_empty() || !spec.extensions.is_empty() {
        return plugin_at(&path).ok();
    }
    Some(ProjectPlugin {
        kind: PluginKind::Resource,
        name: name.to_owned(),
        path,
        version: None,
    })
}

/// Packages of the plugin with sources in a folder. A manifest that cannot be read is reported when the plugin starts.
fn packages_of(folder: &Path) -> Option<IndexMap<String, PackageSpec>> {
    let manifest = folder.join(MANIFEST_FILE);
    let text = files::read_text(&manifest).ok()??;
    let plugin = PluginProject::parse(&manifest.display().to_string(), &text).ok()?;
    Some(plugin.packages)
}
