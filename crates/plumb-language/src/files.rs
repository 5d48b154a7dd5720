//! Looking for files.

use std::path::{Path, PathBuf};

/// The folder at or above `directory` that holds a file called `name`.
pub(crate) fn find_upwards(directory: &Path, name: &str) -> Option<PathBuf> {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(name).is_file())
        .map(Path::to_owned)
}

/// Whether `directory` is missing or has nothing in it.
pub(crate) fn is_missing_or_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none())
}
