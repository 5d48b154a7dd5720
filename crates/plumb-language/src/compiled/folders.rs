//! Copying folders of sources.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use super::CompiledError;

/// Copies the sources in a folder to another one, except for entries named in `left_out`.
pub(crate) async fn copy_sources(
    source: &Path,
    target: &Path,
    left_out: &'static [&'static str],
) -> Result<(), CompiledError> {
    let (from, to) = (source.to_owned(), target.to_owned());
    let is_left_out = move |name: &OsStr| left_out.iter().any(|it| name == *it);
    tokio::task::spawn_blocking(move || copy_folder(&from, &to, &is_left_out))
        .await
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
        .map_err(CompiledError::file("copy", source))
}

/// Copies the folder `from` to `to`, except for entries whose names `skip` accepts. Symbolic links are replaced by their
/// targets.
fn copy_folder(from: &Path, to: &Path, skip: &dyn Fn(&OsStr) -> bool) -> io::Result<()> {
    // List the entries before creating the target, because it may be inside `from`.
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
