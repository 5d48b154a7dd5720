//! State files: finding the current one, reading, replacing (`state.md` 3.4).

use std::thread;
use std::time::Duration;

use plumb_project::StackReference;
use plumb_state::EncryptedSnapshot;
use plumb_state::file::{Checkpoint, ParseError, RootState, parse_checkpoint, parse_root};
use plumb_state::journal::disk::CheckpointDigest;

use crate::bucket::Entry;
use crate::compression::Compression;
use crate::error::{BackendError, BucketError};
use crate::keys;
use crate::store::{Store, unix_nanos};

/// A state file as it was found.
pub(crate) struct StateFile {
    pub(crate) key: String,
    /// Unpacked.
    pub(crate) content: Vec<u8>,
}

impl StateFile {
    pub(crate) fn digest(&self) -> CheckpointDigest {
        CheckpointDigest::of(&self.content)
    }

    pub(crate) fn parse(&self) -> Result<Checkpoint, BackendError> {
        parse_checkpoint(&self.content).map_err(self.malformed())
    }

    /// The stack's own resource alone.
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

impl Store {
    /// The key of the current state file: of the variants that are there, the one written last.
    pub(crate) fn state_key(&self, stack: &StackReference) -> Result<Option<String>, BackendError> {
        let base = keys::state(stack);
        let mut found = Vec::new();
        for compression in Compression::ALL {
            let key = format!("{base}{}", compression.extension());
            found.extend(self.bucket.find(&key)?);
        }
        Ok(latest(found).map(|entry| entry.key))
    }

    /// Reads the current state file.
    pub(crate) fn state_file(&self, stack: &StackReference) -> Result<StateFile, BackendError> {
        let missing = || BackendError::NoStack {
            stack: stack.qualified(),
        };
        let key = self.state_key(stack)?.ok_or_else(missing)?;
        let content = self.read(&key)?.ok_or_else(missing)?;
        Ok(StateFile { key, content })
    }

    /// Replaces the state file; the former one becomes `.bak`.
    pub(crate) fn save_text(&self, stack: &StackReference, text: &str) -> Result<(), BackendError> {
        let compression = self.options.compression;
        let base = keys::state(stack);
        let target = format!("{base}{}", compression.extension());
        let packed = compression
            .pack(text.as_bytes())
            .map_err(|source| BackendError::Unpack {
                key: target.clone(),
                source,
            })?;
        self.back_up(&target);
        let former = self.state_key(stack)?.filter(|key| *key != target);
        if let Some(former) = &former {
            self.back_up(former);
        }
        self.put_with_retries(&target, &packed)?;
        for other in Compression::ALL
            .iter()
            .map(|c| format!("{base}{}", c.extension()))
            .filter(|key| *key != target)
        {
            self.bucket.delete(&other)?;
        }
        if self.options.retain_checkpoints {
            self.bucket
                .put(&format!("{target}.{}", unix_nanos()), &packed)?;
        }
        Ok(())
    }

    /// Replaces the state file by this snapshot.
    pub(crate) fn save_snapshot(
        &self,
        stack: &StackReference,
        snapshot: &EncryptedSnapshot,
    ) -> Result<(), BackendError> {
        self.save_text(stack, &snapshot.checkpoint(&stack.qualified()))
    }

    /// Copies an object to its `.bak`. A failure is no reason not to go on.
    pub(crate) fn back_up(&self, key: &str) {
        let copied = self.bucket.get(key).and_then(|content| match content {
            Some(content) => self.bucket.put_relaxed(&format!("{key}.bak"), &content),
            None => Ok(()),
        });
        if let Err(error) = copied {
            tracing::warn!(%key, %error, "could not make a backup copy");
        }
    }

    fn put_with_retries(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        let mut wait = Duration::from_secs(1);
        let mut left = self.options.write_retries;
        loop {
            match self.bucket.put(key, content) {
                Err(BucketError::Io { source, .. }) if left > 0 && is_transient(&source) => {
                    tracing::warn!(%key, error = %source, "could not write the state file, trying again");
                    thread::sleep(wait);
                    wait = wait.mul_f64(1.2).min(Duration::from_secs(30));
                    left -= 1;
                }
                result => return result,
            }
        }
    }
}

/// Of variants of one file, listed in a fixed order, the one written last.
pub(crate) fn latest(variants: impl IntoIterator<Item = Entry>) -> Option<Entry> {
    variants.into_iter().max_by_key(|entry| entry.modified)
}

/// Whether waiting may help.
fn is_transient(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    !matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::NotFound | ErrorKind::ReadOnlyFilesystem
    )
}
