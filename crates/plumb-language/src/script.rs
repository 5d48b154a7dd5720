//! Plumb's own scripts that interpreters run.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes `text` to `path` unless it is already there. Replaces the file atomically, because another process may be
/// reading it.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|content| content == text.as_bytes()) {
        return Ok(());
    }
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
