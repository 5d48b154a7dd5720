//! History of updates, and backups (`state.md` 3.2, 3.6).

use std::collections::BTreeMap;

use plumb_project::StackReference;
use plumb_state::file::Deployment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::compression::Compression;
use crate::error::BackendError;
use crate::keys;
use crate::state_file::{StateFile, no_stack};
use crate::store::{Store, json_bytes, unix_nanos};
use crate::versions::Kept;

/// Suffix that distinguishes the names of records from those of states.
const RECORD: &str = ".history.json";

/// Record of an update.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateRecord {
    /// `update`, `refresh`, `destroy`, `import`, …
    pub kind: String,
    /// Start, in Unix seconds.
    pub start_time: i64,
    /// Message of the user.
    #[serde(default)]
    pub message: String,
    /// Facts about the environment of the update.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Settings of the update, with secrets encrypted.
    #[serde(default)]
    pub config: Map<String, Json>,
    /// Number of the update, from 1 for the oldest in the history. Files contain zero.
    #[serde(default)]
    pub version: u64,
    /// `succeeded` or `failed`.
    pub result: String,
    /// End, in Unix seconds.
    pub end_time: i64,
    /// Number of steps by kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_changes: Option<BTreeMap<String, u64>>,
}

/// An update with the state after it.
#[derive(Debug)]
pub struct Past {
    /// Record of the update.
    pub record: UpdateRecord,
    /// The state; `None` if there was none, or it is no longer kept.
    pub state: Option<Deployment>,
}

/// A page of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Records per page.
    pub size: usize,
    /// Number of the page, from 1.
    pub number: usize,
}

/// Key of the history object with this ending after the name of the stack.
fn ending_key(stack: &StackReference, ending: &str) -> String {
    format!("{}/{}{ending}", keys::history(stack), stack.stack)
}

impl Store {
    /// Content of the history object with this ending.
    pub(crate) fn history_object(
        &self,
        stack: &StackReference,
        ending: &str,
    ) -> Result<Option<Vec<u8>>, BackendError> {
        Ok(self.bucket.get(&ending_key(stack, ending))?)
    }

    /// Writes a history object that was read from another store.
    pub(crate) fn put_history_object(
        &self,
        stack: &StackReference,
        ending: &str,
        content: &[u8],
    ) -> Result<(), BackendError> {
        Ok(self.bucket.put(&ending_key(stack, ending), content)?)
    }

    /// Records of the history, newest first. Unreadable records are skipped.
    pub(crate) fn history(
        &self,
        stack: &StackReference,
        page: Option<Page>,
    ) -> Result<Vec<UpdateRecord>, BackendError> {
        let names = self.record_keys(stack)?;
        let (skip, take) = match page {
            Some(Page { size, number }) if size > 0 => (size * number.saturating_sub(1), size),
            _ => (0, usize::MAX),
        };
        let mut records = Vec::new();
        for (at, key) in names.iter().enumerate().rev().skip(skip).take(take) {
            match self.record(key, at) {
                Ok(record) => records.extend(record),
                Err(error) => tracing::warn!(%key, %error, "a history record cannot be read"),
            }
        }
        Ok(records)
    }

    /// The update with this number, with the state after it.
    pub(crate) fn past(
        &self,
        stack: &StackReference,
        version: u64,
    ) -> Result<Option<Past>, BackendError> {
        let at = usize::try_from(version)
            .ok()
            .and_then(|it| it.checked_sub(1));
        let names = self.record_keys(stack)?;
        let Some((at, key)) = at.and_then(|at| Some((at, names.get(at)?))) else {
            return Ok(None);
        };
        let Some(record) = self.record(key, at)? else {
            return Ok(None);
        };
        let stem = key.split(RECORD).next().unwrap_or(key);
        let state = match self.kept_state(stack, stem)? {
            Some(content) => {
                let state = StateFile {
                    key: key.clone(),
                    content,
                };
                state.parse()?.latest
            }
            None => None,
        };
        Ok(Some(Past { record, state }))
    }

