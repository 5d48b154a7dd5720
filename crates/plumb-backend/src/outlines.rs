//! Cache of what listings show of state files, so that a listing of a remote store reads only the files that have
//! changed since the last one.
//!
//! Listings of objects say by a [stamp](Entry::stamp) whether a file has changed, also if another program has written
//! it. The cache is an object of the store. A listing that cannot write it works without it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bucket::{Bucket, Entry};
use crate::summary::Outline;

const KEY: &str = ".pulumi/outlines.json";

/// Version of the format. Caches in others are replaced.
const VERSION: u32 = 1;

/// Outlines of state files by their keys.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Outlines {
    version: u32,
    states: BTreeMap<String, Stamped>,
}

#[derive(Serialize, Deserialize)]
struct Stamped {
    stamp: String,
    #[serde(flatten)]
    outline: Outline,
}

impl Outlines {
    /// The cache of a store; empty if there is none that can be read.
    pub(crate) fn read(bucket: &dyn Bucket) -> Self {
        let content = bucket.get(KEY).ok().flatten().unwrap_or_default();
        let read: Outlines = serde_json::from_slice(&content).unwrap_or_default();
        if read.version == VERSION {
            read
        } else {
            Outlines::default()
        }
    }

    /// Outline of a state file, if the file has not changed.
    pub(crate) fn get(&self, entry: &Entry) -> Option<&Outline> {
        let known = self.states.get(&entry.key)?;
        (known.stamp == entry.stamp()).then_some(&known.outline)
    }

    pub(crate) fn set(&mut self, entry: &Entry, outline: Outline) {
        let stamp = entry.stamp();
        self.states
            .insert(entry.key.clone(), Stamped { stamp, outline });
    }

    /// Removes all state files for which `exists` is false.
    pub(crate) fn retain(&mut self, exists: impl Fn(&str) -> bool) {
        self.states.retain(|key, _| exists(key));
    }

    /// Writes the cache. Readers without the permission to write cannot; that is no error.
    pub(crate) fn write(mut self, bucket: &dyn Bucket) {
        self.version = VERSION;
        let content = serde_json::to_vec(&self).unwrap_or_default();
        if let Err(error) = bucket.put_relaxed(KEY, &content) {
            tracing::debug!(%error, "the outlines of state files are not kept");
        }
    }
}
