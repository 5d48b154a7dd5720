//! Recovery files: journal records that could not be written to the store.
//!
//! If the disk is full or the server unreachable, the journal cannot be written, but providers still return results,
//! with ids of objects that are recorded nowhere else. Such records are written to a file of this machine, in the
//! folder given in the options of the store:
//!
//! 1. The writer of the journal creates the file with the first record that the store did not take, and syncs each
//!    record.
//! 2. If the store takes the state at the end of the update after all, the file is deleted. Otherwise the error names
//!    the file and the ids.
//! 3. The next run on this machine reads the journal in the store and appends the records of the file, which has the
//!    same header and continues the numbers. Then the file is deleted.
//! 4. A file without its journal (because another machine has recovered the stack) is set aside and reported with its
//!    ids.
//!
//! The name of a file is a digest of the journal's address, so a stack finds only its own files.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plumb_project::StackReference;
use plumb_project::files::{create_private, create_private_folder};
use plumb_state::journal::EntryKind;
use plumb_state::journal::disk::{self, CheckpointDigest, Header, Journal, Tail, header_record};

use crate::encryption::LogEncoder;
use crate::error::BackendError;
use crate::keys;
use crate::recovery::Note;
use crate::segments::JOURNAL;
use crate::store::Store;

const ENDING: &str = ".recovery";

/// An object that was created or changed, by its resource and id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RescuedObject {
    /// URN of the resource.
    pub urn: String,
    /// Id of the resource.
    pub id: String,
}

/// Records that could not be written to the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rescued {
    /// The recovery file; `None` if it could not be written either.
    pub file: Option<PathBuf>,
    /// Objects whose ids are in these records.
    pub objects: Vec<RescuedObject>,
}

impl std::fmt::Display for Rescued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            Some(file) => write!(
                f,
                "what the store did not take was written to {}; the next run of this user on this machine reads it from there",
                file.display()
            )?,
            None => f.write_str(
                "what the store did not take could not be written elsewhere either, and is lost",
            )?,
        }
        if !self.objects.is_empty() {
            f.write_str("; the state does not know these objects yet:")?;
        }
        for object in &self.objects {
            write!(f, "\n  {}  {}", object.id, object.urn)?;
        }
        Ok(())
    }
}

/// Recovery file of one journal, created with the first record.
#[derive(Clone)]
pub(crate) struct Rescue(Arc<Mutex<Inner>>);

struct Inner {
    /// Path; `None` if there is no folder for it.
    path: Option<PathBuf>,
    file: Option<File>,
    /// Encrypts the file like the journal; `None` if the state of the stack is not encrypted.
    encoder: Option<LogEncoder>,
    /// Header and records.
    bytes: Vec<u8>,
    header: Vec<u8>,
    is_written: bool,
}

impl Rescue {
    /// Recovery file of the journal with this key.
    pub(crate) fn new(
        store: &Store,
        journal: &str,
        checkpoint: CheckpointDigest,
    ) -> Result<Self, BackendError> {
        let header = Header {
            checkpoint,
            segment: 0,
        };
        let encoder = match &store.encryption {
            Some(bucket) => bucket.log_encoder(journal)?,
            None => None,
        };
        Ok(Rescue(Arc::new(Mutex::new(Inner {
            path: path_of(store, journal),
            file: None,
            encoder,
            bytes: Vec::new(),
            header: header_record(&header),
            is_written: false,
        }))))
    }

    /// A recovery file that is never written.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Rescue(Arc::new(Mutex::new(Inner {
            path: None,
            file: None,
            encoder: None,
            bytes: Vec::new(),
            header: Vec::new(),
            is_written: false,
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds records, and makes them durable if possible.
    pub(crate) fn add(&self, records: &[u8]) {
        let mut inner = self.inner();
        inner.bytes.extend(records);
        let written = inner.write(records);
        inner.is_written =
            written.is_ok() && (inner.is_written || inner.bytes.len() == records.len());
        if let Err(error) = written {
            tracing::error!(%error, "the recovery file cannot be written");
        }
    }

    /// Added records, if they contain ids that the store has not recorded.
    pub(crate) fn rescued(&self) -> Option<Rescued> {
        let inner = self.inner();
        let content = [inner.header.as_slice(), &inner.bytes].concat();
        let objects = disk::read(&content).as_ref().map(objects).ok()?;
        (!objects.is_empty()).then(|| Rescued {
            file: inner.path.clone().filter(|_| inner.is_written),
            objects,
        })
    }

    /// Deletes the file, because the state contains all of its records.
    pub(crate) fn remove(&self) {
        let mut inner = self.inner();
        inner.bytes.clear();
        if inner.file.take().is_some()
            && let Some(path) = &inner.path
            && let Err(error) = fs::remove_file(path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %path.display(), "the recovery file cannot be removed");
        }
    }
}

