//! Installed distributions of an interpreter, read from its folders, because running Python would take much
//! longer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::PythonError;
use super::toolchain::Interpreter;
use crate::tool::variable;

/// An installed distribution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distribution {
    /// Normalized name: lower case, words joined by `-`.
    pub(super) name: String,
    /// Version, in Python's form.
    pub(super) version: String,
    /// Folder with its metadata.
    pub(super) metadata: PathBuf,
}

/// Folders in which `interpreter` searches for packages, in order.
pub(super) async fn search_path(interpreter: &Interpreter) -> Result<Vec<PathBuf>, PythonError> {
    let mut path = match interpreter
        .virtual_environment
        .as_deref()
        .filter(|directory| is_isolated(directory))
    {
        Some(directory) => {
            let extra = variable(&interpreter.environment, "PYTHONPATH").unwrap_or_default();
            let mut path: Vec<PathBuf> = std::env::split_paths(extra).collect();
            path.extend(site_packages(directory));
            path
        }
        None => ask(interpreter).await?,
    };
    let linked: Vec<PathBuf> = path
        .iter()
        .flat_map(|directory| path_files(directory))
        .collect();
    path.extend(linked);
    let mut seen = BTreeSet::new();
    path.retain(|directory| {
        directory
            .canonicalize()
            .is_ok_and(|real| real.is_dir() && seen.insert(real))
    });
    Ok(path)
}

/// Whether a virtual environment excludes the system's packages.
fn is_isolated(virtual_environment: &Path) -> bool {
    let Ok(text) = fs::read_to_string(virtual_environment.join("pyvenv.cfg")) else {
        return false;
    };
    !text
        .lines()
        .filter_map(|line| line.split_once('='))
        .any(|(key, value)| {
            key.trim() == "include-system-site-packages"
                && value.trim().eq_ignore_ascii_case("true")
        })
}

fn site_packages(virtual_environment: &Path) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![virtual_environment.join("Lib").join("site-packages")];
    }
    let mut found = Vec::new();
    for library in ["lib", "lib64"] {
        for version in entries(&virtual_environment.join(library)) {
            found.push(version.join("site-packages"));
        }
    }
    found
}

async fn ask(interpreter: &Interpreter) -> Result<Vec<PathBuf>, PythonError> {
    const SCRIPT: &str = "import json, sys; print(json.dumps([p for p in sys.path if p]))";
    let directory = interpreter.program.parent().unwrap_or(Path::new("/"));
    let text = interpreter
        .tool(&["-c", SCRIPT], directory)
        .capture()
        .await?;
    serde_json::from_str(&text).map_err(|_| PythonError::ToolOutput {
        command: interpreter.program.display().to_string(),
        text,
    })
}

/// Folders that the `.pth` files in `directory` add, such as those of editable installations.
fn path_files(directory: &Path) -> Vec<PathBuf> {
    let files = entries(directory)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "pth"));
    files
        .filter_map(|file| fs::read_to_string(file).ok())
        .flat_map(|text| {
            let lines = text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with("import "));
            lines.map(|line| directory.join(line)).collect::<Vec<_>>()
        })
        .collect()
}

/// Distributions on the path; the first one with a name takes precedence.
pub(super) fn distributions(path: &[PathBuf]) -> Vec<Distribution> {
    let mut seen = BTreeSet::new();
    let all = path.iter().flat_map(|directory| {
        let mut found: Vec<Distribution> = entries(directory)
            .into_iter()
            .filter_map(|entry| distribution(&entry))
            .collect();
        found.sort();
        found
    });
    all.filter(|distribution| seen.insert(distribution.name.clone()))
        .collect()
}

fn distribution(metadata: &Path) -> Option<Distribution> {
    let file = metadata.file_name()?.to_str()?;
    let (name, version) = if let Some(stem) = file.strip_suffix(".dist-info") {
        stem.split_once('-')?
    } else {
        let stem = file.strip_suffix(".egg-info")?;
        let (name, rest) = stem.split_once('-')?;
        (
            name,
            rest.split_once("-py").map_or(rest, |(version, _)| version),
        )
    };
    Some(Distribution {
        name: normalise(name),
        version: version.to_owned(),
        metadata: metadata.to_owned(),
    })
}

/// Normalized name of a distribution, as package indexes use it.
pub(super) fn normalise(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    for part in name.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        if !result.is_empty() {
            result.push('-');
        }
        result.push_str(&part.to_ascii_lowercase());
    }
    result
}

/// Paths of the entries of `directory`; empty if it cannot be read.
pub(super) fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .map(|entries| {
            entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .collect()
        })
        .unwrap_or_default()
}
