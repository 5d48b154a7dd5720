//! The trait of all backends.

use std::collections::BTreeMap;

use plumb_project::{ProjectName, StackReference};
use plumb_state::file::{Checkpoint, Deployment, RootState};
use plumb_state::{CiphertextCache, EncryptedSnapshot, SecretCodec, SecretsError, Snapshot};

use crate::encryption::StackKey;
use crate::error::BackendError;
use crate::history::{Page, Past, UpdateRecord};
use crate::lease::{CancelProgress, CancelRequest};
use crate::recovery::Note;
use crate::summary::{StackFilter, StackSummary};
use crate::update::Update;
use crate::url::masked;

/// State of a stack that was read without taking the stack.
#[derive(Debug)]
pub enum Loaded {
    /// The state file.
    Checkpoint(Box<Checkpoint>),
    /// The state file, with the journal of a running or interrupted update folded in.
    Folded(Box<EncryptedSnapshot>),
}

impl Loaded {
    /// Snapshot with opaque secrets; `None` for a stack that was never updated.
    pub fn opaque(&self) -> Option<&Snapshot> {
        match self {
            Loaded::Checkpoint(checkpoint) => checkpoint.latest.as_ref().map(Deployment::opaque),
            Loaded::Folded(snapshot) => Some(snapshot.opaque()),
        }
    }

    /// Decrypted snapshot; empty for a stack that was never updated.
    pub fn decrypt(
        &self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Snapshot, SecretsError> {
        match self {
            Loaded::Checkpoint(checkpoint) => match &checkpoint.latest {
                Some(latest) => latest.decrypt(codec, cache),
                None => Ok(Snapshot::default()),
            },
            Loaded::Folded(snapshot) => snapshot.decrypt(codec, cache),
        }
    }

    /// Snapshot in the writable form; `codec` is called only for plaintext secrets.
    pub fn into_encrypted(
        self,
        codec: &dyn SecretCodec,
    ) -> Result<EncryptedSnapshot, SecretsError> {
        match self {
            Loaded::Checkpoint(checkpoint) => match checkpoint.latest {
                Some(latest) => latest.into_encrypted(codec),
                None => Ok(EncryptedSnapshot::default()),
            },
            Loaded::Folded(snapshot) => Ok(*snapshot),
        }
    }
}

/// The root stack resource, which has the outputs, as it was read.
#[derive(Debug)]
pub enum LoadedRoot {
    /// The root stack resource alone.
    Alone(Box<RootState>),
    /// The whole state, because it had to be read.
    Among(Loaded),
}

impl LoadedRoot {
    /// Snapshot with the root stack resource and opaque secrets; `None` for a stack that was never updated.
    pub fn opaque(&self) -> Option<&Snapshot> {
        match self {
            LoadedRoot::Alone(root) => Some(root.opaque()),
            LoadedRoot::Among(loaded) => loaded.opaque(),
        }
    }

    /// Decrypted snapshot with the root stack resource.
    pub fn decrypt(
        &self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Snapshot, SecretsError> {
        match self {
            LoadedRoot::Alone(root) => root.decrypt(codec, cache),
            LoadedRoot::Among(loaded) => loaded.decrypt(codec, cache),
        }
    }
}

/// Result of a cancellation.
#[derive(Debug, Default)]
pub struct Cancelled {
    /// Removed locks, as text for the user.
    pub locks: Vec<String>,
    /// Locks set by hand, which were kept, as text for the user.
    pub kept: Vec<String>,
    /// Notes of the recovery: journals that were replayed or set aside.
    pub notes: Vec<Note>,
}

/// Options for the removal of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemoveOptions {
    /// Remove the stack even if it has resources.
    pub force: bool,
    /// Remove its backups too.
    pub remove_backups: bool,
}

/// Rewrites a snapshot for another stack name.
pub type Rewrite<'r> =
    &'r mut dyn FnMut(
        EncryptedSnapshot,
    ) -> Result<EncryptedSnapshot, Box<dyn std::error::Error + Send + Sync>>;

/// A store of stacks. Calls block, so they must not run on async threads.
pub trait Backend: Send + Sync {
    /// Displayed name: the machine's name for file stores.
    fn name(&self) -> &str;

    /// Address under which logins and selections are stored. May contain a password.
    fn url(&self) -> &str;

    /// Address without user name and password, for display.
    fn shown_url(&self) -> String {
        masked(self.url())
    }

    /// Parses a stack reference; `current` is the project of the current directory.
    fn parse_stack(
        &self,
        text: &str,
        current: Option<&ProjectName>,
    ) -> Result<StackReference, BackendError>;

    /// Whether the stack exists.
    fn stack_exists(&self, stack: &StackReference) -> Result<bool, BackendError>;

    /// Stacks, sorted by name.
    fn list_stacks(&self, filter: &StackFilter) -> Result<Vec<StackSummary>, BackendError>;

    /// Names of the stacks, sorted. Cheaper than [`Backend::list_stacks`], which has to read state files.
    fn stack_names(&self, filter: &StackFilter) -> Result<Vec<StackReference>, BackendError> {
        let stacks = self.list_stacks(filter)?;
        Ok(stacks.into_iter().map(|summary| summary.stack).collect())
    }

    /// Creates a stack, with the state `initial` if given.
    fn create_stack(
        &self,
        stack: &StackReference,
        initial: Option<&EncryptedSnapshot>,
    ) -> Result<(), BackendError>;

