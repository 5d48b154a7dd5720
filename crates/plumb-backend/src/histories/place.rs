//! The store of a history: a bucket in memory or a real one, with a clock that the history moves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::lock;
use crate::bucket::{Bucket, Entry, Version, Versioned};
use crate::error::BucketError;
use crate::memory::MemoryBucket;

/// A part of a bucket. The times in its listings are ahead of the bucket's clock by as much as the history was when the
/// object was written.
pub(super) struct Place {
    inner: Arc<dyn Bucket>,
    /// Beginning of all keys.
    prefix: String,
    ahead: Mutex<Duration>,
    written: Mutex<HashMap<String, Duration>>,
}

impl Place {
    pub(super) fn in_memory() -> Self {
        Place::within(Arc::new(MemoryBucket::default()), "")
    }

    /// The objects of a bucket below a folder, which must be empty. The folder ends with a slash.
    pub(super) fn within(inner: Arc<dyn Bucket>, folder: &str) -> Self {
        Place {
            inner,
            prefix: folder.to_owned(),
            ahead: Mutex::default(),
            written: Mutex::default(),
        }
    }

    /// Moves the clock.
    pub(super) fn advance(&self, by: Duration) {
        *lock(&self.ahead) += by;
    }

    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    fn note_write(&self, key: &str) {
        let ahead = *lock(&self.ahead);
        lock(&self.written).insert(key.to_owned(), ahead);
    }
}

impl Bucket for Place {
    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
        self.inner.get_versioned(&self.key(key))
    }

    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.note_write(key);
        self.inner.put(&self.key(key), content)
    }

    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        let is_written = self.inner.put_if_absent(&self.key(key), content)?;
        if is_written {
            self.note_write(key);
        }
        Ok(is_written)
    }

    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        let is_written = self.inner.replace(&self.key(key), content, expected)?;
        if is_written {
            self.note_write(key);
        }
        Ok(is_written)
    }

    fn delete(&self, key: &str) -> Result<bool, BucketError> {
        self.inner.delete(&self.key(key))
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        let mut entries = self.inner.list(&self.key(folder))?;
        let written = lock(&self.written);
        for entry in &mut entries {
            entry.key.drain(..self.prefix.len());
            entry.modified += written.get(&entry.key).copied().unwrap_or_default();
        }
        Ok(entries)
    }

    fn address(&self, key: &str) -> String {
        self.inner.address(&self.key(key))
    }
}
