//! Script that the interpreter runs, and which runs the program.

use std::path::{Path, PathBuf};

use super::PythonError;

const SCRIPT: &str = include_str!("executor.py");

/// Path of the script in `cache`; writes it if it is missing or belongs to another version.
pub(super) fn script(cache: &Path) -> Result<PathBuf, PythonError> {
    let path = cache.join("python").join("pulumi-language-python-exec");
    crate::script::write(&path, SCRIPT).map_err(PythonError::file("write", &path))?;
    Ok(path)
}
