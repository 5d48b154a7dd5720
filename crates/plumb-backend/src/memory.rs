//! A bucket in memory: for stacks that end with the process, and for tests, which move its clock, count its requests and
//! script its failures.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::bucket::{Bucket, Entry, Version, Versioned, check_key};
use crate::error::{BucketError, StoreErrorKind};

/// Outcome of a request, chosen by a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request is performed and answered.
    None,
    /// The request is not performed, and the caller gets an error.
    Before,
    /// The request is performed, but the caller gets an error.
    After,
    /// The request is performed twice, and the caller gets the second answer: the client repeats requests whose answer
    /// is lost.
    Repeated,
    /// The request is not performed, and the caller gets an error that is not transient.
    Refused,
}

type Script = Box<dyn FnMut(&'static str, &str) -> Fault + Send>;

/// A bucket in memory, without support for appending.
#[derive(Default)]
pub struct MemoryBucket {
    state: Mutex<State>,
    script: Mutex<Option<Script>>,
    requests: AtomicUsize,
    latency: Duration,
}

#[derive(Clone, Default)]
struct State {
    objects: BTreeMap<String, Object>,
    generation: u64,
    /// Offset of the clock from the machine's clock.
    ahead: Duration,
}

#[derive(Clone)]
struct Object {
    content: Vec<u8>,
    generation: u64,
    modified: SystemTime,
}

impl MemoryBucket {
    /// An empty bucket with this latency for each request.
    pub fn with_latency(latency: Duration) -> Self {
        MemoryBucket {
            latency,
            ..MemoryBucket::default()
        }
    }

    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.state().ahead += by;
    }

    /// A copy with the same objects, for the next run after a crash of this one.
    #[must_use]
    pub fn fork(&self) -> MemoryBucket {
        let state = self.state();
        MemoryBucket {
            state: Mutex::new(state.clone()),
            ..MemoryBucket::default()
        }
    }

    /// Number of requests.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Calls `script` before each request, with the action and the key.
    pub fn script(&self, script: impl FnMut(&'static str, &str) -> Fault + Send + 'static) {
        *lock(&self.script) = Some(Box::new(script));
    }

    /// Ends the script.
    pub fn heal(&self) {
        *lock(&self.script) = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn request<T>(
        &self,
        action: &'static str,
        key: &str,
        act: impl Fn(&mut State) -> T,
    ) -> Result<T, BucketError> {
        check_key(key)?;
        self.requests.fetch_add(1, Ordering::SeqCst);
        if !self.latency.is_zero() {
            thread::sleep(self.latency);
        }
        let fault = lock(&self.script)
            .as_mut()
            .map_or(Fault::None, |script| script(action, key));
        let transient = || self.failed(action, key, StoreErrorKind::Transient);
        match fault {
            Fault::None => Ok(act(&mut self.state())),
            Fault::Before => Err(transient()),
            Fault::After => {
                act(&mut self.state());
                Err(transient())
            }
            Fault::Repeated => {
                act(&mut self.state());
                Ok(act(&mut self.state()))
            }
            Fault::Refused => Err(self.failed(action, key, StoreErrorKind::Refused)),
        }
    }

    fn failed(&self, action: &'static str, key: &str, kind: StoreErrorKind) -> BucketError {
        BucketError::Store {
            action,
            address: self.address(key),
            kind,
            hint: None,
            source: "no answer".into(),
        }
    }
}

impl State {
    fn write(&mut self, key: &str, content: &[u8]) {
        self.generation += 1;
        let object = Object {
            content: content.to_vec(),
            generation: self.generation,
            modified: SystemTime::now() + self.ahead,
        };
        self.objects.insert(key.to_owned(), object);
    }

    fn version(&self, key: &str) -> Option<Version> {
        self.objects.get(key).map(version_of)
    }
}

fn version_of(object: &Object) -> Version {
    Version {
        tag: None,
        generation: Some(object.generation.to_string()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bucket for MemoryBucket {
    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
        self.request("read", key, |state| {
            state.objects.get(key).map(|object| Versioned {
                content: object.content.clone(),
                version: version_of(object),
            })
        })
    }

    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.request("write", key, |state| state.write(key, content))
    }

    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        self.replace(key, content, None)
    }

    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        self.request("write", key, |state| {
            let fits = state.version(key).as_ref() == expected;
            if fits {
                state.write(key, content);
            }
            fits
        })
    }

    fn delete(&self, key: &str) -> Result<bool, BucketError> {
        self.request("remove", key, |state| state.objects.remove(key).is_some())
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        let prefix = format!("{folder}/");
        self.request("list", folder, |state| {
            let found = state.objects.range(prefix.clone()..);
            let inside = found.take_while(|(key, _)| key.starts_with(&prefix));
            let entry = |(key, object): (&String, &Object)| Entry {
                key: key.clone(),
                modified: object.modified,
                tag: Some(object.generation.to_string()),
            };
            inside.map(entry).collect()
        })
    }

    fn pause(&self, time: Duration) {
        self.advance(time);
    }

    fn address(&self, key: &str) -> String {
        format!("memory://{key}")
    }
}