    /// Removes a stack. Unless its backups are removed too, [`Backend::restore_stack`] can undo that for a limited
    /// time.
    fn remove_stack(
        &self,
        stack: &StackReference,
        options: RemoveOptions,
    ) -> Result<(), BackendError>;

    /// Restores the most recently removed stack of this name, with its history and tags. Returns the time of removal.
    fn restore_stack(&self, stack: &StackReference) -> Result<String, BackendError> {
        Err(BackendError::NotRemoved {
            stack: stack.qualified(),
        })
    }

    /// Removes the states of all but the newest `kept` updates from the history, and returns their number. The records
    /// stay.
    fn prune_history(&self, stack: &StackReference, kept: usize) -> Result<usize, BackendError> {
        let _ = (stack, kept);
        Ok(0)
    }

    /// Renames a stack; `rewrite` changes the URNs in its state.
    fn rename_stack(
        &self,
        from: &StackReference,
        to: &StackReference,
        rewrite: Rewrite<'_>,
    ) -> Result<Vec<Note>, BackendError>;

    /// Key that the whole state of the stack is encrypted with; `None` if only its secrets are encrypted.
    fn stack_key(&self, stack: &StackReference) -> Result<Option<StackKey>, BackendError> {
        let _ = stack;
        Ok(None)
    }

    /// Encrypts the state of the stack with this key, with its history, backups and removed copies; with `None`,
    /// decrypts them. If interrupted, the next call does the rest.
    ///
    /// For a stack that does not exist, sets the key for everything that this backend writes for it.
    fn set_stack_key(
        &self,
        stack: &StackReference,
        key: Option<StackKey>,
    ) -> Result<(), BackendError> {
        let _ = stack;
        match key {
            Some(_) => Err(BackendError::NoEncryption),
            None => Ok(()),
        }
    }

    /// Reads the state without taking the stack.
    fn load(&self, stack: &StackReference) -> Result<Loaded, BackendError>;

    /// Reads the root stack resource without taking the stack.
    fn load_root(&self, stack: &StackReference) -> Result<LoadedRoot, BackendError> {
        self.load(stack).map(LoadedRoot::Among)
    }

    /// Takes a stack for an operation that changes it; `id` identifies the update and must be new.
    fn begin_update(&self, stack: &StackReference, id: &str) -> Result<Update, BackendError>;

    /// Locks a stack by hand until [`Backend::unlock`]. Updates and edits then fail with `reason`. Returns the notes of
    /// the preceding recovery.
    fn lock(&self, stack: &StackReference, reason: Option<&str>)
    -> Result<Vec<Note>, BackendError>;

    /// Removes all locks set by hand, by any user, and returns them as text for the user.
    fn unlock(&self, stack: &StackReference) -> Result<Vec<String>, BackendError>;

    /// Terminates the running update of a stack: fences its owner, folds its journal into the state, and removes its
    /// lock. Locks set by hand stay.
    fn cancel(&self, stack: &StackReference) -> Result<Cancelled, BackendError>;

    /// Requests the owner of a stack to end its update gracefully: to finish the operations in progress and to start no
    /// others. `None` if there is no owner, the owner has died, or its program does not support requests.
    fn request_cancel(
        &self,
        stack: &StackReference,
    ) -> Result<Option<CancelRequest>, BackendError> {
        let _ = stack;
        Ok(None)
    }

    /// Progress of such a request.
    fn cancel_progress(&self, request: &mut CancelRequest) -> Result<CancelProgress, BackendError> {
        let _ = request;
        Ok(CancelProgress::Silent)
    }

    /// Locks of a stack, as text for the user.
    fn locks(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        let _ = stack;
        Ok(Vec::new())
    }

    /// History, newest update first.
    fn history(
        &self,
        stack: &StackReference,
        page: Option<Page>,
    ) -> Result<Vec<UpdateRecord>, BackendError>;

    /// The update with this number, with the state after it; `None` if there is no such update, or the backend keeps no
    /// states.
    fn past(&self, stack: &StackReference, version: u64) -> Result<Option<Past>, BackendError> {
        let _ = (stack, version);
        Ok(None)
    }

    /// Names of the objects in a stack's history, sorted, oldest first. They depend neither on the store nor on the
    /// name of the stack.
    fn history_objects(&self, stack: &StackReference) -> Result<Vec<String>, BackendError>;

    /// Content of a history object; `None` if the object does not exist.
    fn history_object(
        &self,
        stack: &StackReference,
        name: &str,
    ) -> Result<Option<Vec<u8>>, BackendError>;

    /// Adds a history object that was read from another stack. The stack itself need not exist yet.
    fn put_history_object(
        &self,
        stack: &StackReference,
        name: &str,
        content: &[u8],
    ) -> Result<(), BackendError>;

    /// Tags of a stack.
    fn tags(&self, stack: &StackReference) -> Result<BTreeMap<String, String>, BackendError>;

    /// Replaces the tags of a stack.
    fn set_tags(
        &self,
        stack: &StackReference,
        tags: &BTreeMap<String, String>,
    ) -> Result<(), BackendError>;

    /// URL of a page that shows the stack's state, if there is one.
    fn permalink(&self, stack: &StackReference) -> Result<Option<String>, BackendError>;
}
