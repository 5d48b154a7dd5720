//! A bucket over an object store.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::client::HttpError;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, RetryConfig, UpdateVersion,
};
use plumb_backend::{Bucket, BucketError, Entry, StoreErrorKind, Version, Versioned, check_key};

use crate::answer::Answer;
use crate::error::OpenError;
use crate::runtime::Worker;

/// Maximum number of concurrent requests when several objects are read or deleted.
const PARALLEL: usize = 16;

/// Permissions for actions, in the terms of the service.
#[derive(Debug, Clone)]
pub(crate) struct Rights {
    pub(crate) read: &'static str,
    pub(crate) write: &'static str,
    pub(crate) remove: &'static str,
    pub(crate) list: &'static str,
    /// Resource to grant them on: for objects, and for listings.
    pub(crate) objects: String,
    pub(crate) bucket: String,
}

/// A bucket over an object store.
pub(crate) struct ObjectBucket {
    store: Arc<dyn ObjectStore>,
    worker: Worker,
    prefix: String,
    /// Address of the bucket with the prefix, without a trailing slash.
    base: String,
    rights: Rights,
}

/// Time limits and retries of all clients. Conditional writes are retried by callers that can tell whether the first
/// attempt succeeded.
pub(crate) fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            base: 2.0,
        },
        max_retries: 4,
        retry_timeout: Duration::from_mins(1),
    }
}

/// Options of all clients.
pub(crate) fn client() -> ClientOptions {
    ClientOptions::new()
        .with_timeout(Duration::from_secs(30))
        .with_connect_timeout(Duration::from_secs(5))
}

impl ObjectBucket {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        worker: Worker,
        (scheme, bucket, prefix): (&str, &str, &str),
        rights: Rights,
    ) -> Self {
        let base = format!("{scheme}://{bucket}/{prefix}");
        ObjectBucket {
            store,
            worker,
            prefix: prefix.to_owned(),
            base: base.trim_end_matches('/').to_owned(),
            rights,
        }
    }

    fn path(&self, key: &str) -> Result<Path, BucketError> {
        check_key(key)?;
        Path::parse(format!("{}{key}", self.prefix)).map_err(|_| BucketError::IllegalKey {
            key: key.to_owned(),
        })
    }

    /// Runs a request against the store.
    fn run<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &self,
        request: impl FnOnce(Arc<dyn ObjectStore>) -> F,
    ) -> Result<T, Error> {
        let is_unanswered = |error: &Error| kind_of(error) == StoreErrorKind::Transient;
        self.worker
            .request(request(self.store.clone()), is_unanswered)
    }

    fn failed(&self, action: Action, key: &str) -> impl Fn(Error) -> BucketError {
        let address = self.address(key);
        let hint = action.hint(&self.rights);
        move |source| {
            let kind = kind_of(&source);
            let answer = Answer(source);
            let hint = answer
                .no_credentials()
                .map_or_else(|| hint.clone(), |missing| missing.advice.to_owned());
            BucketError::Store {
                action: action.verb(),
                address: address.clone(),
                kind,
                hint: (kind == StoreErrorKind::Denied).then_some(hint),
                source: Box::new(answer),
            }
        }
    }

    fn put_with(&self, key: &str, content: &[u8], mode: PutMode) -> Result<bool, BucketError> {
        let path = self.path(key)?;
        let payload = Bytes::copy_from_slice(content);
        let options = PutOptions::from(mode);
        let put =
            self.run(|store| async move { store.put_opts(&path, payload.into(), options).await });
        match put {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failed(Action::Write, key)(error)),
        }
    }

    fn entry(&self, meta: &ObjectMeta) -> Option<Entry> {
        let key = meta.location.as_ref().strip_prefix(&self.prefix)?;
        Some(Entry {
            key: key.to_owned(),
            modified: SystemTime::from(meta.last_modified),
            tag: meta.e_tag.clone().filter(|tag| !tag.is_empty()),
        })
    }

    fn entries(&self, found: &[ObjectMeta]) -> Vec<Entry> {
        let mut entries: Vec<Entry> = found.iter().filter_map(|it| self.entry(it)).collect();
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        entries
    }
}

