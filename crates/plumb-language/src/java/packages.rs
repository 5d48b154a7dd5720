//! Parsers for the tools' lists of packages and libraries.

use std::fs;
use std::path::Path;

use plumb_plugin::discovery::parse_tolerant;
use plumb_plugin::language::PackageDependency;

use crate::compiled::CompiledError;
use crate::plugin_file::PluginFile;

/// Parses the list of packages in the output of a tool, which may print other lines around it.
pub(super) fn read(text: &str, command: &str) -> Result<Vec<PackageDependency>, CompiledError> {
    let list = text
        .lines()
        .map(str::trim)
        .rfind(|line| line.starts_with('['));
    let files: Vec<PluginFile> =
        serde_json::from_str(list.unwrap_or_default()).map_err(|source| {
            CompiledError::ToolOutput {
                command: command.to_owned(),
                source,
            }
        })?;
    Ok(files.into_iter().filter_map(package).collect())
}

fn package(file: PluginFile) -> Option<PackageDependency> {
    if !file.resource {
        return None;
    }
    let name = file.given_name()?.to_owned();
    let version = parse_tolerant(file.given_version()?)?;
    Some(file.package(name, version))
}

/// Library in a Maven repository, as `group:artifact:version:repository`.
pub(super) fn artifact(repository: &Path) -> Option<String> {
    let description = find_description(repository)?;
    let version_folder = description.parent()?;
    let artifact_folder = version_folder.parent()?;
    let group = artifact_folder.parent()?.strip_prefix(repository).ok()?;
    let group: Vec<_> = group
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    let name = |folder: &Path| Some(folder.file_name()?.to_string_lossy().into_owned());
    Some(format!(
        "{}:{}:{}:{}",
        group.join("."),
        name(artifact_folder)?,
        name(version_folder)?,
        repository.display()
    ))
}

/// First `.pom` file below a folder.
fn find_description(directory: &Path) -> Option<std::path::PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(directory)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    let is_description = |path: &&std::path::PathBuf| path.extension() == Some("pom".as_ref());
    if let Some(found) = entries.iter().find(is_description) {
        return Some(found.clone());
    }
    entries.iter().find_map(|path| find_description(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_between_other_lines() {
        let text = "[WARNING] something\n\
            [{\"resource\":true,\"name\":\"random\",\"version\":\"v4.1.0\"},{\"resource\":false,\"name\":\"x\"}]\nbye\n";
        let found = read(text, "mvn").unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|it| format!("{} {}", it.name, it.version.as_ref().unwrap()))
            .collect();
        assert_eq!(shown, ["random 4.1.0"]);
        assert!(read("nothing\n", "mvn").is_err());
        assert!(read("[]\n", "mvn").unwrap().is_empty());
    }

    #[test]
    fn a_published_library_is_named_by_its_coordinates() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("com/acme/cloud/1.2.0");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("cloud-1.2.0.pom"), "").unwrap();
        assert_eq!(
            artifact(root.path()).unwrap(),
            format!("com.acme:cloud:1.2.0:{}", root.path().display())
        );
    }
}
