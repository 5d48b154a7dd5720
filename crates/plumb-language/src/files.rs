//! File searches.

use std::path::{Path, PathBuf};

/// The nearest folder at or above `directory` that contains a file `name`.
pub(crate) fn find_upwards(directory: &Path, name: &str) -> Option<PathBuf> {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(name).is_file())
        .map(Path::to_owned)
}

/// Whether `directory` is missing or empty.
pub(crate) fn is_missing_or_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none())
}
