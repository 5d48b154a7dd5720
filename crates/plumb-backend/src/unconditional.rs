//! Stores that ignore the conditions of writes.
//!
//! The conditions are checked before each write then, and the object is read back after it. Another writer can still
//! come in between, so **only the lock keeps other runs away**, as with Pulumi; a stack is not taken over from a run
//! that gives no sign of life, because that run could write again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::bucket::{Bucket, Entry, Version, Versioned};
use crate::error::BucketError;

/// A bucket whose conditional writes are those of the store, or else checked here.
pub(crate) struct CheckedBucket {
    inner: Arc<dyn Bucket>,
    checks: AtomicBool,
}

impl CheckedBucket {
    /// A bucket that relies on the store.
    pub(crate) fn new(inner: Arc<dyn Bucket>) -> Self {
        CheckedBucket {
            inner,
            checks: AtomicBool::new(false),
        }
    }

    /// Checks conditions here from now on.
    pub(crate) fn start_checking(&self) {
        self.checks.store(true, Ordering::SeqCst);
    }

    /// Whether conditions are checked here.
    pub(crate) fn is_checking(&self) -> bool {
        self.checks.load(Ordering::SeqCst)
    }

    fn put_checked(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        self.inner.put(key, content)?;
        Ok(self.inner.get(key)?.as_deref() == Some(content))
    }
}

impl Bucket for CheckedBucket {
    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        if !self.is_checking() {
            return self.inner.put_if_absent(key, content);
        }
        Ok(self.inner.find(key)?.is_none() && self.put_checked(key, content)?)
    }

    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        if !self.is_checking() {
            return self.inner.replace(key, content, expected);
        }
        let present = self.inner.get_versioned(key)?;
        let is_expected = present.as_ref().map(|it| &it.version) == expected;
        Ok(is_expected && self.put_checked(key, content)?)
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        self.inner.get(key)
    }

    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
        self.inner.get_versioned(key)
    }

    fn get_start(&self, key: &str, length: usize) -> Result<Option<Vec<u8>>, BucketError> {
        self.inner.get_start(key, length)
    }

    fn get_all(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, BucketError> {
        self.inner.get_all(keys)
    }

    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.inner.put(key, content)
    }

    fn put_relaxed(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.inner.put_relaxed(key, content)
    }

    fn delete(&self, key: &str) -> Result<bool, BucketError> {
        self.inner.delete(key)
    }

    fn settle(&self, folder: &str) -> Result<(), BucketError> {
        self.inner.settle(folder)
    }

    fn delete_all(&self, keys: &[String]) -> Result<(), BucketError> {
        self.inner.delete_all(keys)
    }

    fn copy(&self, from: &str, to: &str) -> Result<bool, BucketError> {
        self.inner.copy(from, to)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        self.inner.rename(from, to)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        self.inner.list(folder)
    }

    fn list_direct(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        self.inner.list_direct(folder)
    }

    fn find(&self, key: &str) -> Result<Option<Entry>, BucketError> {
        self.inner.find(key)
    }

    fn find_all(&self, keys: &[String]) -> Result<Vec<Entry>, BucketError> {
        self.inner.find_all(keys)
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    fn pause(&self, time: Duration) {
        self.inner.pause(time);
    }

    fn address(&self, key: &str) -> String {
        self.inner.address(key)
    }
}