    /// Keys of all records, oldest first.
    fn record_keys(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        let mut names = self.history_keys(stack)?;
        names.retain(|key| key.contains(RECORD));
        names.sort();
        Ok(names)
    }

    fn record(&self, key: &str, at: usize) -> Result<Option<UpdateRecord>, BackendError> {
        let mut record: Option<UpdateRecord> = self.read_json(key)?;
        if let Some(record) = record.as_mut().filter(|record| record.version == 0) {
            record.version = at as u64 + 1;
        }
        Ok(record)
    }

    /// Adds a record and the state.
    pub(crate) fn add_history(
        &self,
        stack: &StackReference,
        state: &StateFile,
        kept: &Kept,
        record: &UpdateRecord,
    ) -> Result<(), BackendError> {
        let extension = self.options.compression.extension();
        let stem = format!("{}/{}-{}", keys::history(stack), stack.stack, unix_nanos());
        let record_key = format!("{stem}.history.json{extension}");
        let text = json_bytes(record);
        let packed = self.options.compression.pack(&text);
        let packed = packed.map_err(|source| BackendError::Unpack {
            key: record_key.clone(),
            source,
        })?;
        let (recorded, stored) = self.join(
            || self.bucket.put_relaxed(&record_key, &packed),
            || self.keep_state(stack, state, kept, &stem),
        );
        recorded?;
        stored
    }

    /// Copies the state file to the backups. Large states are copied, in compressed form, only as often as the history
    /// stores a full version.
    pub(crate) fn add_backup(
        &self,
        stack: &StackReference,
        state: &StateFile,
        kept: &Kept,
    ) -> Result<(), BackendError> {
        if self.options.disable_backups || matches!(kept, Kept::Delta(_)) {
            return Ok(());
        }
        if matches!(kept, Kept::Full(_)) {
            let name = format!("{}.{}.json.zst", stack.stack, unix_nanos());
            let key = format!("{}/{name}", keys::backups(stack));
            let packed = Compression::Zstd.pack(&state.content);
            let packed = packed.map_err(|source| BackendError::Unpack {
                key: key.clone(),
                source,
            })?;
            return Ok(self.bucket.put_relaxed(&key, &packed)?);
        }
        let extension = self.options.compression.extension();
        let name = format!("{}.{}.json{extension}", stack.stack, unix_nanos());
        let key = format!("{}/{name}", keys::backups(stack));
        self.copy_state(stack, state, &key)
    }

    pub(crate) fn copy_state(
        &self,
        stack: &StackReference,
        state: &StateFile,
        target: &str,
    ) -> Result<(), BackendError> {
        if self.bucket.copy(&state.key, target)? {
            Ok(())
        } else {
            Err(no_stack(stack))
        }
    }

    /// Endings of the names of a stack's history objects, after the name of the stack, sorted. Example:
    /// `-1730000000.history.json`.
    pub(crate) fn history_endings(
        &self,
        stack: &StackReference,
    ) -> Result<Vec<String>, BackendError> {
        let keys = self.history_keys(stack)?;
        let start = stack.stack.as_str().len();
        let mut endings: Vec<String> = keys
            .iter()
            .map(|key| keys::file_name(key)[start..].to_owned())
            .collect();
        endings.sort();
        Ok(endings)
    }

    /// Keys of a stack's history objects.
    pub(crate) fn history_keys(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        let prefix = format!("{}-", stack.stack);
        // The stack's name ends at the last dash: `a-b-1.history.json` belongs to `a-b`.
        let is_ours = |key: &str| {
            let name = keys::file_name(key);
            name.rfind('-').is_some_and(|dash| name[..=dash] == prefix)
        };
        let listed = self.bucket.list_direct(&keys::history(stack))?;
        Ok(listed
            .into_iter()
            .map(|entry| entry.key)
            .filter(|key| is_ours(key))
            .collect())
    }
}
