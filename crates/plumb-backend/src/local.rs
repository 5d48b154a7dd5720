//! A bucket in a folder.
//!
//! Objects are files. They are written under a temporary name, synced, and renamed; then their folder is synced. Syncs
//! are the most expensive part of an update, so objects that may be lost in a power failure are not synced, and neither
//! are the folders created for them. Because such a write, of any process, may have created a folder, the first durable
//! object in a folder syncs all of its ancestors up to the bucket. Files can be read only by the owner, and by the group
//! in folders with the setgid bit. Sidecar files (`.attrs`) of other programs are hidden, and deleted with their object.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use plumb_state::journal::disk::CheckpointDigest;

use crate::bucket::{
    Bucket, Entry, JournalFile, JournalFiles, Version, Versioned, check_key, io_error,
};
use crate::disk::{Disk, DiskFile, RealDisk, parent};
use crate::error::BucketError;

const SIDECAR: &str = ".attrs";

/// A bucket in a folder of the file system.
#[derive(Debug)]
pub struct LocalBucket {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    serial: AtomicU64,
    durable: DurableFolders,
}

/// Folders whose names this process has made durable. Clones share the set.
#[derive(Clone, Debug, Default)]
struct DurableFolders(Arc<Mutex<BTreeSet<PathBuf>>>);

impl DurableFolders {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocalBucket {
    /// Bucket in the folder `root`, which must exist.
    pub fn new(root: PathBuf) -> Self {
        LocalBucket::on(Arc::new(RealDisk), root)
    }

    /// Bucket in a folder of a disk.
    pub(crate) fn on(disk: Arc<dyn Disk>, root: PathBuf) -> Self {
        LocalBucket {
            root,
            disk,
            serial: AtomicU64::new(0),
            durable: DurableFolders::default(),
        }
    }

    fn path(&self, key: &str) -> Result<PathBuf, BucketError> {
        check_key(key)?;
        if key.contains('\\') || key.split('/').any(|part| part.ends_with(SIDECAR)) {
            return Err(BucketError::IllegalKey {
                key: key.to_owned(),
            });
        }
        Ok(self.root.join(key))
    }

    /// Writes a temporary file beside `path`.
    fn stage(
        &self,
        path: &Path,
        content: &[u8],
        durability: Durability,
    ) -> Result<PathBuf, BucketError> {
        let folder = parent(path);
        let made = match durability {
            Durability::Durable => self.make_durable_folder(folder),
            Durability::Relaxed => self.make_folder(folder),
        };
        made.map_err(io_error("make the folder", folder))?;
        let nanos = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos());
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let unique = format!(".{:x}{:x}{serial:x}.tmp", nanos, std::process::id());
        let mut name = path.as_os_str().to_owned();
        name.push(unique);
        let temporary = PathBuf::from(name);
        let written = self.write_new(&temporary, content, durability);
        match written {
            Ok(()) => Ok(temporary),
            Err(error) => {
                let _ = self.disk.unlink(&temporary);
                Err(io_error("write", &temporary)(error))
            }
        }
    }

    fn write_new(&self, path: &Path, content: &[u8], durability: Durability) -> io::Result<()> {
        let mut file = self.disk.create(path)?;
        file.append(content)?;
        match durability {
            Durability::Durable => file.sync(),
            Durability::Relaxed => Ok(()),
        }
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.disk.look(path).is_ok_and(|found| found.is_folder)
    }

