//! Information about a program for `about`.

use std::path::{Path, PathBuf};

use plumb_plugin::language::{AboutLanguage, ProgramDependency, ProgramInfo};
use serde_json::Value;

use super::NodeError;
use super::lock_file::{self, LockFile};
use super::manager::choose;
use super::modules::version_in;
use super::settings::{Engine, Settings};
use super::workspace::{self, read_json, read_yaml};
use crate::LanguageOptions;
use crate::tool::Tool;

/// Paths and versions of interpreter, package manager and compiler.
pub(super) async fn about(
    engine: Engine,
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<AboutLanguage, NodeError> {
    let settings = Settings::of(engine, info)?;
    let directory = &settings.program_directory;
    let program = engine.find(&options.environment, directory)?;
    let ask = async |program: &Path| {
        let tool = Tool {
            program: program.to_owned(),
            args: vec!["--version".into()],
            environment: options.environment.clone(),
            working_directory: directory.clone(),
        };
        let text = tool.capture().await?;
        Ok::<_, NodeError>(text.trim().to_owned())
    };
    let root = workspace::root_of(directory).unwrap_or_else(|| directory.clone());
    let mut metadata = Vec::new();
    if let Ok(choice) = choose(&settings, &options.environment, &root) {
        metadata.push(("packagemanager", choice.manager.command().to_owned()));
        if let Ok(version) = ask(&choice.program).await {
            metadata.push(("packagemanagerVersion", version));
        }
    }
    let compiler = installed_version("typescript", directory);
    metadata.extend(compiler.map(|version| ("typescriptVersion", version.to_string())));
    Ok(AboutLanguage {
        version: ask(&program).await?,
        executable: program.to_string_lossy().into_owned(),
        metadata: metadata
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    })
}

/// Installed version of a package, as code in `directory` resolves it.
fn installed_version(package: &str, directory: &Path) -> Option<semver::Version> {
    directory.ancestors().find_map(|folder| {
        version_in(
            &folder
                .join("node_modules")
                .join(package)
                .join("package.json"),
        )
    })
}

/// Packages of the program: all in the lock file, or only those in its manifest.
pub(super) fn list(
    info: &ProgramInfo,
    transitive: bool,
) -> Result<Vec<ProgramDependency>, NodeError> {
    let directory = &info.program_directory;
    let (path, kind) = find_lock_file(directory).ok_or_else(|| NodeError::NoLockFile {
        directory: directory.clone(),
    })?;
    let locked =
        lock_file::read(&path, kind).map_err(|source| NodeError::LockFile { path, source })?;
    if transitive {
        return Ok(locked);
    }
    let mut direct: Vec<ProgramDependency> = wanted(directory)
        .into_iter()
        .filter_map(|name| {
            let installed = installed_version(&name, directory).map(|version| version.to_string());
            let noted = || {
                locked
                    .iter()
                    .find(|it| it.name == name)
                    .map(|it| it.version.clone())
            };
            let version = installed.or_else(noted)?;
            Some(ProgramDependency { name, version })
        })
        .collect();
    direct.sort();
    Ok(direct)
}

/// Nearest lock file.
fn find_lock_file(directory: &Path) -> Option<(PathBuf, LockFile)> {
    directory.ancestors().find_map(|folder| {
        LockFile::NAMES
            .into_iter()
            .map(|(name, kind)| (folder.join(name), kind))
            .find(|(path, _)| path.is_file())
    })
}

/// Names of the packages in the nearest manifest.
fn wanted(directory: &Path) -> Vec<String> {
    let manifest = directory.ancestors().find_map(|folder| {
        read_json(&folder.join("package.json")).or_else(|| read_yaml(&folder.join("package.yaml")))
    });
    let Some(manifest) = manifest else {
        return Vec::new();
    };
    ["dependencies", "devDependencies"]
        .iter()
        .filter_map(|key| manifest.get(key).and_then(Value::as_object))
        .flat_map(|listed| listed.keys().cloned())
        .collect()
}
