//! Searching, reading and writing a project's files, at paths given by the caller.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Names of project files, in the order in which they are searched for.
pub const PROJECT_FILES: [&str; 3] = ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"];

/// Error of a file operation.
#[derive(Debug, thiserror::Error)]
#[error("{}: could not {action}", path.display())]
pub struct FileIoError {
    /// Path of the file.
    pub path: PathBuf,
    /// The operation.
    pub action: &'static str,
    /// Cause.
    #[source]
    pub source: io::Error,
}

/// Access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody whom the umask permits.
    Shared,
    /// Only the owner.
    Private,
}

/// Project file in `folder` or in its nearest parent.
pub fn find_project(folder: &Path) -> Option<PathBuf> {
    find_upwards(folder, &PROJECT_FILES)
}

/// First of `names` in `folder` or in its nearest parent.
pub fn find_upwards(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    folder.ancestors().find_map(|folder| {
        names
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file())
    })
}

/// Settings file of a stack: next to the project file or in `config_dir`, with the project file's extension.
pub fn stack_file_path(project_file: &Path, config_dir: Option<&str>, stack: &str) -> PathBuf {
    let folder = project_file.parent().unwrap_or(Path::new(""));
    let folder = config_dir.map_or_else(|| folder.to_owned(), |dir| folder.join(dir));
    let extension = project_file
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or("yaml");
    folder.join(format!("Pulumi.{}.{extension}", stack.replace('/', "-")))
}

/// Reads a text file; `None` if it does not exist.
pub fn read_text(path: &Path) -> Result<Option<String>, FileIoError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileIoError {
            path: path.to_owned(),
            action: "read it",
            source,
        }),
    }
}

/// Replaces a text file atomically. Creates missing folders.
pub fn write_text(path: &Path, text: &str, access: Access) -> Result<(), FileIoError> {
    let failed = |action| {
        move |source| FileIoError {
            path: path.to_owned(),
            action,
            source,
        }
    };
    // The target of a symbolic link is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    make_folder(folder, access).map_err(failed("make its folder"))?;
    let name = target
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("file");
    let write = || {
        let mut file = new_beside(folder, name, access)?;
        file.write_all(text.as_bytes())?;
        if access == Access::Shared
            && let Ok(old) = fs::metadata(&target)
        {
            file.as_file().set_permissions(old.permissions())?;
        }
        file.as_file().sync_all()?;
        file.persist(&target)?;
        Ok(())
    };
    write().map_err(failed("write it"))
}

/// Opens and truncates a file that only the owner can read. Other objects, such as pipes, are opened without changes.
pub fn create_private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        // An existing file may be readable by others.
        make_private(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// Creates a folder with access for the owner only, and its parents. An existing folder is not changed.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    make_folder(folder, Access::Private)
}

/// Restricts a file to its owner.
pub fn make_private(file: &fs::File) -> io::Result<()> {
    #[cfg(unix)]
    {
        let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        file.set_permissions(owner)?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Deletes a file; a missing file is not an error.
pub fn remove(path: &Path) -> Result<(), FileIoError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FileIoError {
            path: path.to_owned(),
            action: "remove it",
            source,
        }),
        _ => Ok(()),
    }
}

fn make_folder(folder: &Path, access: Access) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if access == Access::Private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    builder.create(folder)
}

/// A temporary file with a random name, deleted unless it is persisted.
fn new_beside(folder: &Path, name: &str, access: Access) -> io::Result<tempfile::NamedTempFile> {
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    if access == Access::Shared {
        // Restricted by the umask.
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        return builder.permissions(everybody).tempfile_in(folder);
    }
    builder.tempfile_in(folder)
}