impl Inner {
    fn write(&mut self, records: &[u8]) -> io::Result<()> {
        let path = self
            .path
            .as_ref()
            .ok_or_else(|| io::Error::other("there is no folder for it"))?;
        if self.file.is_none() {
            if let Some(folder) = path.parent() {
                create_private_folder(folder)?;
            }
            let mut file = create_private(path)?;
            file.write_all(&encoded(&mut self.encoder, &self.header)?)?;
            self.file = Some(file);
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.write_all(&encoded(&mut self.encoder, records)?)?;
        file.sync_all()?;
        path.parent().map_or(Ok(()), sync_folder)
    }
}

fn encoded<'r>(encoder: &mut Option<LogEncoder>, records: &'r [u8]) -> io::Result<Cow<'r, [u8]>> {
    match encoder {
        Some(encoder) => encoder.encode(records).map(Cow::Owned),
        None => Ok(Cow::Borrowed(records)),
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(windows) {
        Ok(())
    } else {
        File::open(folder)?.sync_all()
    }
}

/// Objects in the outcomes of a journal.
fn objects(journal: &Journal) -> Vec<RescuedObject> {
    let states = journal.entries.iter().filter_map(|(_, entry)| {
        let state = match &entry.opaque().kind {
            EntryKind::Success { state, .. } | EntryKind::RefreshSuccess { state, .. } => {
                state.as_ref()
            }
            EntryKind::Outputs { state, .. } => Some(state),
            _ => None,
        };
        state.filter(|state| !state.id.as_str().is_empty())
    });
    states
        .map(|state| RescuedObject {
            urn: state.urn.to_string(),
            id: state.id.as_str().to_owned(),
        })
        .collect()
}

fn digest_of(store: &Store, folder: &str) -> String {
    let address = store.bucket.address(folder);
    CheckpointDigest::of(address.as_bytes()).to_string()[..16].to_owned()
}

fn path_of(store: &Store, journal: &str) -> Option<PathBuf> {
    let folder = store.options.recovery_folder.as_ref()?;
    let id = keys::file_name(journal).strip_suffix(JOURNAL)?;
    let digest = digest_of(store, keys::folder_of(journal));
    Some(folder.join(format!("{digest}-{id}{ENDING}")))
}

/// Journal with the records of its recovery file appended. Without a complete header in the store, `journal` is empty.
pub(crate) fn continued(
    store: &Store,
    key: &str,
    journal: Journal,
) -> Result<Journal, BackendError> {
    let rescued = match path_of(store, key) {
        Some(path) => read(store, &path)?,
        None => None,
    };
    Ok(match rescued {
        Some(rescued) => joined(journal, rescued),
        None => journal,
    })
}

fn joined(journal: Journal, rescued: Journal) -> Journal {
    if journal.header.is_none() && journal.tail != Tail::Damaged {
        return rescued;
    }
    let same_base =
        |header: &Header| Some(header.checkpoint) == rescued.header.map(|it| it.checkpoint);
    if !journal.header.as_ref().is_some_and(same_base) || journal.tail == Tail::Damaged {
        return journal;
    }
    let mut whole = journal;
    for (seq, entry) in rescued.entries {
        let next = whole.entries.last().map_or(0, |(seq, _)| *seq) + 1;
        if seq == next {
            whole.entries.push((seq, entry));
        }
    }
    whole.tail = Tail::Clean;
    whole
}

/// Records of a recovery file; `None` if there is no usable file. Fails if the file is encrypted and its key cannot be used.
fn read(store: &Store, path: &Path) -> Result<Option<Journal>, BackendError> {
    let Ok(mut content) = fs::read(path) else {
        return Ok(None);
    };
    if let Some(bucket) = &store.encryption {
        content = bucket.decrypt(&path.to_string_lossy(), content)?;
    }
    let journal = disk::read(&content).ok();
    Ok(journal.filter(|journal| journal.header.is_some()))
}

/// Deletes the recovery file of a journal that has been folded into the state.
pub(crate) fn remove(store: &Store, key: &str) {
    if let Some(path) = path_of(store, key)
        && let Err(error) = fs::remove_file(&path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "the recovery file cannot be removed");
    }
}

/// Sets recovery files of a stack aside that belong to none of its journals.
pub(crate) fn set_orphans_aside(store: &Store, stack: &StackReference) -> Vec<Note> {
    let Some(folder) = &store.options.recovery_folder else {
        return Vec::new();
    };
    let prefix = format!("{}-", digest_of(store, &keys::journals(stack)));
    let Ok(listed) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    for path in listed.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().and_then(|name| name.to_str());
        if !name.is_some_and(|name| name.starts_with(&prefix) && name.ends_with(ENDING)) {
            continue;
        }
        let aside = path.with_extension("set-aside");
        let read = match read(store, &path) {
            Ok(read) => read,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "a recovery file cannot be read");
                continue;
            }
        };
        let objects = read.as_ref().map(objects).unwrap_or_default();
        if objects.is_empty() {
            let _ = fs::remove_file(&path);
            continue;
        }
        match fs::rename(&path, &aside) {
            Ok(()) => notes.push(Note::Orphaned(Rescued {
                file: Some(aside),
                objects,
            })),
            Err(error) => tracing::warn!(%error, path = %path.display(), "cannot be set aside"),
        }
    }
    notes
}
