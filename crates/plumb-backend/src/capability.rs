//! Detection of conditional writes in stores without files.
//!
//! Journals and checkpoints in such stores depend on conditional writes, but some servers accept conditions and ignore
//! them, and others refuse them. The first run and each login test this, and write the result into the store. Without
//! conditional writes, [conditions are checked here](crate::unconditional), and users are told.

use uuid::Uuid;

use crate::bucket::{Bucket, Version};
use crate::error::{BackendError, BucketError, StoreErrorKind};
use crate::segments;
use crate::store::Store;
use crate::unconditional::CheckedBucket;

const MARK: &str = ".pulumi/conditional-writes";
const SUPPORTED: &[u8] = b"supported\n";
const MISSING: &[u8] = b"missing\n";

/// Makes sure that conditional writes can be used, by the store or by checks.
pub(crate) fn ensure(store: &Store) -> Result<(), BackendError> {
    let Some(bucket) = store.checked.as_deref().filter(|it| !it.is_checking()) else {
        return Ok(());
    };
    match bucket.get(MARK)? {
        Some(mark) if mark == MISSING => bucket.start_checking(),
        Some(_) => {}
        None => test(bucket)?,
    }
    Ok(())
}

/// Tests conditional writes again, because a server may be newer than the mark of a former test.
pub(crate) fn renew(store: &Store) -> Result<(), BackendError> {
    match store.checked.as_deref() {
        Some(bucket) if bucket.get(MARK)?.is_none_or(|mark| mark == MISSING) => test(bucket),
        _ => Ok(()),
    }
}

fn test(bucket: &CheckedBucket) -> Result<(), BackendError> {
    let key = format!("{MARK}-{}", Uuid::new_v4());
    let works = works(bucket, &key);
    bucket.delete(&key)?;
    let mark = if works? {
        SUPPORTED
    } else {
        bucket.start_checking();
        MISSING
    };
    Ok(bucket.put(MARK, mark)?)
}

/// Whether conditions are respected.
fn works(bucket: &dyn Bucket, key: &str) -> Result<bool, BackendError> {
    match segments::claim(bucket, key, b"1") {
        Ok(true) => {}
        Ok(false) => return Ok(false),
        Err(error) if is_refused(&error) => {
            // The condition, or the whole request.
            bucket.put(key, b"1")?;
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    }
    if bucket.put_if_absent(key, b"2")? {
        return Ok(false);
    }
    let version = |bucket: &dyn Bucket| -> Result<Option<Version>, BackendError> {
        Ok(bucket.get_versioned(key)?.map(|object| object.version))
    };
    let Some(first) = version(bucket)?.filter(|first| *first != Version::default()) else {
        return Ok(false);
    };
    // The client may have repeated a request that had its effect.
    let has_replaced =
        bucket.replace(key, b"3", Some(&first))? || bucket.get(key)?.as_deref() == Some(b"3");
    Ok(has_replaced
        && !bucket.replace(key, b"4", Some(&first))?
        && bucket.get(key)?.as_deref() == Some(b"3"))
}

fn is_refused(error: &BucketError) -> bool {
    matches!(
        error,
        BucketError::Store {
            kind: StoreErrorKind::Refused,
            ..
        }
    )
}
