//! The script between the interpreter and the program.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::PythonError;

const SCRIPT: &str = include_str!("executor.py");

/// Path of the script in `cache`; writes it when it is missing or from another version.
pub(super) fn script(cache: &Path) -> Result<PathBuf, PythonError> {
    let directory = cache.join("python");
    let path = directory.join("pulumi-language-python-exec");
    if fs::read(&path).is_ok_and(|content| content == SCRIPT.as_bytes()) {
        return Ok(path);
    }
    fs::create_dir_all(&directory).map_err(PythonError::file("create", &directory))?;
    write_whole(&directory, &path).map_err(PythonError::file("write", &path))?;
    Ok(path)
}

/// Another process may run the script at this moment: it must never see half of it.
fn write_whole(directory: &Path, path: &Path) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(SCRIPT.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
