//! Stores of named objects.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::BucketError;

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// When it was last written.
    pub modified: SystemTime,
}

/// Version of an object, opaque: an object that has the same version in two reads has the same content in both.
///
/// Stores name versions in one of two ways, or in both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Version {
    /// Tag of the content (`ETag`).
    pub tag: Option<String>,
    /// Number of the object's generation.
    pub generation: Option<String>,
}

/// The content of an object, with the version that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// The content.
    pub content: Vec<u8>,
    /// The version.
    pub version: Version,
}

/// A flat store of objects by key; parts of a key are separated by slashes.
///
/// **Writes are durable and whole**: when a call returns, the change survives a crash, and readers see either the old
/// object or the new one. **Listings are current**: an object that was put before is in them. A call that fails with an
/// error that [`BucketError::is_transient`] may have been carried out nevertheless.
///
/// The suite that each implementation passes is `conformance`, behind the feature of that name.
pub trait Bucket: Send + Sync {
    /// The content of an object, if it is there.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        Ok(self.get_versioned(key)?.map(|object| object.content))
    }

    /// The content of an object and its version, if it is there.
    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError>;

    /// The contents of several objects, in the order of the keys.
    fn get_all(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, BucketError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Writes an object, replacing the one that is there.
    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError>;

    /// Like [`Bucket::put`] for objects that a power failure may take: readers see a whole object or none, but it is not
    /// made durable.
    fn put_relaxed(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.put(key, content)
    }

    /// Writes an object unless there is one; tells whether it did. A power failure may take it.
    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError>;

    /// Replaces the object that has version `expected`, or writes one where none is expected and none is; tells whether
    /// it did.
    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError>;

    /// Removes an object; tells whether it was there, if the store says so: object stores always answer true. After a
    /// power failure it may be there again, unless [`Bucket::settle`] was called.
    fn delete(&self, key: &str) -> Result<bool, BucketError>;

    /// Makes the removals of objects directly in a folder durable, where [`Bucket::delete`] alone does not.
    fn settle(&self, folder: &str) -> Result<(), BucketError> {
        let _ = folder;
        Ok(())
    }

    /// Removes objects, in any order. Those that are missing are no error.
    fn delete_all(&self, keys: &[String]) -> Result<(), BucketError> {
        keys.iter().try_for_each(|key| self.delete(key).map(drop))
    }

    /// Copies an object, replacing what is at the target; tells whether there was one to copy. A power failure may take
    /// the copy.
    fn copy(&self, from: &str, to: &str) -> Result<bool, BucketError> {
        match self.get(from)? {
            Some(content) => self.put_relaxed(to, &content).map(|()| true),
            None => Ok(false),
        }
    }

    /// Moves an object, replacing what is at the target.
    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        self.copy(from, to)?;
        self.delete(from).map(drop)
    }

    /// The objects below a folder (`a/b` finds `a/b/c` and `a/b/c/d`), sorted by key.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError>;

    /// The objects directly in a folder (`a/b` finds `a/b/c` only), sorted by key.
    fn list_direct(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        let mut entries = self.list(folder)?;
        let is_direct = |key: &str| {
            let name = key
                .strip_prefix(folder)
                .and_then(|rest| rest.strip_prefix('/'));
            name.is_some_and(|name| !name.contains('/'))
        };
        entries.retain(|entry| is_direct(&entry.key));
        Ok(entries)
    }

    /// The object with this key as a listing has it, if it is there.
    fn find(&self, key: &str) -> Result<Option<Entry>, BucketError> {
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
        let listed = self.list(folder)?;
        Ok(listed.into_iter().find(|entry| entry.key == key))
    }

    /// Waits before a failed request is sent again. Buckets of tests move their clock instead.
    fn pause(&self, time: Duration) {
        thread::sleep(time);
    }

    /// The address of an object, for people.
    fn address(&self, key: &str) -> String;

    /// Files that can be appended to, where the store has them. Without, a journal is kept in segments, and the
    /// store's own clock tells whether an owner still renews its lease.
    fn files(&self) -> Option<&dyn JournalFiles> {
        None
    }
}

/// Part of a store whose objects can be appended to.
pub trait JournalFiles {
    /// Makes the file of a journal. Fails when it is there.
    fn create_journal(&self, key: &str) -> Result<Box<dyn JournalFile>, BucketError>;
}

/// A file that is only appended to.
pub trait JournalFile: Send {
    /// Writes at the end.
    fn append(&mut self, content: &[u8]) -> std::io::Result<()>;

    /// Returns when everything written is durable.
    fn sync(&mut self) -> std::io::Result<()>;

    /// Makes sure that so many bytes can be appended later, where the store can reserve room.
    fn reserve(&mut self, room: u64) -> std::io::Result<()> {
        let _ = room;
        Ok(())
    }
}

/// Fails for a key that no store may hold: one with an empty part, or with one that means another folder.
pub fn check_key(key: &str) -> Result<(), BucketError> {
    let is_legal =
        |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    if key.split('/').all(is_legal) {
        Ok(())
    } else {
        Err(BucketError::IllegalKey {
            key: key.to_owned(),
        })
    }
}

pub(crate) fn io_error(
    action: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(std::io::Error) -> BucketError {
    let path = path.into();
    move |source| BucketError::Io {
        action,
        path,
        source,
    }
}
