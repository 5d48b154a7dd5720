//! Detection of conditional writes in stores without files.
//!
//! Journals and checkpoints in such stores depend on conditional writes, but some servers accept conditions and ignore
//! them, and others refuse them. The first run and each login test this, and write the result into the store. Without
//! conditional writes, [conditions are checked here](crate::unconditional), and users are told.

use uuid::Uuid;

use crate::bucket::Version;
use crate::error::{BackendError, BucketError, StoreErrorKind};
use crate::segments;
use crate::store::Store;

const MARK: &str = ".pulumi/conditional-writes";
const SUPPORTED: &[u8] = b"supported\n";
const MISSING: &[u8] = b"missing\n";

/// Makes sure that conditional writes can be used, by the store or by checks.
pub(crate) fn ensure(store: &Store) -> Result<(), BackendError> {
    if store.bucket.files().is_some() || store.has_lock_only() {
        return Ok(());
    }
    match store.bucket.get(MARK)? {
        Some(mark) if mark == MISSING => store.rely_on_lock(),
        Some(_) => {}
        None => test(store)?,
    }
    Ok(())
}

/// Tests conditional writes again, because a server may be newer than the mark of a former test.
pub(crate) fn renew(store: &Store) -> Result<(), BackendError> {
    if store.bucket.files().is_some() || store.has_lock_only() {
        return Ok(());
    }
    if store
        .bucket
        .get(MARK)?
        .is_some_and(|mark| mark == SUPPORTED)
    {
        return Ok(());
    }
    test(store)
}

fn test(store: &Store) -> Result<(), BackendError> {
    let bucket = store.bucket.as_ref();
    let key = format!("{MARK}-{}", Uuid::new_v4());
    let works = works(store, &key);
    bucket.delete(&key)?;
    let mark = if works? {
        SUPPORTED
    } else {
        store.rely_on_lock();
        MISSING
    };
    Ok(bucket.put(MARK, mark)?)
}

/// Whether conditions are respected.
fn works(store: &Store, key: &str) -> Result<bool, BackendError> {
    let bucket = store.bucket.as_ref();
    match segments::claim(store, key, b"1") {
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
    let found = bucket.get_versioned(key)?.map(|object| object.version);
    let Some(first) = found.filter(|first| *first != Version::default()) else {
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
