//! Accesses of the file store to its file system.
//!
//! [`LocalBucket`](crate::LocalBucket) does all I/O through [`Disk`]: [`RealDisk`] calls the operating system; the disk
//! of [`crashes`](crate::crashes) is in memory and knows which writes a power failure may lose. A disk guarantees as
//! much as POSIX:
//!
//! - the content of a file is durable up to the last sync of that file;
//! - names (of new, renamed, linked and deleted files and folders) are durable after the next sync of their folder.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::SystemTime;

/// The operations on a file system that the file store needs.
pub(crate) trait Disk: Send + Sync + fmt::Debug {
    /// Content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// At least the first `length` bytes of a file, or all of it if it is shorter.
    fn read_start(&self, path: &Path, length: usize) -> io::Result<Vec<u8>> {
        let _ = length;
        self.read(path)
    }

    /// Kind and modification time of a file or folder.
    fn look(&self, path: &Path) -> io::Result<Found>;

    /// Names of the files and folders in a folder.
    fn children(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// Creates a file that does not exist yet.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Creates a folder that does not exist yet, in an existing one.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Renames a file, replacing the target.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name, which must not exist.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a name of a file.
    fn unlink(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Locks the folder against other processes of this machine, until the result is dropped.
    fn hold(&self, folder: &Path) -> io::Result<Box<dyn Send>>;
}

/// A file that is being written.
pub(crate) trait DiskFile: Send {
    /// Writes at the end.
    fn append(&mut self, content: &[u8]) -> io::Result<()>;

    /// Makes the content durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Reserves disk space for that many bytes after those written so far.
    fn reserve(&mut self, room: u64) -> io::Result<()>;
}

/// A file or folder that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) is_folder: bool,
    pub(crate) modified: SystemTime,
}

/// The file system of this machine.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn read_start(&self, path: &Path, length: usize) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        File::open(path)?
            .take(length as u64)
            .read_to_end(&mut content)?;
        Ok(content)
    }

    fn look(&self, path: &Path) -> io::Result<Found> {
        let metadata = fs::metadata(path)?;
        Ok(Found {
            is_folder: metadata.is_dir(),
            modified: metadata.modified()?,
        })
    }

    fn children(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?
            .map(|child| Ok(child?.file_name()))
            .collect()
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(create_new(path)?)))
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        create_folder(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(windows) {
            Ok(())
        } else {
            File::open(folder)?.sync_all()
        }
    }

    fn hold(&self, folder: &Path) -> io::Result<Box<dyn Send>> {
        let folder = File::open(folder)?;
        folder.lock()?;
        Ok(Box::new(folder))
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        self.0.write_all(content)
    }

    /// Syncs the content; times of the file are not made durable.
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    /// Reserves space without changing the length, so readers do not see it. File systems without reservations do
    /// nothing.
    #[cfg(target_os = "linux")]
    fn reserve(&mut self, room: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        let end = self.0.metadata()?.len();
        match fallocate(&self.0, FallocateFlags::KEEP_SIZE, end, room) {
            Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Whether new files in a folder inherit its group (setgid), as in a store shared by several users.
#[cfg(unix)]
fn is_of_group(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(folder).is_ok_and(|it| it.permissions().mode() & 0o2000 != 0)
}

#[cfg(unix)]
fn create_new(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = File::options();
    let file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    if is_of_group(parent(path)) {
        file.set_permissions(fs::Permissions::from_mode(0o660))?;
    }
    Ok(file)
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new().mode(0o700).create(folder)?;
    if is_of_group(parent(folder)) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o2770))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn create_new(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)
}

pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}