    /// Creates a folder and its missing ancestors.
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        if self.is_folder(folder) {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            self.make_folder(above)?;
        }
        self.durable.lock().remove(folder);
        match self.disk.create_folder(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Creates a folder and its missing ancestors, each durable.
    fn make_durable_folder(&self, folder: &Path) -> io::Result<()> {
        self.make_folder(folder)?;
        make_durable(&*self.disk, &self.durable, self.not_durable(folder))
    }

    /// The folder and its ancestors in the bucket whose names may not be durable, the outermost first.
    fn not_durable(&self, folder: &Path) -> Vec<PathBuf> {
        let durable = self.durable.lock();
        let inside = folder.ancestors().take_while(|it| *it != self.root);
        let mut folders: Vec<PathBuf> = inside
            .filter(|it| !durable.contains(*it))
            .map(Path::to_owned)
            .collect();
        folders.reverse();
        folders
    }

    fn walk(
        &self,
        path: &Path,
        key: &str,
        depth: Depth,
        entries: &mut Vec<Entry>,
    ) -> io::Result<()> {
        let children = match self.disk.children(path) {
            Err(error) if is_missing(&error) => return Ok(()),
            children => children?,
        };
        for name in children {
            let Ok(name) = name.into_string() else {
                continue;
            };
            let (path, key) = (path.join(&name), format!("{key}/{name}"));
            let found = match self.disk.look(&path) {
                // Deleted in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                found => found?,
            };
            if found.is_folder {
                if depth == Depth::All {
                    self.walk(&path, &key, depth, entries)?;
                }
            } else if !name.ends_with(SIDECAR) && !is_temporary(&name) {
                entries.push(Entry {
                    key,
                    modified: found.modified,
                    tag: None,
                });
            }
        }
        Ok(())
    }

    fn list_to(&self, folder: &str, depth: Depth) -> Result<Vec<Entry>, BucketError> {
        let path = self.path(folder)?;
        let mut entries = Vec::new();
        self.walk(&path, folder, depth, &mut entries)
            .map_err(io_error("list", path))?;
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }
}

/// Whether a power failure may lose a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    Durable,
    Relaxed,
}

impl LocalBucket {
    fn put_with(
        &self,
        key: &str,
        content: &[u8],
        durability: Durability,
    ) -> Result<(), BucketError> {
        let path = self.path(key)?;
        let temporary = self.stage(&path, content, durability)?;
        let renamed = self.disk.rename(&temporary, &path);
        let renamed = renamed.and_then(|()| match durability {
            Durability::Durable => self.disk.sync_folder(parent(&path)),
            Durability::Relaxed => Ok(()),
        });
        renamed.map_err(|error| {
            let _ = self.disk.unlink(&temporary);
            io_error("write", &path)(error)
        })?;
        // A sidecar would describe the old content.
        let _ = self.disk.unlink(&sidecar(&path));
        Ok(())
    }
}

impl LocalBucket {
    fn read_with(
        &self,
        key: &str,
        read: impl FnOnce(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, BucketError> {
        let path = self.path(key)?;
        match read(&path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error("read", path)(error)),
        }
    }
}

impl Bucket for LocalBucket {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        self.read_with(key, |path| self.disk.read(path))
    }

    fn get_start(&self, key: &str, length: usize) -> Result<Option<Vec<u8>>, BucketError> {
        self.read_with(key, |path| self.disk.read_start(path, length))
    }

    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
        Ok(self.get(key)?.map(|content| Versioned {
            version: version_of(&content),
            content,
        }))
    }

    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.put_with(key, content, Durability::Durable)
    }

    fn put_relaxed(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.put_with(key, content, Durability::Relaxed)
    }

    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        let path = self.path(key)?;
        let temporary = self.stage(&path, content, Durability::Relaxed)?;
        let linked = self.disk.link(&temporary, &path);
        let _ = self.disk.unlink(&temporary);
        let made = match linked {
            // If the file system has no links, readers may briefly see an incomplete file.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                self.write_new(&path, content, Durability::Relaxed)
            }
            linked => linked,
        };
        match made {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(io_error("write", path)(error)),
        }
    }

    /// Compares and writes while the folder is locked against other processes of this machine.
    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        let held = self.disk.hold(&self.root);
        let _held = held.map_err(io_error("lock", &self.root))?;
        let present = self.get_versioned(key)?.map(|object| object.version);
        if present.as_ref() != expected {
            return Ok(false);
        }
        self.put(key, content).map(|()| true)
    }

    fn delete(&self, key: &str) -> Result<bool, BucketError> {
        let path = self.path(key)?;
        match self.disk.unlink(&path) {
            Ok(()) => {
                let _ = self.disk.unlink(&sidecar(&path));
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io_error("remove", path)(error)),
        }
    }

    fn settle(&self, folder: &str) -> Result<(), BucketError> {
        let path = self.path(folder)?;
        match self.disk.sync_folder(&path) {
            Err(error) if !is_missing(&error) => Err(io_error("sync", path)(error)),
            _ => Ok(()),
        }
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        let (from, to) = (self.path(from)?, self.path(to)?);
        self.make_durable_folder(parent(&to))
            .map_err(io_error("make the folder", parent(&to)))?;
        self.disk
            .rename(&from, &to)
            .map_err(io_error("rename", &from))?;
        let _ = self.disk.unlink(&sidecar(&from));
        for path in [&to, &from] {
            self.disk
                .sync_folder(parent(path))
                .map_err(io_error("sync", path))?;
        }
        Ok(())
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        self.list_to(folder, Depth::All)
    }

    fn list_direct(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        self.list_to(folder, Depth::Direct)
    }

    fn find(&self, key: &str) -> Result<Option<Entry>, BucketError> {
        let path = self.path(key)?;
        match self.disk.look(&path) {
            Ok(found) => Ok((!found.is_folder).then(|| Entry {
                key: key.to_owned(),
                modified: found.modified,
                tag: None,
            })),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(io_error("look at", path)(error)),
        }
    }

    fn address(&self, key: &str) -> String {
        format!("file://{}/{key}", self.root.display())
    }

    fn files(&self) -> Option<&dyn JournalFiles> {
        Some(self)
    }
}

