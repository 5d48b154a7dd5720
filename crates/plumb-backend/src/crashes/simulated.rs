//! In-memory disk that logs its writes, so that the states after a crash can be computed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::model::Event;
use crate::disk::{Disk, DiskFile, Found, parent};
use crate::lock::LockContent;

/// Number of a file, independent of its names.
pub(super) type Inode = usize;

/// A write access, or an event of the process between two accesses.
#[derive(Debug, Clone)]
pub(super) enum Access {
    Create {
        path: PathBuf,
        inode: Inode,
    },
    Append {
        inode: Inode,
        content: Vec<u8>,
    },
    Sync {
        inode: Inode,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
        inode: Inode,
    },
    Link {
        to: PathBuf,
        inode: Inode,
    },
    Unlink {
        path: PathBuf,
    },
    CreateFolder {
        path: PathBuf,
    },
    SyncFolder {
        path: PathBuf,
    },
    Event(Event),
}

/// Content of a file, with its modification time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) modified: u64,
}

/// A disk at rest, with all content durable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Image {
    pub(super) files: BTreeMap<PathBuf, Content>,
    pub(super) folders: BTreeSet<PathBuf>,
}

impl Image {
    /// Whether there is an unreadable lock.
    pub(super) fn has_torn_locks(&self) -> bool {
        let mut locks = self
            .files
            .iter()
            .filter(|(path, _)| path.starts_with("/store/.pulumi/locks"))
            .filter(|(path, _)| path.extension().is_some_and(|it| it == "json"));
        locks.any(|(_, lock)| serde_json::from_slice::<LockContent>(&lock.bytes).is_err())
    }
}

/// Disk of one process.
#[derive(Debug, Clone)]
pub(super) struct SimulatedDisk(Arc<Mutex<Live>>);

#[derive(Debug, Default)]
struct Live {
    inodes: Vec<Content>,
    names: BTreeMap<PathBuf, Inode>,
    folders: BTreeSet<PathBuf>,
    log: Vec<Access>,
    clock: u64,
    is_stopped: bool,
    /// Class of syncs to omit.
    omitted: Option<String>,
    /// Classes of the requested syncs.
    classes: BTreeSet<String>,
}

impl SimulatedDisk {
    /// Disk with this content. `omitted` is a class of syncs to omit, to prove that they are needed.
    pub(super) fn new(image: &Image, omitted: Option<&str>) -> Self {
        let mut live = Live {
            folders: image.folders.clone(),
            omitted: omitted.map(str::to_owned),
            ..Live::default()
        };
        live.folders.insert(PathBuf::from("/"));
        for (path, content) in &image.files {
            live.clock = live.clock.max(content.modified);
            live.names.insert(path.clone(), live.inodes.len());
            live.inodes.push(content.clone());
        }
        SimulatedDisk(Arc::new(Mutex::new(live)))
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs an event of the process.
    pub(super) fn note(&self, event: Event) {
        self.live().log.push(Access::Event(event));
    }

    /// Kills the process: later writes have no effect.
    pub(super) fn stop(&self) {
        self.live().is_stopped = true;
    }

    /// Log of writes, and the classes of syncs.
    pub(super) fn take_log(&self) -> (Vec<Access>, BTreeSet<String>) {
        let mut live = self.live();
        (std::mem::take(&mut live.log), live.classes.clone())
    }
}

impl Live {
    fn writing(&mut self) -> io::Result<()> {
        if self.is_stopped {
            return Err(io::Error::other("the process has been killed"));
        }
        self.clock += 1;
        Ok(())
    }

