//! Copying folders of sources.

use std::fs;
use std::io;
use std::path::Path;

/// Copies the folder `from` to `to`, except what `skip` says of the names of its entries. Links become what they point to.
pub(crate) fn copy_folder(
    from: &Path,
    to: &Path,
    skip: &dyn Fn(&std::ffi::OsStr) -> bool,
) -> io::Result<()> {
    // Read before anything is made: the copy may be inside of what is copied.
    let entries = fs::read_dir(from)?.collect::<Result<Vec<_>, _>>()?;
    fs::create_dir_all(to)?;
    for entry in entries {
        let name = entry.file_name();
        let (source, target) = (entry.path(), to.join(&name));
        if skip(&name) || to.starts_with(&source) {
            continue;
        }
        if fs::metadata(&source)?.is_dir() {
            copy_folder(&source, &target, skip)?;
        } else {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
