//! Conditional writes, also in stores that ignore the conditions.
//!
//! In such a store, the condition is checked before the write, and the object is read back after it. Another writer can
//! still come in between, so **only the lock keeps other runs away**, as with Pulumi; a stack is not taken over from a
//! run that gives no sign of life, because that run could write again.

use std::sync::atomic::Ordering;

use crate::bucket::Version;
use crate::error::BucketError;
use crate::store::Store;

impl Store {
    /// Whether only the lock keeps other runs away, because the store ignores conditions of writes.
    pub(crate) fn has_lock_only(&self) -> bool {
        self.lock_only.load(Ordering::SeqCst)
    }

    /// Checks conditions here from now on.
    pub(crate) fn rely_on_lock(&self) {
        self.lock_only.store(true, Ordering::SeqCst);
    }

    /// Like [`Bucket::put_if_absent`](crate::Bucket::put_if_absent), in every store.
    pub(crate) fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        if !self.has_lock_only() {
            return self.bucket.put_if_absent(key, content);
        }
        Ok(self.bucket.find(key)?.is_none() && self.put_checked(key, content)?)
    }

    /// Like [`Bucket::replace`](crate::Bucket::replace), in every store.
    pub(crate) fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        if !self.has_lock_only() {
            return self.bucket.replace(key, content, expected);
        }
        let present = self.bucket.get_versioned(key)?;
        let is_expected = present.as_ref().map(|it| &it.version) == expected;
        Ok(is_expected && self.put_checked(key, content)?)
    }

    fn put_checked(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        self.bucket.put(key, content)?;
        Ok(self.bucket.get(key)?.as_deref() == Some(content))
    }
}
