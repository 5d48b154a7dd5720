//! Files of a pack.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_project::yaml::{parse, to_json};
use serde_json::Value as Json;

use crate::LoadError;

/// Deepest folder inside of a pack that is searched; deeper ones would be a loop of links.
const MAX_DEPTH: usize = 16;

/// Folders that hold no rules.
const SKIPPED: [&str; 4] = ["node_modules", "target", "venv", "__pycache__"];

/// The files below `folder` whose name `is_wanted` accepts, sorted by path. Hidden files and folders are skipped.
pub(crate) fn find(
    folder: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<PathBuf>, LoadError> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for path in entries(&folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') || SKIPPED.contains(&name.as_ref()) {
                continue;
            }
            if path.is_dir() {
                if depth < MAX_DEPTH {
                    open.push((path, depth + 1));
                }
            } else if is_wanted(&name) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let failed = |source| LoadError::Read {
        path: folder.to_owned(),
        source,
    };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    paths.collect()
}

/// Content of a file.
pub(crate) fn read(path: &Path) -> Result<String, LoadError> {
    fs::read_to_string(path).map_err(|source| LoadError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Content of a YAML file; `None` if the file is empty.
pub(crate) fn read_yaml(path: &Path) -> Result<Option<Json>, LoadError> {
    let text = read(path)?;
    let document = parse(&text).map_err(|error| form(path, error.to_string()))?;
    let root = document.root.as_ref().map(to_json);
    root.transpose()
        .map_err(|error| form(path, error.to_string()))
}

/// Error for a file without the expected form.
pub(crate) fn form(path: &Path, message: impl Into<String>) -> LoadError {
    LoadError::Form {
        path: path.to_owned(),
        message: message.into(),
    }
}