    fn inode(&self, path: &Path) -> io::Result<Inode> {
        let found = self.names.get(path).copied();
        found.ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn is_free(&self, path: &Path) -> io::Result<()> {
        if !self.folders.contains(parent(path)) {
            return Err(ErrorKind::NotFound.into());
        }
        if self.names.contains_key(path) || self.folders.contains(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        Ok(())
    }

    fn is_omitted(&mut self, class: String) -> bool {
        let is_omitted = self.omitted.as_ref() == Some(&class);
        self.classes.insert(class);
        is_omitted
    }
}

/// Class of a file, common to files of one purpose: `file .pulumi/stacks/*/*.json`.
fn class_of(kind: &str, path: &Path) -> String {
    let parts: Vec<&str> = path
        .iter()
        .filter_map(|part| part.to_str())
        .skip(1)
        .collect();
    let shown = parts.iter().enumerate().map(|(at, part)| match at {
        0 | 1 => (*part).to_owned(),
        _ => {
            let part = part.strip_suffix(".tmp").map_or(*part, |rest| {
                rest.rsplit_once('.').map_or(rest, |(name, _)| name)
            });
            let ending = part.rsplit_once('.').map_or("", |(_, ending)| ending);
            if ending.is_empty() || kind == "folder" {
                "*".to_owned()
            } else {
                format!("*.{ending}")
            }
        }
    });
    format!("{kind} {}", shown.collect::<Vec<_>>().join("/"))
}

impl Disk for SimulatedDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let live = self.live();
        Ok(live.inodes[live.inode(path)?].bytes.clone())
    }

    fn look(&self, path: &Path) -> io::Result<Found> {
        let live = self.live();
        let is_folder = live.folders.contains(path);
        let modified = if is_folder {
            0
        } else {
            live.inodes[live.inode(path)?].modified
        };
        Ok(Found {
            is_folder,
            modified: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + modified),
        })
    }

    fn children(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let live = self.live();
        if !live.folders.contains(folder) {
            return Err(ErrorKind::NotFound.into());
        }
        let all = live.names.keys().chain(&live.folders);
        let inside = all.filter(|path| path.parent() == Some(folder));
        Ok(inside
            .filter_map(|path| Some(path.file_name()?.to_owned()))
            .collect())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut live = self.live();
        live.writing()?;
        live.is_free(path)?;
        let inode = live.inodes.len();
        let modified = live.clock;
        live.inodes.push(Content {
            bytes: Vec::new(),
            modified,
        });
        live.names.insert(path.to_owned(), inode);
        live.log.push(Access::Create {
            path: path.to_owned(),
            inode,
        });
        Ok(Box::new(SimulatedFile {
            disk: self.clone(),
            inode,
            class: class_of("file", path),
        }))
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut live = self.live();
        live.writing()?;
        live.is_free(folder)?;
        live.folders.insert(folder.to_owned());
        live.log.push(Access::CreateFolder {
            path: folder.to_owned(),
        });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut live = self.live();
        live.writing()?;
        let inode = live.inode(from)?;
        live.names.remove(from);
        live.names.insert(to.to_owned(), inode);
        live.log.push(Access::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
            inode,
        });
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut live = self.live();
        live.writing()?;
        live.is_free(to)?;
        let inode = live.inode(from)?;
        live.names.insert(to.to_owned(), inode);
        live.log.push(Access::Link {
            to: to.to_owned(),
            inode,
        });
        Ok(())
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        let mut live = self.live();
        live.writing()?;
        live.inode(path)?;
        live.names.remove(path);
        live.log.push(Access::Unlink {
            path: path.to_owned(),
        });
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut live = self.live();
        live.writing()?;
        if !live.is_omitted(class_of("folder", folder)) {
            live.log.push(Access::SyncFolder {
                path: folder.to_owned(),
            });
        }
        Ok(())
    }

    fn hold(&self, _: &Path) -> io::Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    inode: Inode,
    class: String,
}

impl DiskFile for SimulatedFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        let mut live = self.disk.live();
        live.writing()?;
        let clock = live.clock;
        let file = &mut live.inodes[self.inode];
        file.bytes.extend(content);
        file.modified = clock;
        live.log.push(Access::Append {
            inode: self.inode,
            content: content.to_vec(),
        });
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut live = self.disk.live();
        live.writing()?;
        if !live.is_omitted(self.class.clone()) {
            live.log.push(Access::Sync { inode: self.inode });
        }
        Ok(())
    }

    fn reserve(&mut self, _: u64) -> io::Result<()> {
        self.disk.live().writing()
    }
}
