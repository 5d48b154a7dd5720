//! States of a disk after a crash.
//!
//! At each point of a log, names and contents without a sync may be lost, each independently:
//!
//! - **Names**: a creation, renaming, link or deletion may be lost until its folder is synced. If there are few, every
//!   subset is tried; otherwise every prefix, every set without one, every set with one, and some random sets.
//! - **Contents**: bytes after the last sync of their file may be missing, complete, cut (after the first, in the
//!   middle, before the last), replaced by zeros, or present only in the later half.
//!
//! Killing a process loses none of its writes; this is the first state of each point. A point in the middle of a write
//! gives a state with this write cut.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::simulated::{Access, Content, Image, Inode};
use crate::disk::parent;

/// Maximum number of names for which every subset is tried.
const FEW: usize = 4;

/// Unsynced bytes that remain after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    Nothing,
    FirstByte,
    Half,
    AllButLastByte,
    Zeros,
    /// Zeros and then the later half, because later blocks were written first.
    LaterHalf,
}

impl Part {
    const TORN: [Part; 5] = [
        Part::FirstByte,
        Part::Half,
        Part::AllButLastByte,
        Part::Zeros,
        Part::LaterHalf,
    ];

    fn of(self, unsynced: &[u8]) -> Vec<u8> {
        let (length, half) = (unsynced.len(), unsynced.len() / 2);
        match self {
            Part::All => unsynced.to_vec(),
            Part::Nothing => Vec::new(),
            Part::FirstByte => unsynced[..1.min(length)].to_vec(),
            Part::Half => unsynced[..half].to_vec(),
            Part::AllButLastByte => unsynced[..length.saturating_sub(1)].to_vec(),
            Part::Zeros => vec![0; length],
            Part::LaterHalf => [vec![0; half], unsynced[half..].to_vec()].concat(),
        }
    }
}

/// A state after a crash.
pub(super) struct Crash {
    pub(super) image: Image,
    /// Whether only the process was killed, between two accesses.
    pub(super) is_kill: bool,
    /// Whether a lock may be unreadable, because a power failure at this point or before this process has torn it.
    pub(super) has_torn_locks: bool,
    /// Whether later bytes are present without earlier ones.
    pub(super) has_gap: bool,
    /// Description for error messages.
    pub(super) about: String,
}

#[derive(Clone)]
struct File {
    content: Content,
    synced: usize,
}

struct NameChange {
    access: Access,
    /// Folders without a sync.
    unsynced: Vec<PathBuf>,
}

/// Writes up to a point of the log.
pub(super) struct Written {
    files: BTreeMap<Inode, File>,
    names: BTreeMap<PathBuf, Inode>,
    folders: BTreeSet<PathBuf>,
    changes: Vec<NameChange>,
    clock: u64,
    /// Whether the process found an unreadable lock.
    has_torn_locks: bool,
}

impl Written {
    pub(super) fn new(image: &Image) -> Self {
        let contents = image.files.values().enumerate();
        let file = |content: &Content| File {
            synced: content.bytes.len(),
            content: content.clone(),
        };
        Written {
            files: contents.map(|(inode, it)| (inode, file(it))).collect(),
            names: image.files.keys().cloned().zip(0..).collect(),
            folders: image.folders.clone(),
            changes: Vec::new(),
            has_torn_locks: image.has_torn_locks(),
            clock: image
                .files
                .values()
                .map(|it| it.modified)
                .max()
                .unwrap_or(0),
        }
    }

    pub(super) fn apply(&mut self, access: &Access) {
        self.clock += 1;
        let unsynced = match access {
            Access::Append { inode, content } => {
                if let Some(file) = self.files.get_mut(inode) {
                    file.content.bytes.extend(content);
                    file.content.modified = self.clock;
                }
                return;
            }
            Access::Sync { inode } => {
                if let Some(file) = self.files.get_mut(inode) {
                    file.synced = file.content.bytes.len();
                }
                return;
            }
            Access::SyncFolder { path } => return self.sync_folder(path),
            Access::Event(_) => return,
            Access::Create { path, inode } => {
                let content = Content {
                    bytes: Vec::new(),
                    modified: self.clock,
                };
                let file = File { content, synced: 0 };
                self.files.insert(*inode, file);
                vec![parent(path).to_owned()]
            }
            Access::Rename { from, to, .. } if parent(from) != parent(to) => {
                vec![parent(from).to_owned(), parent(to).to_owned()]
            }
            Access::Rename { to: path, .. }
            | Access::Link { to: path, .. }
            | Access::Unlink { path }
            | Access::CreateFolder { path } => vec![parent(path).to_owned()],
        };
        self.changes.push(NameChange {
            access: access.clone(),
            unsynced,
        });
    }

    fn sync_folder(&mut self, path: &Path) {
        for change in &mut self.changes {
            change.unsynced.retain(|folder| folder != path);
        }
        let durable = self.changes.iter().take_while(|it| it.unsynced.is_empty());
        for change in self.changes.drain(..durable.count()).collect::<Vec<_>>() {
            rename_in(&mut self.names, &mut self.folders, &change.access);
        }
    }

