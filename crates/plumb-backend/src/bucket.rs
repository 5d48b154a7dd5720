//! Stores of named objects.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::BucketError;

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Key of the object.
    pub key: String,
    /// Time of the last write.
    pub modified: SystemTime,
    /// Tag of the content, where listings have one.
    pub tag: Option<String>,
}

impl Entry {
    /// Text that changes when the object does: its tag, or the time of the last write to the nanosecond.
    pub fn stamp(&self) -> String {
        self.tag.clone().unwrap_or_else(|| {
            let since = self.modified.duration_since(SystemTime::UNIX_EPOCH);
            since.unwrap_or_default().as_nanos().to_string()
        })
    }
}

/// Version of an object, opaque. Two reads with the same version returned the same content.
///
/// Stores identify versions by a tag, by a generation, or by both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Version {
    /// Tag of the content (`ETag`).
    pub tag: Option<String>,
    /// Generation of the object.
    pub generation: Option<String>,
}

/// Content of an object, with its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// The content.
    pub content: Vec<u8>,
    /// The version.
    pub version: Version,
}

/// A flat store of objects by key, whose parts are separated by slashes.
///
/// **Writes are durable and atomic**: when a call returns, the change survives a crash, and readers see either the old
/// or the new object. **Listings are consistent**: they contain every object written before. A call that fails with an
/// error for which [`BucketError::is_transient`] is true may nevertheless have had its effect.
///
/// All implementations pass the suite in `conformance`, behind the feature of that name.
pub trait Bucket: Send + Sync {
    /// Content of an object; `None` if it does not exist.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        Ok(self.get_versioned(key)?.map(|object| object.content))
    }

    /// Content and version of an object; `None` if it does not exist.
    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError>;

    /// At least the first `length` bytes of an object, or all of it if it is shorter; `None` if it does not exist.
    fn get_start(&self, key: &str, length: usize) -> Result<Option<Vec<u8>>, BucketError> {
        let _ = length;
        self.get(key)
    }

    /// Contents of several objects, in the order of the keys.
    fn get_all(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, BucketError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Writes an object, replacing an existing one.
    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError>;

    /// Writes like [`Bucket::put`], but without durability: readers see a complete object or none, and a power failure
    /// may lose it.
    fn put_relaxed(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.put(key, content)
    }

    /// Writes an object unless it exists; returns whether it was written. A power failure may lose it.
    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError>;

    /// Replaces the object if its version is `expected`, or creates it if `expected` is `None` and it does not exist.
    /// Returns whether it was written.
    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError>;

    /// Deletes an object; returns whether it existed, if the store tells: object stores always return true. After a
    /// power failure the object may exist again, unless [`Bucket::settle`] was called.
    fn delete(&self, key: &str) -> Result<bool, BucketError>;

    /// Makes deletions of objects directly in a folder durable, where [`Bucket::delete`] alone does not.
    fn settle(&self, folder: &str) -> Result<(), BucketError> {
        let _ = folder;
        Ok(())
    }

    /// Deletes objects, in any order. Missing ones are ignored.
    fn delete_all(&self, keys: &[String]) -> Result<(), BucketError> {
        keys.iter().try_for_each(|key| self.delete(key).map(drop))
    }

    /// Copies an object, replacing the target; returns whether the source existed. A power failure may lose the copy.
    fn copy(&self, from: &str, to: &str) -> Result<bool, BucketError> {
        match self.get(from)? {
            Some(content) => self.put_relaxed(to, &content).map(|()| true),
            None => Ok(false),
        }
    }

    /// Moves an object, replacing the target.
    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        self.copy(from, to)?;
        self.delete(from).map(drop)
    }

    /// Objects below a folder, recursively (`a/b` finds `a/b/c` and `a/b/c/d`), sorted by key.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError>;

    /// Objects directly in a folder (`a/b` finds only `a/b/c`), sorted by key.
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

    /// Listing entry of an object; `None` if it does not exist.
    fn find(&self, key: &str) -> Result<Option<Entry>, BucketError> {
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
        let listed = self.list(folder)?;
        Ok(listed.into_iter().find(|entry| entry.key == key))
    }

    /// Listing entries of those objects that exist.
    fn find_all(&self, keys: &[String]) -> Result<Vec<Entry>, BucketError> {
        let found: Result<Vec<_>, _> = keys.iter().map(|key| self.find(key)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// Whether a request takes so long that independent requests should be made at the same time, from several threads.
    fn is_remote(&self) -> bool {
        false
    }

    /// Waits before a retry. Buckets of tests advance their clock instead.
    fn pause(&self, time: Duration) {
        thread::sleep(time);
    }

    /// Address of an object, for display.
    fn address(&self, key: &str) -> String;

    /// Files that support appending, if the store has them. Otherwise journals consist of segments, and the store's own
    /// clock decides whether an owner still renews its lease.
    fn files(&self) -> Option<&dyn JournalFiles> {
        None
    }
}

/// The part of a store that supports appending.
pub trait JournalFiles {
    /// Creates the file of a journal. Fails if it exists.
    fn create_journal(&self, key: &str) -> Result<Box<dyn JournalFile>, BucketError>;
}

/// An append-only file.
pub trait JournalFile: Send {
    /// Writes at the end of the file.
    fn append(&mut self, content: &[u8]) -> std::io::Result<()>;

    /// Returns when all written bytes are durable.
    fn sync(&mut self) -> std::io::Result<()>;

    /// Reserves room for that many more bytes, if the store supports it.
    fn reserve(&mut self, room: u64) -> std::io::Result<()> {
        let _ = room;
        Ok(())
    }
}

/// Rejects illegal keys: those with an empty part, or with a part that refers to another folder.
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
