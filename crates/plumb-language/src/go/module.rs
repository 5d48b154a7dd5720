//! Contents of a `go.mod`, and folders of modules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plumb_plugin::process::Environment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::settings::go;
use crate::compiled::CompiledError;

/// A `go.mod`, as `go mod edit -json` prints it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ModuleFile {
    pub(super) module: ModulePath,
    #[serde(default)]
    pub(super) require: Option<Vec<Requirement>>,
    #[serde(default)]
    pub(super) replace: Option<Vec<Replacement>>,
}

/// Path of a module, with its version if one is given.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ModulePath {
    pub(super) path: String,
    #[serde(default)]
    pub(super) version: String,
}

/// A required module.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Requirement {
    pub(super) path: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) indirect: bool,
}

/// A module that replaces another one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Replacement {
    pub(super) old: ModulePath,
    pub(super) new: ModulePath,
}

impl ModuleFile {
    /// Reads the file at `path`.
    pub(super) async fn read(
        path: &Path,
        environment: &Environment,
    ) -> Result<Self, CompiledError> {
        let directory = path.parent().unwrap_or(path);
        let mut tool = go(&["mod", "edit", "-json"], environment, directory)?;
        tool.args.push(path.into());
        let text = tool.capture().await?;
        serde_json::from_str(&text).map_err(|source| CompiledError::ToolOutput {
            command: tool.display(),
            source,
        })
    }

    pub(super) fn requirements(&self) -> &[Requirement] {
        self.require.as_deref().unwrap_or_default()
    }

    /// Whether the module is replaced by a local folder.
    pub(super) fn is_local(&self, requirement: &Requirement) -> bool {
        let replaced = self.replace.as_deref().unwrap_or_default();
        replaced.iter().any(|replacement| {
            let old = &replacement.old;
            old.path == requirement.path
                && (old.version.is_empty() || old.version == requirement.version)
                && replacement.new.version.is_empty()
        })
    }
}

/// The `go.mod` of the program in `directory`. A workspace alone is not a module.
pub(super) async fn module_file(
    directory: &Path,
    environment: &Environment,
) -> Result<PathBuf, CompiledError> {
    let mut environment = environment.clone();
    environment.insert("GOWORK".into(), "off".into());
    let tool = go(
        &["list", "-m", "-mod=readonly", "-f", "{{.GoMod}}"],
        &environment,
        directory,
    )?;
    let path = tool.capture().await?;
    match path.trim() {
        "" => Err(CompiledError::NoSources {
            wanted: "a go.mod",
            directory: directory.to_owned(),
        }),
        path => Ok(path.into()),
    }
}

/// A module and its folder, as `go list -m -json` and `go mod download -json` print them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Module {
    pub(super) path: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) dir: Option<PathBuf>,
    #[serde(default)]
    pub(super) replace: Option<Box<Module>>,
    /// Its `go.mod`, which can exist without the module's folder.
    #[serde(default)]
    pub(super) go_mod: Option<PathBuf>,
}

/// Modules that a program requires, with their folders.
pub(super) async fn modules(
    file: &Path,
    environment: &Environment,
) -> Result<Vec<Module>, CompiledError> {
    let directory = file.parent().unwrap_or(file);
    let read = ModuleFile::read(file, environment).await?;
    let vendor = directory.join("vendor");
    if vendor.is_dir() {
        let required = read.require.into_iter().flatten();
        return Ok(required.map(|it| vendored(it, &vendor)).collect());
    }
    let required: Vec<&str> = read
        .requirements()
        .iter()
        .map(|requirement| requirement.path.as_str())
        .collect();
    if required.is_empty() {
        return Ok(Vec::new());
    }
    let mut list = go(&["list", "-e", "-m", "-json"], environment, directory)?;
    list.args.extend(required.into_iter().map(Into::into));
    let mut modules: Vec<Module> = values(&list.capture().await?, &list.display())?;
    download(&mut modules, directory, environment).await;
    Ok(modules)
}

fn vendored(requirement: Requirement, vendor: &Path) -> Module {
    Module {
        dir: Some(vendor.join(&requirement.path)).filter(|directory| directory.is_dir()),
        path: requirement.path,
        version: requirement.version,
        ..Module::default()
    }
}

/// Fetches modules that are not on this machine. A module that cannot be fetched gets no folder, because the program
/// cannot be compiled with it either.
async fn download(modules: &mut [Module], directory: &Path, environment: &Environment) {
    let missing: BTreeMap<String, usize> = modules
        .iter()
        .enumerate()
        .filter(|(_, module)| module.dir.is_none() && !module.version.is_empty())
        .map(|(index, module)| {
            let source = module.replace.as_deref().unwrap_or(module);
            (format!("{}@{}", source.path, source.version), index)
        })
        .collect();
    for (wanted, index) in missing {
        modules[index].dir = fetch(&wanted, directory, environment).await;
    }
}

/// Fetches a module `path@version`, and returns its folder.
pub(super) async fn fetch(
    wanted: &str,
    directory: &Path,
    environment: &Environment,
) -> Option<PathBuf> {
    let fetched = async {
        let args = ["mod", "download", "-json", wanted];
        let tool = go(&args, environment, directory)?;
        values::<Module>(&tool.capture().await?, &tool.display())
    };
    match fetched.await {
        Ok(fetched) => fetched.into_iter().find_map(|it| it.dir),
        Err(error) => {
            tracing::debug!(module = wanted, %error, "a module cannot be fetched");
            None
        }
    }
}

/// Concatenated JSON values in `text`.
pub(super) fn values<T: DeserializeOwned>(
    text: &str,
    command: &str,
) -> Result<Vec<T>, CompiledError> {
    serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(|source| CompiledError::ToolOutput {
            command: command.to_owned(),
            source,
        })
}
