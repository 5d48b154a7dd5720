//! Summaries of stacks for listings, read without parsing whole state files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::thread;

use plumb_project::{ProjectName, StackName, StackReference};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::bucket::Entry;
use crate::error::BackendError;
use crate::keys::{self, StoreLayout};
use crate::outlines::Outlines;
use crate::state_file::latest;
use crate::store::Store;

/// Number of stacks from which on their outlines are kept in the store. Fewer are read as quickly.
const MANY: usize = 20;

/// A stack in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackSummary {
    /// The stack.
    pub stack: StackReference,
    /// Time of the last update (RFC 3339); `None` if there was none, or the file cannot be read.
    pub last_update: Option<String>,
    /// Number of resources; `None` if the file cannot be read.
    pub resource_count: Option<usize>,
}

/// Filter of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackFilter {
    /// Project of the stacks.
    pub project: Option<ProjectName>,
    /// Tag of the stacks, and its value if given.
    pub tag: Option<(String, Option<String>)>,
}

/// Facts about a state file for listings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outline {
    /// Time of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    /// Number of resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resources: Option<usize>,
}

impl Outline {
    /// Outline of a state file; empty if it cannot be read.
    pub(crate) fn of(content: &[u8]) -> Self {
        let Ok(file) = serde_json::from_slice::<StateOutline>(content) else {
            return Outline::default();
        };
        let latest = file.checkpoint.and_then(|checkpoint| checkpoint.latest);
        let resources = latest.as_ref().and_then(|latest| latest.resources.as_ref());
        Outline {
            resources: Some(resources.map_or(0, Vec::len)),
            // Very old files lack these members.
            time: latest.and_then(|latest| latest.manifest.time),
        }
    }
}

#[derive(Deserialize)]
struct StateOutline {
    #[serde(default)]
    checkpoint: Option<CheckpointOutline>,
}

#[derive(Deserialize)]
struct CheckpointOutline {
    #[serde(default)]
    latest: Option<DeploymentOutline>,
}

#[derive(Deserialize)]
struct DeploymentOutline {
    #[serde(default)]
    manifest: ManifestOutline,
    #[serde(default)]
    resources: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize, Default)]
struct ManifestOutline {
    #[serde(default)]
    time: Option<String>,
}

impl Store {
    /// Stacks that match the filter, sorted by name, each with its state file. That is missing for state files in a form
    /// that can only be listed.
    pub(crate) fn stacks(
        &self,
        layout: StoreLayout,
        filter: &StackFilter,
    ) -> Result<BTreeMap<StackReference, Option<Entry>>, BackendError> {
        // Each project has a folder of its own, except in the legacy layout.
        let listed = match (layout, &filter.project) {
            (StoreLayout::Legacy, _) => self.bucket.list_direct(keys::STACKS)?,
            (StoreLayout::Project, Some(project)) => {
                let folder = format!("{}/{project}", keys::STACKS);
                self.bucket.list_direct(&folder)?
            }
            (StoreLayout::Project, None) => self.bucket.list(keys::STACKS)?,
        };
        let mut variants: BTreeMap<StackReference, Vec<Entry>> = BTreeMap::new();
        for entry in listed {
            let relative = entry.key.strip_prefix(keys::STACKS);
            let relative = relative.and_then(|rest| rest.strip_prefix('/'));
            let Some(stack) = relative.and_then(|relative| stack_of(relative, layout)) else {
                continue;
            };
            let is_state = keys::is_state(&entry.key, &stack);
            let of_stack = variants.entry(stack).or_default();
            of_stack.extend(is_state.then_some(entry));
        }
        let mut stacks = BTreeMap::new();
        for (stack, variants) in variants {
            if self.is_tagged(&stack, filter)? {
                stacks.insert(stack, latest(variants));
            }
        }
        Ok(stacks)
    }

    /// Whether a stack has the tag in the filter, if there is one.
    fn is_tagged(
        &self,
        stack: &StackReference,
        filter: &StackFilter,
    ) -> Result<bool, BackendError> {
        let Some((name, value)) = &filter.tag else {
            return Ok(true);
        };
        let found = self.tags(stack)?.remove(name);
        Ok(found.is_some_and(|found| value.as_ref().is_none_or(|value| *value == found)))
    }

    pub(crate) fn summaries(
        &self,
        layout: StoreLayout,
        filter: &StackFilter,
    ) -> Result<Vec<StackSummary>, BackendError> {
        let stacks = self.stacks(layout, filter)?;
        let is_cached = self.bucket.files().is_none() && stacks.len() >= MANY;
        let mut known = if is_cached {
            Outlines::read(self.bucket.as_ref())
        } else {
            Outlines::default()
        };
        let files = stacks.values().flatten();
        let changed: Vec<&Entry> = files.filter(|file| known.get(file).is_none()).collect();
        let has_changed = !changed.is_empty();
        for (file, outline) in self.outlines(changed) {
            known.set(file, outline);
        }
        let summarize = |(stack, file): (&StackReference, &Option<Entry>)| {
            let outline = file.as_ref().and_then(|file| known.get(file));
            let Outline { time, resources } = outline.cloned().unwrap_or_default();
            StackSummary {
                stack: stack.clone(),
                last_update: time,
                resource_count: resources,
            }
        };
        let summaries = stacks.iter().map(summarize).collect();
        if is_cached && has_changed {
            if *filter == StackFilter::default() {
                let keys: BTreeSet<&str> = stacks.values().flatten().map(|it| &*it.key).collect();
                known.retain(|key| keys.contains(key));
            }
            known.write(self.bucket.as_ref());
        }
        Ok(summaries)
    }

    /// Reads several state files concurrently. Those that cannot be read are left out.
    fn outlines<'e>(&self, files: Vec<&'e Entry>) -> Vec<(&'e Entry, Outline)> {
        let workers = self.options.parallel.clamp(1, 64).min(files.len());
        let queue = Mutex::new(VecDeque::from(files));
        let done = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let next = queue
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .pop_front();
                        let Some(file) = next else { return };
                        if let Ok(Some(outline)) = self.outline(&file.key) {
                            done.lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .push((file, outline));
                        }
                    }
                });
            }
        });
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Outline of a state file. That of an encrypted one is read without its key.
    fn outline(&self, key: &str) -> Result<Option<Outline>, BackendError> {
        match &self.encryption {
            Some(bucket) => Ok(bucket.outline(key)?),
            None => Ok(self.read(key)?.as_deref().map(Outline::of)),
        }
    }
}

/// Stack whose state file has this key relative to the folder of stacks.
fn stack_of(relative: &str, layout: StoreLayout) -> Option<StackReference> {
    let parts: Vec<&str> = relative.split('/').collect();
    let (project, name) = match (layout, parts.as_slice()) {
        (StoreLayout::Project, [project, name]) => (Some(ProjectName::parse(project).ok()?), *name),
        (StoreLayout::Legacy, [name]) => (None, *name),
        _ => return None,
    };
    let stack = StackName::parse(keys::state_stem(name)?).ok()?;
    Some(StackReference { project, stack })
}
