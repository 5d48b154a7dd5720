//! Stores of named objects.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::BucketError;

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// When it was last written.
    pub modified: SystemTime,
}

/// A flat store of objects by key; parts of a key are separated by slashes.
///
/// **Writes are durable and whole**: when a call returns, the change survives a crash, and readers see either the old
/// object or the new one. **Listings are current**: an object that was put before is in them.
pub trait Bucket: Send + Sync {
    /// The content of an object, if it is there.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError>;

    /// Writes an object, replacing the one that is there.
    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError>;

    /// Like [`Bucket::put`] for objects that a power failure may take: readers see a whole object or none, but it is not
    /// made durable.
    fn put_relaxed(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.put(key, content)
    }

    /// Writes an object unless there is one; tells whether it did. A power failure may take it.
    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError>;

    /// Removes an object; tells whether it was there. After a power failure it may be there again.
    fn delete(&self, key: &str) -> Result<bool, BucketError>;

    /// Moves an object, replacing what is at the target.
    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError>;

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

    /// The address of an object, for people.
    fn address(&self, key: &str) -> String;

    /// Makes the file of a journal, which is appended to. Fails when it is there.
    fn create_journal(&self, key: &str) -> Result<Box<dyn JournalFile>, BucketError>;
}

/// A file that is only appended to.
pub trait JournalFile: Send {
    /// Writes at the end.
    fn append(&mut self, content: &[u8]) -> std::io::Result<()>;

    /// Returns when everything written is durable.
    fn sync(&mut self) -> std::io::Result<()>;
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
