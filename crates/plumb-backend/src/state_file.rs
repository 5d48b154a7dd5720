//! State files: selection of the current variant, reading, replacement (`state.md` 3.4).

use std::time::{Duration, Instant};

use plumb_project::StackReference;
use plumb_state::EncryptedSnapshot;
use plumb_state::file::{
    Checkpoint, ParseError, RootState, parse_checkpoint, parse_root, parse_root_at_start,
};
use plumb_state::journal::disk::CheckpointDigest;

use crate::bucket::{Entry, Version};
use crate::compression::Compression;
use crate::error::{BackendError, BucketError, Fenced};
use crate::keys;
use crate::segments::PATIENCE;
use crate::store::{Store, unix_nanos};

/// Length of the part of a state file that is read first to find the root resource. Outputs of stacks are seldom larger.
const START: usize = 128 * 1024;

/// A state file that was read.
pub(crate) struct StateFile {
    pub(crate) key: String,
    /// Content, decompressed.
    pub(crate) content: Vec<u8>,
}

/// The state file that a new one replaces.
#[derive(Debug, Clone)]
pub(crate) struct Former {
    key: String,
    version: Version,
}

impl StateFile {
    pub(crate) fn digest(&self) -> CheckpointDigest {
        CheckpointDigest::of(&self.content)
    }

    pub(crate) fn parse(&self) -> Result<Checkpoint, BackendError> {
        parse_checkpoint(&self.content).map_err(self.malformed())
    }

    /// Parses only the root stack resource.
    pub(crate) fn parse_root(&self) -> Result<RootState, BackendError> {
        parse_root(&self.content).map_err(self.malformed())
    }

    fn malformed(&self) -> impl FnOnce(ParseError) -> BackendError {
        |source| BackendError::Checkpoint {
            key: self.key.clone(),
            source: Box::new(source),
        }
    }
}

pub(crate) fn no_stack(stack: &StackReference) -> BackendError {
    BackendError::NoStack {
        stack: stack.qualified(),
    }
}

impl Store {
    /// Key of the current state file: the variant that was written last.
    pub(crate) fn state_key(&self, stack: &StackReference) -> Result<Option<String>, BackendError> {
        let base = keys::state(stack);
        let variants = Compression::ALL.map(|it| format!("{base}{}", it.extension()));
        Ok(latest(self.bucket.find_all(&variants)?).map(|entry| entry.key))
    }

    /// Key of the state file that is written.
    fn state_target(&self, stack: &StackReference) -> String {
        format!(
            "{}{}",
            keys::state(stack),
            self.options.compression.extension()
        )
    }

    /// An error if there is no such stack.
    pub(crate) fn expect_stack(&self, stack: &StackReference) -> Result<(), BackendError> {
        self.state_key(stack)?.ok_or_else(|| no_stack(stack))?;
        Ok(())
    }

    /// Reads the current state file.
    pub(crate) fn state_file(&self, stack: &StackReference) -> Result<StateFile, BackendError> {
        self.state_file_at(stack, self.state_key(stack)?)
    }

    /// Reads the state file with this key; an error if there is none.
    pub(crate) fn state_file_at(
        &self,
        stack: &StackReference,
        key: Option<String>,
    ) -> Result<StateFile, BackendError> {
        let missing = || no_stack(stack);
        let key = key.ok_or_else(missing)?;
        let packed = self.bucket.get(&key)?.ok_or_else(missing)?;
        let content = self.unpack(&key, packed)?;
        Ok(StateFile { key, content })
    }

    /// Reads the current state file to replace it.
    pub(crate) fn state_to_replace(
        &self,
        stack: &StackReference,
    ) -> Result<(StateFile, Former), BackendError> {
        if self.bucket.files().is_some() {
            // `save_text` compares no versions of files, so do not compute them: each is a digest of the content.
            let state = self.state_file(stack)?;
            let former = Former {
                key: state.key.clone(),
                version: Version::default(),
            };
            return Ok((state, former));
        }
        let missing = || no_stack(stack);
        let likely = self.state_target(stack);
        let (key, found) = self.join(
            || self.state_key(stack),
            || self.bucket.get_versioned(&likely),
        );
        let key = key?.ok_or_else(missing)?;
        let found = if key == likely {
            found?
        } else {
            self.bucket.get_versioned(&key)?
        };
        let found = found.ok_or_else(missing)?;
        let former = Former {
            key: key.clone(),
            version: found.version,
        };
        let content = self.unpack(&key, found.content)?;
        Ok((StateFile { key, content }, former))
    }

    /// The root stack resource, if it is in the first part of the current state file.
    pub(crate) fn root_at_start(
        &self,
        stack: &StackReference,
    ) -> Result<Option<RootState>, BackendError> {
        let Some(key) = self.state_key(stack)? else {
            return Ok(None);
        };
        if key != keys::state(stack) {
            // Compressed.
            return Ok(None);
        }
        let start = self.bucket.get_start(&key, START)?;
        Ok(start.and_then(|start| parse_root_at_start(&start)))
    }

