//! Finding, reading and writing the files of a project. Paths are given by the caller.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Names of project files, in the order in which they are looked for.
pub const PROJECT_FILES: [&str; 3] = ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"];

/// A file operation failed.
#[derive(Debug, thiserror::Error)]
#[error("{}: could not {action}", path.display())]
pub struct FileIoError {
    /// The file.
    pub path: PathBuf,
    /// What was tried.
    pub action: &'static str,
    /// Why not.
    #[source]
    pub source: io::Error,
}

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever the system lets.
    Shared,
    /// The owner only.
    Private,
}

/// The project file of `folder` or of the nearest folder above it.
pub fn find_project(folder: &Path) -> Option<PathBuf> {
    find_upwards(folder, &PROJECT_FILES)
}

/// The first of `names` in `folder` or in the nearest folder above it.
pub fn find_upwards(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    folder.ancestors().find_map(|folder| {
        names
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file())
    })
}

/// The settings file of a stack: beside the project file or in `config_dir`, with the same extension.
pub fn stack_file_path(project_file: &Path, config_dir: Option<&str>, stack: &str) -> PathBuf {
    let folder = project_file.parent().unwrap_or(Path::new(""));
    let folder = config_dir.map_or_else(|| folder.to_owned(), |dir| folder.join(dir));
    let extension = project_file
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or("yaml");
    folder.join(format!("Pulumi.{}.{extension}", stack.replace('/', "-")))
}

/// Reads a text file; `None` when it does not exist.
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

/// Replaces a text file as a whole: readers see the old text or the new one. Missing folders are made.
pub fn write_text(path: &Path, text: &str, access: Access) -> Result<(), FileIoError> {
    let failed = |action| {
        move |source| FileIoError {
            path: path.to_owned(),
            action,
            source,
        }
    };
    // A link stays a link: what it points to is replaced.
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

/// Opens a file that the owner alone may read, and empties it. What is no file, a pipe for example, is opened as it is.
pub fn create_private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        // An older file may be readable by everybody.
        make_private(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// Makes a folder that the owner alone may look into, and those above it; one that is there is left as it is.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    make_folder(folder, Access::Private)
}

/// Has the owner alone read a file.
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

/// Removes a file; that it is not there is fine.
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

/// A new file with a name that nobody can guess, removed unless it is put in its place.
fn new_beside(folder: &Path, name: &str, access: Access) -> io::Result<tempfile::NamedTempFile> {
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    if access == Access::Shared {
        // As far as the umask lets.
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        return builder.permissions(everybody).tempfile_in(folder);
    }
    builder.tempfile_in(folder)
}