impl Bucket for ObjectBucket {
    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
        let path = self.path(key)?;
        let found = self.run(|store| async move { read(store.as_ref(), &path).await });
        found.map_err(self.failed(Action::Read, key))
    }

    fn get_start(&self, key: &str, length: usize) -> Result<Option<Vec<u8>>, BucketError> {
        let path = self.path(key)?;
        let range = 0..length as u64;
        let start = self.run(|store| async move { store.get_range(&path, range).await });
        match start {
            Ok(start) => Ok(Some(start.to_vec())),
            // Servers that know no ranges, and empty objects, which have none.
            Err(_) => self.get(key),
        }
    }

    fn get_all(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, BucketError> {
        let paths: Result<Vec<Path>, BucketError> = keys.iter().map(|key| self.path(key)).collect();
        let paths = paths?;
        let found = self.run(|store| async move {
            let reads = paths.into_iter().map(move |path| {
                let store = store.clone();
                async move { read(store.as_ref(), &path).await }
            });
            let all = futures::stream::iter(reads).buffered(PARALLEL);
            all.try_collect::<Vec<_>>().await
        });
        let first = keys.first().map_or("", String::as_str);
        let found = found.map_err(self.failed(Action::Read, first))?;
        Ok(found
            .into_iter()
            .map(|object| object.map(|object| object.content))
            .collect())
    }

    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.put_with(key, content, PutMode::Overwrite).map(drop)
    }

    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        self.put_with(key, content, PutMode::Create)
    }

    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        let mode = match expected {
            None => PutMode::Create,
            Some(version) => PutMode::Update(UpdateVersion {
                e_tag: version.tag.clone(),
                version: version.generation.clone(),
            }),
        };
        match self.put_with(key, content, mode) {
            // Some servers report a missing object instead of a wrong version.
            Err(BucketError::Store { source, .. })
                if expected.is_some()
                    && source
                        .downcast_ref::<Answer>()
                        .is_some_and(|answer| matches!(answer.0, Error::NotFound { .. })) =>
            {
                Ok(false)
            }
            result => result,
        }
    }

    fn delete(&self, key: &str) -> Result<bool, BucketError> {
        let path = self.path(key)?;
        let deleted = self.run(|store| async move { store.delete(&path).await });
        match deleted {
            Ok(()) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failed(Action::Remove, key)(error)),
        }
    }

    fn delete_all(&self, keys: &[String]) -> Result<(), BucketError> {
        let paths: Result<Vec<Path>, BucketError> = keys.iter().map(|key| self.path(key)).collect();
        let paths = paths?;
        // Many at a time where the service can do that.
        let deleted = self.run(|store| async move {
            let paths = futures::stream::iter(paths).map(Ok);
            let mut deleted = store.delete_stream(paths.boxed());
            while let Some(result) = deleted.next().await {
                match result {
                    Ok(_) | Err(Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        let first = keys.first().map_or("", String::as_str);
        deleted.map_err(self.failed(Action::Remove, first))
    }

    fn copy(&self, from: &str, to: &str) -> Result<bool, BucketError> {
        let (source, target) = (self.path(from)?, self.path(to)?);
        let copied = self.run(|store| async move { store.copy(&source, &target).await });
        match copied {
            Ok(()) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failed(Action::Write, to)(error)),
        }
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        let (source, target) = (self.path(from)?, self.path(to)?);
        let copied = self.run(|store| async move { store.copy(&source, &target).await });
        copied.map_err(self.failed(Action::Write, to))?;
        self.delete(from).map(drop)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        let path = self.path(folder)?;
        let found =
            self.run(|store| async move { store.list(Some(&path)).try_collect::<Vec<_>>().await });
        let found = found.map_err(self.failed(Action::List, folder))?;
        Ok(self.entries(&found))
    }

    fn list_direct(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        let path = self.path(folder)?;
        let found = self.run(|store| async move { store.list_with_delimiter(Some(&path)).await });
        let found = found.map_err(self.failed(Action::List, folder))?;
        Ok(self.entries(&found.objects))
    }

    fn find(&self, key: &str) -> Result<Option<Entry>, BucketError> {
        let path = self.path(key)?;
        match self.run(|store| async move { store.head(&path).await }) {
            Ok(meta) => Ok(self.entry(&meta)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(Action::Read, key)(error)),
        }
    }

    fn find_all(&self, keys: &[String]) -> Result<Vec<Entry>, BucketError> {
        let paths: Result<Vec<Path>, BucketError> = keys.iter().map(|key| self.path(key)).collect();
        let paths = paths?;
        let found = self.run(|store| async move {
            let heads = paths.iter().map(|path| async {
                match store.head(path).await {
                    Err(Error::NotFound { .. }) => Ok(None),
                    found => found.map(Some),
                }
            });
            futures::future::try_join_all(heads).await
        });
        let first = keys.first().map_or("", String::as_str);
        let found = found.map_err(self.failed(Action::Read, first))?;
        Ok(found
            .iter()
            .flatten()
            .filter_map(|meta| self.entry(meta))
            .collect())
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn pause(&self, time: Duration) {
        self.worker.pause(time);
    }

    fn address(&self, key: &str) -> String {
        if key.is_empty() {
            self.base.clone()
        } else {
            format!("{}/{key}", self.base)
        }
    }
}

async fn read(store: &dyn ObjectStore, path: &Path) -> Result<Option<Versioned>, Error> {
    let found = match store.get(path).await {
        Err(Error::NotFound { .. }) => return Ok(None),
        found => found?,
    };
    let version = Version {
        tag: found.meta.e_tag.clone(),
        generation: found.meta.version.clone(),
    };
    let content = found.bytes().await?.to_vec();
    Ok(Some(Versioned { content, version }))
}

/// Action on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Read,
    Write,
    Remove,
    List,
}

impl Action {
    fn verb(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Write => "write",
            Action::Remove => "remove",
            Action::List => "list",
        }
    }

    /// Advice for the user when the action is denied.
    fn hint(self, rights: &Rights) -> String {
        let (right, place) = match self {
            Action::Read => (rights.read, &rights.objects),
            Action::Write => (rights.write, &rights.objects),
            Action::Remove => (rights.remove, &rights.objects),
            Action::List => (rights.list, &rights.bucket),
        };
        format!("the credentials that were found need {right} on {place}")
    }
}

fn kind_of(error: &Error) -> StoreErrorKind {
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => StoreErrorKind::Denied,
        Error::Generic { source, .. } if is_transient(source.as_ref()) => StoreErrorKind::Transient,
        _ => StoreErrorKind::Refused,
    }
}

/// Whether a request got no response, or one that asks for a retry. The client reports the status only as text.
fn is_transient(error: &(dyn std::error::Error + 'static)) -> bool {
    const STATUS: &str = "status code: ";
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<HttpError>().is_some() {
            return true;
        }
        let text = error.to_string();
        if let Some(status) = text.split(STATUS).nth(1) {
            return status.starts_with('5')
                || ["408", "429"].iter().any(|it| status.starts_with(it));
        }
        cause = error.source();
    }
    false
}

/// Error for settings from which no client can be built.
pub(crate) fn unusable(url: &str) -> impl Fn(Error) -> OpenError {
    let url = url.to_owned();
    move |error| OpenError::Settings {
        url: url.clone(),
        problem: error.to_string(),
    }
}
