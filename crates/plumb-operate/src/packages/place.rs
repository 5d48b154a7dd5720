//! Sources of packages: names, and paths of plugins.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::PluginKind;
use plumb_plugin::discovery::{ProjectPlugin, parse_tolerant};
use plumb_resource::provider::PluginSpec;

use crate::Error;

/// Path of the plugin that the source of a package names: a folder or a program. The source is relative to `root`, and may end with
/// a version, which is left out. `None` if the source names no path.
pub fn path_of(source: &str, root: &Path) -> Option<PathBuf> {
    let path = root.join(source);
    if path.is_dir() {
        return Some(path);
    }
    if !source.starts_with(['.', '/']) {
        return None;
    }
    match source.rsplit_once('@') {
        Some((before, version)) if !path.exists() && parse_tolerant(version).is_some() => {
            Some(root.join(before))
        }
        _ => Some(path),
    }
}

/// Plugin for `NAME` or `NAME@VERSION`.
pub fn named(source: &str) -> Result<PluginSpec, Error> {
    let Some((name, version)) = source.split_once('@') else {
        return Ok(PluginSpec::named(source));
    };
    let version = parse_tolerant(version)
        .ok_or_else(|| Error::user(format!("invalid plugin semver: {version}")))?;
    Ok(PluginSpec {
        version: Some(version),
        ..PluginSpec::named(name)
    })
}

/// Plugin at the path of its executable or its folder.
pub fn plugin_at(path: &Path) -> Result<ProjectPlugin, Error> {
    let program = if path.is_dir() {
        program_in(path)?
    } else {
        path.to_owned()
    };
    let file = program
        .file_stem()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let name = file.strip_prefix("pulumi-resource-").unwrap_or(file);
    if name.is_empty() || !path.exists() {
        return Err(Error::user(format!(
            "there is no plugin at {}",
            path.display()
        )));
    }
    Ok(ProjectPlugin {
        kind: PluginKind::Resource,
        name: name.to_owned(),
        version: None,
        path: path.to_owned(),
    })
}

/// Executable in a folder; the folder itself if it contains sources.
fn program_in(folder: &Path) -> Result<PathBuf, Error> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("pulumi-resource-")
        {
            return Ok(entry.path());
        }
    }
    Ok(folder.canonicalize()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_after_a_path_is_not_part_of_the_path() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        std::fs::create_dir_all(root.join("plain")).unwrap();
        std::fs::create_dir_all(root.join("odd@1.0.0")).unwrap();
        let path = |source: &str| path_of(source, root);
        assert_eq!(path("./plain@0.0.0"), Some(root.join("./plain")));
        assert_eq!(path("./odd@1.0.0"), Some(root.join("./odd@1.0.0")));
        assert_eq!(path("./gone@word"), Some(root.join("./gone@word")));
        assert_eq!(path("plain"), Some(root.join("plain")));
        assert_eq!(path("random@4.0.0"), None);
    }
}
