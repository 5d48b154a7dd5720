//! Detection of conditional writes in stores without files.
//!
//! Journals and checkpoints in such stores depend on conditional writes, but some servers accept conditions and ignore
//! them. The first run tests this, and writes a marker into the store after success.

use uuid::Uuid;

use crate::bucket::{Bucket, Version};
use crate::error::BackendError;
use crate::segments;
use crate::store::Store;

const MARK: &str = ".pulumi/conditional-writes";

/// Fails if the store has neither files nor conditional writes.
pub(crate) fn ensure(store: &Store) -> Result<(), BackendError> {
    let bucket = store.bucket.as_ref();
    if bucket.files().is_some() || bucket.get(MARK)?.is_some() {
        return Ok(());
    }
    let key = format!("{MARK}-{}", Uuid::new_v4());
    let missing = missing(bucket, &key);
    bucket.delete(&key)?;
    if let Some(missing) = missing? {
        return Err(BackendError::NoConditionalWrites {
            url: bucket.address(""),
            missing,
        });
    }
    Ok(bucket.put(MARK, b"supported\n")?)
}

/// First missing capability; `None` if all work.
fn missing(bucket: &dyn Bucket, key: &str) -> Result<Option<&'static str>, BackendError> {
    const ABSENT: &str = "writing an object only if there is none";
    const VERSION: &str = "replacing an object only if it has not changed";
    if !segments::claim(bucket, key, b"1")? || bucket.put_if_absent(key, b"2")? {
        return Ok(Some(ABSENT));
    }
    let version = |bucket: &dyn Bucket| -> Result<Option<Version>, BackendError> {
        Ok(bucket.get_versioned(key)?.map(|object| object.version))
    };
    let Some(first) = version(bucket)? else {
        return Ok(Some(VERSION));
    };
    let has_replaced = first != Version::default()
        && (bucket.replace(key, b"3", Some(&first))?
            // The client may have repeated a request that had its effect.
            || bucket.get(key)?.as_deref() == Some(b"3"));
    if !has_replaced {
        return Ok(Some(VERSION));
    }
    if bucket.replace(key, b"4", Some(&first))? || bucket.get(key)?.as_deref() != Some(b"3") {
        return Ok(Some(VERSION));
    }
    Ok(None)
}