    /// States that a crash can leave at this point.
    pub(super) fn crashes(&self, seed: u64) -> Vec<Crash> {
        let mut chance = StdRng::seed_from_u64(seed);
        let dirty: Vec<Inode> = self
            .files
            .iter()
            .filter(|(_, file)| file.synced < file.content.bytes.len())
            .map(|(inode, _)| *inode)
            .collect();
        let mut crashes = Vec::new();
        let no_parts = BTreeMap::new();
        for (at, kept) in self.kept_names(&mut chance).into_iter().enumerate() {
            crashes.push(self.crash(&kept, Part::All, &no_parts, at == 0));
            if dirty.is_empty() {
                continue;
            }
            crashes.push(self.crash(&kept, Part::Nothing, &no_parts, false));
            if at == 0 {
                for inode in &dirty {
                    for part in Part::TORN {
                        let parts = BTreeMap::from([(*inode, part)]);
                        crashes.push(self.crash(&kept, Part::All, &parts, false));
                    }
                }
            }
            let any = |chance: &mut StdRng| Part::TORN[chance.random_range(0..Part::TORN.len())];
            let parts = dirty.iter().map(|inode| (*inode, any(&mut chance)));
            crashes.push(self.crash(&kept, Part::All, &parts.collect(), false));
        }
        crashes
    }

    /// Subsets of the unsynced changes of names to keep; the first is the complete set.
    fn kept_names(&self, chance: &mut StdRng) -> Vec<Vec<bool>> {
        let open: Vec<usize> = (0..self.changes.len())
            .filter(|at| !self.changes[*at].unsynced.is_empty())
            .collect();
        let count = open.len();
        let with = |keeps: &dyn Fn(usize) -> bool| {
            let mut kept = vec![true; self.changes.len()];
            for (number, at) in open.iter().enumerate() {
                kept[*at] = keeps(number);
            }
            kept
        };
        if count <= FEW {
            let subsets = (0..1_usize << count).rev();
            return subsets
                .map(|set| with(&|it| (set >> it) & 1 == 1))
                .collect();
        }
        let mut sets = vec![with(&|_| true)];
        sets.extend((0..count).rev().map(|end| with(&|it| it < end)));
        sets.extend((0..count).map(|one| with(&|it| it != one)));
        sets.extend((0..count).map(|one| with(&|it| it == one)));
        for _ in 0..8 {
            let random: Vec<bool> = (0..count).map(|_| chance.random()).collect();
            sets.push(with(&|it| random[it]));
        }
        sets
    }

    fn crash(
        &self,
        kept: &[bool],
        others: Part,
        parts: &BTreeMap<Inode, Part>,
        is_kill: bool,
    ) -> Crash {
        let (mut names, mut folders) = (self.names.clone(), self.folders.clone());
        let mut lost = Vec::new();
        for (change, is_kept) in self.changes.iter().zip(kept) {
            if *is_kept {
                rename_in(&mut names, &mut folders, &change.access);
            } else {
                lost.push(format!("{:?}", change.access));
            }
        }
        let is_reached = |path: &Path| path.ancestors().skip(1).all(|it| folders.contains(it));
        names.retain(|path, _| is_reached(path));
        let mut files = BTreeMap::new();
        for (path, inode) in names {
            let file = &self.files[&inode];
            let part = *parts.get(&inode).unwrap_or(&others);
            let (synced, unsynced) = file.content.bytes.split_at(file.synced);
            let bytes = [synced, &part.of(unsynced)].concat();
            let modified = file.content.modified;
            files.insert(path, Content { bytes, modified });
        }
        let reached: Vec<PathBuf> = folders
            .iter()
            .filter(|it| is_reached(it))
            .cloned()
            .collect();
        Crash {
            image: Image {
                files,
                folders: reached.into_iter().collect(),
            },
            is_kill,
            has_torn_locks: !is_kill || self.has_torn_locks,
            has_gap: parts.values().any(|part| *part == Part::LaterHalf),
            about: format!(
                "lost: {lost:?}; bytes without a sync: {parts:?}, of other files {others:?}"
            ),
        }
    }
}

fn rename_in(
    names: &mut BTreeMap<PathBuf, Inode>,
    folders: &mut BTreeSet<PathBuf>,
    access: &Access,
) {
    match access {
        Access::Create { path, inode } | Access::Link { to: path, inode } => {
            names.insert(path.clone(), *inode);
        }
        Access::Rename { from, to, inode } => {
            if names.get(from) == Some(inode) {
                names.remove(from);
            }
            names.insert(to.clone(), *inode);
        }
        Access::Unlink { path } => {
            names.remove(path);
        }
        Access::CreateFolder { path } => {
            folders.insert(path.clone());
        }
        Access::Append { .. }
        | Access::Sync { .. }
        | Access::SyncFolder { .. }
        | Access::Event(_) => {}
    }
}