impl JournalFiles for LocalBucket {
    fn create_journal(&self, key: &str) -> Result<Box<dyn JournalFile>, BucketError> {
        let path = self.path(key)?;
        let folder = parent(&path);
        self.make_folder(folder)
            .map_err(io_error("make the folder", folder))?;
        let file = self.disk.create(&path).map_err(io_error("create", &path))?;
        Ok(Box::new(LocalJournal {
            file,
            disk: self.disk.clone(),
            durable: self.durable.clone(),
            unsynced: Some(Unsynced {
                folder: folder.to_owned(),
                names: self.not_durable(folder),
            }),
        }))
    }
}

/// Digest of the content, because files have no versions.
fn version_of(content: &[u8]) -> Version {
    Version {
        tag: Some(CheckpointDigest::of(content).to_string()),
        generation: None,
    }
}

/// A journal in a file.
struct LocalJournal {
    file: Box<dyn DiskFile>,
    disk: Arc<dyn Disk>,
    durable: DurableFolders,
    /// Names that become durable with the first sync of the file.
    unsynced: Option<Unsynced>,
}

/// The name of a file that is not durable.
struct Unsynced {
    /// Folder of the file.
    folder: PathBuf,
    /// The folder and its ancestors whose names are not durable either.
    names: Vec<PathBuf>,
}

impl JournalFile for LocalJournal {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        self.file.append(content)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        if let Some(unsynced) = &self.unsynced {
            make_durable(&*self.disk, &self.durable, unsynced.names.clone())?;
            self.disk.sync_folder(&unsynced.folder)?;
            self.unsynced = None;
        }
        Ok(())
    }

    fn reserve(&mut self, room: u64) -> io::Result<()> {
        self.file.reserve(room)
    }
}

/// Makes the names of folders durable.
fn make_durable(disk: &dyn Disk, durable: &DurableFolders, names: Vec<PathBuf>) -> io::Result<()> {
    for name in names {
        disk.sync_folder(parent(&name))?;
        durable.lock().insert(name);
    }
    Ok(())
}

fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SIDECAR);
    PathBuf::from(name)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether a listing is recursive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    Direct,
    All,
}

/// Whether the name is `<name>.<hex digits>.tmp`, an unfinished write.
fn is_temporary(name: &str) -> bool {
    let digits = name
        .strip_suffix(".tmp")
        .and_then(|rest| rest.rsplit_once('.'))
        .map(|(_, digits)| digits);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Permissions of everything below a folder.
    fn modes(folder: &Path) -> Vec<(bool, u32)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::metadata(&path).unwrap();
            found.push((metadata.is_dir(), metadata.permissions().mode() & 0o7777));
            if metadata.is_dir() {
                found.extend(modes(&path));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn filled(mode: u32) -> Vec<(bool, u32)> {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        let bucket = LocalBucket::new(folder.path().to_owned());
        bucket.put("stacks/p/dev.json", b"{}").unwrap();
        bucket.put_relaxed("history/p/dev/1.json", b"{}").unwrap();
        bucket.put_if_absent("locks/p/dev/1.json", b"{}").unwrap();
        bucket
            .rename("stacks/p/dev.json", "backups/p/dev.json")
            .unwrap();
        let mut journal = bucket
            .files()
            .unwrap()
            .create_journal("journals/p/dev/1.journal")
            .unwrap();
        journal.append(b"{}").unwrap();
        modes(folder.path())
    }

    #[test]
    fn a_store_is_for_its_owner() {
        assert_eq!(filled(0o755), [(false, 0o600), (true, 0o700)]);
    }

    #[test]
    fn a_store_of_a_group_is_for_the_group() {
        assert_eq!(filled(0o2770), [(false, 0o660), (true, 0o2770)]);
    }
}
