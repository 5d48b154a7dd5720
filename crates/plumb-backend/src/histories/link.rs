//! Connections of writers to the bucket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rand::RngExt;

use super::World;
use crate::bucket::{Bucket, Entry, Version, Versioned};
use crate::error::{BucketError, StoreErrorKind};

/// Connection of one process. Other writers act between its requests, requests fail, and the process may die during
/// one.
pub(super) struct Link {
    world: Arc<World>,
    /// Set once the process has opened the store; until then nothing interferes with its requests.
    is_open: AtomicBool,
    is_cut: AtomicBool,
    /// Number of requests until the process dies; zero for never.
    dies_in: AtomicU32,
    /// Number of requests that do not reach the store, because the network is down.
    lost: AtomicU32,
}

/// Connection without interference.
pub(super) struct Direct(pub(super) Arc<World>);

enum Fate {
    Done,
    /// The writer gets no response; the bucket may or may not have performed the request.
    NoAnswer {
        is_done: bool,
    },
    /// The answer is lost on its way, and the client makes the request again on its own.
    Repeated,
}

impl Link {
    pub(super) fn new(world: &Arc<World>) -> Self {
        Link {
            world: world.clone(),
            is_open: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            dies_in: AtomicU32::new(0),
            lost: AtomicU32::new(0),
        }
    }

    /// Starts the interference.
    pub(super) fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }

    /// Cuts the connection, as `kill -9` does: all later requests fail.
    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }

    /// Makes the process die at its `requests`-th request from now on.
    pub(super) fn die_in(&self, requests: u32) {
        self.dies_in.store(requests, Ordering::SeqCst);
    }

    fn request<T>(
        &self,
        act: impl Fn(&dyn Bucket) -> Result<T, BucketError>,
    ) -> Result<T, BucketError> {
        if !self.is_open.load(Ordering::SeqCst) {
            return act(&self.world.bucket);
        }
        if self.is_cut() {
            return Err(no_answer(StoreErrorKind::Refused));
        }
        self.let_others_act();
        match self.fate() {
            Fate::Done => act(&self.world.bucket),
            Fate::Repeated => {
                drop(act(&self.world.bucket));
                self.let_others_act();
                act(&self.world.bucket)
            }
            Fate::NoAnswer { is_done } => {
                if is_done {
                    drop(act(&self.world.bucket));
                }
                let kind = if self.is_cut() {
                    StoreErrorKind::Refused
                } else {
                    StoreErrorKind::Transient
                };
                Err(no_answer(kind))
            }
        }
    }

    fn let_others_act(&self) {
        while self.world.chance().random_ratio(1, 12) && self.world.act() {
            self.world.model().counts.nested += 1;
        }
    }

    fn fate(&self) -> Fate {
        let left = self.dies_in.load(Ordering::SeqCst);
        if left > 0 {
            self.dies_in.store(left - 1, Ordering::SeqCst);
        }
        let lost = self.lost.load(Ordering::SeqCst);
        let mut chance = self.world.chance();
        if left == 1 {
            self.cut();
        } else if lost > 0 {
            self.lost.store(lost - 1, Ordering::SeqCst);
            return Fate::NoAnswer { is_done: false };
        } else if self.world.has_faults && chance.random_ratio(1, 200) {
            // Sometimes for longer than writes are repeated.
            self.lost
                .store(chance.random_range(1..40), Ordering::SeqCst);
            return Fate::NoAnswer { is_done: false };
        } else if !self.world.has_faults || !chance.random_ratio(1, 40) {
            return Fate::Done;
        } else if chance.random_ratio(1, 3) {
            return Fate::Repeated;
        }
        Fate::NoAnswer {
            is_done: chance.random(),
        }
    }
}

fn no_answer(kind: StoreErrorKind) -> BucketError {
    BucketError::Store {
        action: "reach",
        address: "memory://".to_owned(),
        kind,
        hint: None,
        source: "no answer".into(),
    }
}

macro_rules! pass_on {
    ($type:ty, $request:ident) => {
        impl Bucket for $type {
            fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
                self.$request(|bucket| bucket.get_versioned(key))
            }

            fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
                self.$request(|bucket| bucket.put(key, content))
            }

            fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
                self.$request(|bucket| bucket.put_if_absent(key, content))
            }

            fn replace(
                &self,
                key: &str,
                content: &[u8],
                expected: Option<&Version>,
            ) -> Result<bool, BucketError> {
                self.$request(|bucket| bucket.replace(key, content, expected))
            }

            fn delete(&self, key: &str) -> Result<bool, BucketError> {
                self.$request(|bucket| bucket.delete(key))
            }

            fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
                self.$request(|bucket| bucket.list(folder))
            }

            fn address(&self, key: &str) -> String {
                format!("memory://{key}")
            }

            fn pause(&self, _: Duration) {}
        }
    };
}

impl Direct {
    fn request<T>(
        &self,
        act: impl FnOnce(&dyn Bucket) -> Result<T, BucketError>,
    ) -> Result<T, BucketError> {
        act(&self.0.bucket)
    }
}

pass_on!(Link, request);
pass_on!(Direct, request);
