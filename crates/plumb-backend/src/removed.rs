//! Removed stacks, which can be restored for a limited time.
//!
//! `stack rm` first writes state, tags and history of the stack into one object,
//! `.pulumi/removed/<project>/<stack>/<time>.zst`. The object begins with a line of JSON ([`Head`]) that lists the
//! parts; the parts follow in that order. Objects older than [`KEPT_FOR`] are deleted by the next removal of a stack of
//! that name.

use std::time::Duration;

use plumb_project::StackReference;
use serde::{Deserialize, Serialize};

use crate::error::BackendError;
use crate::keys;
use crate::store::{Store, json_bytes, unix_nanos};
use crate::{Compression, compression};

/// Time for which a removed stack can be restored.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    /// Time of removal.
    removed: String,
    parts: Vec<Part>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Part {
    role: Role,
    /// Name of a history object, without the name of the stack.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    State,
    Tags,
    History,
}

/// A removed stack.
#[derive(Debug)]
pub(crate) struct Removed {
    /// Key of the object.
    key: String,
    /// Time of removal.
    pub(crate) time: String,
    parts: Vec<(Part, Vec<u8>)>,
}

impl Removed {
    fn bytes(removed: String, parts: Vec<(Part, Vec<u8>)>) -> Vec<u8> {
        let (parts, contents): (Vec<Part>, Vec<Vec<u8>>) = parts.into_iter().unzip();
        let head = Head {
            format: FORMAT,
            removed,
            parts,
        };
        let mut bytes = json_bytes(&head);
        bytes.push(b'\n');
        bytes.extend(contents.concat());
        bytes
    }

    fn parse(key: String, bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head: Head = serde_json::from_slice(&bytes[..end]).ok()?;
        if head.format != FORMAT {
            return None;
        }
        let mut rest = &bytes[end + 1..];
        let mut parts = Vec::new();
        for part in head.parts {
            let (content, after) = rest.split_at_checked(part.length)?;
            parts.push((part, content.to_vec()));
            rest = after;
        }
        let removed = Removed {
            key,
            time: head.removed,
            parts,
        };
        removed.state().is_some().then_some(removed)
    }

    /// Key of the object with its parts.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Text of the state; `None` if there was none.
    pub(crate) fn state(&self) -> Option<&str> {
        let state = self.parts.iter().find(|(part, _)| part.role == Role::State);
        std::str::from_utf8(&state?.1).ok()
    }
}

impl Store {
    /// Saves a stack that is about to be removed.
    pub(crate) fn keep_removed(&self, stack: &StackReference) -> Result<(), BackendError> {
        let part = |role, name: String, content: Vec<u8>| {
            let length = content.len();
            (Part { role, name, length }, content)
        };
        let mut parts = vec![part(
            Role::State,
            String::new(),
            self.state_file(stack)?.content,
        )];
        if let Some(tags) = self.read(&keys::tags(stack))? {
            parts.push(part(Role::Tags, String::new(), tags));
        }
        let names = self.history_endings(stack)?;
        let objects: Vec<String> = names
            .iter()
            .map(|name| format!("{}/{}{name}", keys::history(stack), stack.stack))
            .collect();
        for (name, content) in names.into_iter().zip(self.bucket.get_all(&objects)?) {
            parts.extend(content.map(|content| part(Role::History, name, content)));
        }
        let bytes = Removed::bytes(jiff::Timestamp::now().to_string(), parts);
        let key = format!("{}/{}.zst", keys::removed(stack), unix_nanos());
        let packed = Compression::Zstd.pack(&bytes);
        let packed = packed.map_err(|source| BackendError::Unpack {
            key: key.clone(),
            source,
        })?;
        self.bucket.put(&key, &packed)?;
        self.forget_old(stack, &key)
    }

    fn forget_old(&self, stack: &StackReference, newest: &str) -> Result<(), BackendError> {
        let listed = self.bucket.list_direct(&keys::removed(stack))?;
        let now = listed.iter().find(|entry| entry.key == newest);
        let Some(now) = now.map(|entry| entry.modified) else {
            return Ok(());
        };
        let is_old = |entry: &&crate::Entry| {
            let age = now.duration_since(entry.modified).unwrap_or_default();
            age > KEPT_FOR
        };
        let old: Vec<String> = listed
            .iter()
            .filter(is_old)
            .map(|it| it.key.clone())
            .collect();
        Ok(self.bucket.delete_all(&old)?)
    }

    /// The most recently removed stack of this name.
    pub(crate) fn last_removed(
        &self,
        stack: &StackReference,
    ) -> Result<Option<Removed>, BackendError> {
        let listed = self.bucket.list_direct(&keys::removed(stack))?;
        let Some(entry) = listed.into_iter().max_by(|a, b| a.key.cmp(&b.key)) else {
            return Ok(None);
        };
        let Some(packed) = self.bucket.get(&entry.key)? else {
            return Ok(None);
        };
        let bytes = compression::unpack(packed).map_err(|source| BackendError::Unpack {
            key: entry.key.clone(),
            source,
        })?;
        Ok(Removed::parse(entry.key, &bytes))
    }

    /// Writes a removed stack back, the state last. The caller holds its lock.
    pub(crate) fn restore(
        &self,
        stack: &StackReference,
        removed: &Removed,
    ) -> Result<(), BackendError> {
        for (part, content) in &removed.parts {
            match part.role {
                Role::History => self.put_history_object(stack, &part.name, content)?,
                Role::Tags => self.bucket.put(&keys::tags(stack), content)?,
                Role::State => {}
            }
        }
        if let Some(state) = removed.state() {
            self.save_text(stack, state, None)?;
        }
        self.bucket.delete(&removed.key)?;
        Ok(())
    }
}