    /// Replaces the state file; the former one becomes `.bak`. Recovery gives the former file, like
    /// [`Store::replace_state`].
    pub(crate) fn save_text(
        &self,
        stack: &StackReference,
        text: &str,
        former: Option<&Former>,
    ) -> Result<(), BackendError> {
        let present = match former {
            Some(former) => Some(former.key.clone()),
            None => self.state_key(stack)?,
        };
        self.back_up_state(stack, present.as_deref());
        self.write_state(stack, text.as_bytes(), present, former)
    }

    /// Copies the state files that will be replaced to their `.bak`. Failures are ignored.
    pub(crate) fn back_up_former(&self, stack: &StackReference, former: &Former) {
        self.back_up_state(stack, Some(&former.key));
    }

    fn back_up_state(&self, stack: &StackReference, present: Option<&str>) {
        let target = self.state_target(stack);
        self.back_up(&target);
        if let Some(other) = present.filter(|key| *key != target) {
            self.back_up(other);
        }
    }

    /// State file with this text, as it will be written.
    pub(crate) fn new_state(&self, stack: &StackReference, text: String) -> StateFile {
        StateFile {
            key: self.state_target(stack),
            content: text.into_bytes(),
        }
    }

    /// Replaces the state file by a [new](Store::new_state) one. If the store has no files, it is written only if the
    /// former one is unchanged: an owner that lost the stack cannot overwrite newer state.
    pub(crate) fn replace_state(
        &self,
        stack: &StackReference,
        state: &StateFile,
        former: &Former,
    ) -> Result<(), BackendError> {
        let present = Some(former.key.clone());
        self.write_state(stack, &state.content, present, Some(former))
    }

    fn write_state(
        &self,
        stack: &StackReference,
        content: &[u8],
        present: Option<String>,
        former: Option<&Former>,
    ) -> Result<(), BackendError> {
        let compression = self.options.compression;
        let base = keys::state(stack);
        let target = self.state_target(stack);
        let packed = compression
            .pack(content)
            .map_err(|source| BackendError::Unpack {
                key: target.clone(),
                source,
            })?;
        match former {
            Some(former) if self.bucket.files().is_none() => {
                self.replace_former(former, &target, &packed)?;
            }
            _ => self.put_with_retries(&target, &packed)?,
        }
        let other = present.filter(|key| *key != target);
        if self.bucket.files().is_some() || other.is_some() {
            let others = Compression::ALL
                .iter()
                .map(|c| format!("{base}{}", c.extension()))
                .filter(|key| *key != target);
            self.bucket.delete_all(&others.collect::<Vec<_>>())?;
        }
        if self.options.retain_checkpoints {
            self.bucket
                .put(&format!("{target}.{}", unix_nanos()), &packed)?;
        }
        Ok(())
    }

    /// Writes `target` if the former file is unchanged. If the compression changes, the former file has another key,
    /// and `target` is written if it does not change from now on.
    fn replace_former(
        &self,
        former: &Former,
        target: &str,
        content: &[u8],
    ) -> Result<(), BackendError> {
        let lost = || {
            BackendError::from(Fenced {
                reason: "the state file was changed after it had been read".to_owned(),
            })
        };
        let expected = if former.key == target {
            Some(former.version.clone())
        } else {
            let present = self.bucket.get_versioned(&former.key)?;
            if present.is_none_or(|present| present.version != former.version) {
                return Err(lost());
            }
            self.bucket.get_versioned(target)?.map(|it| it.version)
        };
        let mut is_ours = false;
        self.with_retries(target, || {
            // A failed attempt may have had its effect.
            is_ours = self.replace(target, content, expected.as_ref())?
                || self.bucket.get(target)?.as_deref() == Some(content);
            Ok(())
        })?;
        if is_ours { Ok(()) } else { Err(lost()) }
    }

    /// Replaces the state file by one with this snapshot.
    pub(crate) fn save_snapshot(
        &self,
        stack: &StackReference,
        snapshot: &EncryptedSnapshot,
    ) -> Result<(), BackendError> {
        self.save_text(stack, &snapshot.checkpoint(&stack.qualified()), None)
    }

    /// Copies an object to its `.bak`. Failures are ignored.
    pub(crate) fn back_up(&self, key: &str) {
        if let Err(error) = self.bucket.copy(key, &format!("{key}.bak")) {
            tracing::warn!(%key, error = %error.chain(), "could not make a backup copy");
        }
    }

    fn put_with_retries(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.with_retries(key, || self.bucket.put(key, content))
    }

    fn with_retries(
        &self,
        key: &str,
        mut write: impl FnMut() -> Result<(), BucketError>,
    ) -> Result<(), BucketError> {
        let began = Instant::now();
        let mut wait = Duration::from_secs(1);
        let mut left = self.options.write_retries;
        loop {
            match write() {
                Err(error) if error.is_transient() && left > 0 && began.elapsed() < PATIENCE => {
                    tracing::warn!(%key, error = %error.chain(), "could not write the state file, trying again");
                    self.bucket.pause(wait);
                    wait = wait.mul_f64(1.2).min(Duration::from_secs(30));
                    left -= 1;
                }
                result => return result,
            }
        }
    }
}

/// The variant that was written last, out of some in a fixed order.
pub(crate) fn latest(variants: impl IntoIterator<Item = Entry>) -> Option<Entry> {
    variants.into_iter().max_by_key(|entry| entry.modified)
}
