//! What every backend can do.

use std::collections::BTreeMap;

use plumb_project::{ProjectName, StackReference};
use plumb_state::file::{Checkpoint, Deployment, RootState};
use plumb_state::{CiphertextCache, EncryptedSnapshot, SecretCodec, SecretsError, Snapshot};

use crate::error::BackendError;
use crate::history::{Page, Past, UpdateRecord};
use crate::lease::{CancelProgress, CancelRequest};
use crate::recovery::Note;
use crate::summary::{StackFilter, StackSummary};
use crate::update::Update;
use crate::url::masked;

/// The state of a stack as it was read, without taking it.
#[derive(Debug)]
pub enum Loaded {
    /// The state file.
    Checkpoint(Box<Checkpoint>),
    /// The state file with the journal of an update that is under way, or was interrupted, folded in.
    Folded(Box<EncryptedSnapshot>),
}

impl Loaded {
    /// The snapshot without anything that could be done with its secrets; none for a stack that was never updated.
    pub fn opaque(&self) -> Option<&Snapshot> {
        match self {
            Loaded::Checkpoint(checkpoint) => checkpoint.latest.as_ref().map(Deployment::opaque),
            Loaded::Folded(snapshot) => Some(snapshot.opaque()),
        }
    }

    /// The snapshot with its secrets decrypted; empty for a stack that was never updated.
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

    /// The snapshot in the form that can be written; `codec` is called only for secrets in the clear.
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

/// The stack's own resource as it was read, which is where its outputs are.
#[derive(Debug)]
pub enum LoadedRoot {
    /// That resource alone.
    Alone(Box<RootState>),
    /// It is among all others: reading them was not to be avoided.
    Among(Loaded),
}

impl LoadedRoot {
    /// A snapshot with that resource, without anything that could be done with its secrets; none for a stack that was never
    /// updated.
    pub fn opaque(&self) -> Option<&Snapshot> {
        match self {
            LoadedRoot::Alone(root) => Some(root.opaque()),
            LoadedRoot::Among(loaded) => loaded.opaque(),
        }
    }

    /// The same with its secrets decrypted.
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
    /// The locks that were removed, as text for people.
    pub locks: Vec<String>,
    /// The locks that people have set by hand, which stay.
    pub kept: Vec<String>,
    /// Notes of the recovery: journals that were replayed or set aside.
    pub notes: Vec<Note>,
}

/// How much of a stack is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemoveOptions {
    /// Remove it although it has resources.
    pub force: bool,
    /// Remove its backups too.
    pub remove_backups: bool,
}

/// Rewrites a snapshot for another stack name.
pub type Rewrite<'r> =
    &'r mut dyn FnMut(
        EncryptedSnapshot,
    ) -> Result<EncryptedSnapshot, Box<dyn std::error::Error + Send + Sync>>;

/// A place where stacks are kept. Calls block; run them off the async threads.
pub trait Backend: Send + Sync {
    /// What people call it: the machine's name for file stores.
    fn name(&self) -> &str;

    /// Its address, by which logins and selections are remembered. It may hold a password.
    fn url(&self) -> &str;

    /// Its address for people, without user name and password.
    fn shown_url(&self) -> String {
        masked(self.url())
    }

    /// Reads a stack reference; `current` is the project of the current directory.
    fn parse_stack(
        &self,
        text: &str,
        current: Option<&ProjectName>,
    ) -> Result<StackReference, BackendError>;

    /// Whether there is such a stack.
    fn stack_exists(&self, stack: &StackReference) -> Result<bool, BackendError>;

    /// The stacks, sorted by name.
    fn list_stacks(&self, filter: &StackFilter) -> Result<Vec<StackSummary>, BackendError>;

    /// The names of the stacks, sorted: cheaper than what [`Backend::list_stacks`] has to read.
    fn stack_names(&self, filter: &StackFilter) -> Result<Vec<StackReference>, BackendError> {
        let stacks = self.list_stacks(filter)?;
        Ok(stacks.into_iter().map(|summary| summary.stack).collect())
    }

    /// Makes a stack; with `initial`, that is its first state.
    fn create_stack(
        &self,
        stack: &StackReference,
        initial: Option<&EncryptedSnapshot>,
    ) -> Result<(), BackendError>;

    /// Removes a stack. Unless its backups are removed too, [`Backend::restore_stack`] undoes that for a time.
    fn remove_stack(
        &self,
        stack: &StackReference,
        options: RemoveOptions,
    ) -> Result<(), BackendError>;

    /// Restores the stack of this name that was removed last, with its history and tags, and returns when it was removed.
    fn restore_stack(&self, stack: &StackReference) -> Result<String, BackendError> {
        Err(BackendError::NotRemoved {
            stack: stack.qualified(),
        })
    }

    /// Removes the states of all but the newest updates from the history, and returns how many were removed. The records stay.
    fn prune_history(&self, stack: &StackReference, kept: usize) -> Result<usize, BackendError> {
        let _ = (stack, kept);
        Ok(0)
    }

    /// Renames a stack; `rewrite` changes the names inside its state.
    fn rename_stack(
        &self,
        from: &StackReference,
        to: &StackReference,
        rewrite: Rewrite<'_>,
    ) -> Result<Vec<Note>, BackendError>;

    /// Reads the state without taking the stack.
    fn load(&self, stack: &StackReference) -> Result<Loaded, BackendError>;

    /// Reads the stack's own resource without taking the stack.
    fn load_root(&self, stack: &StackReference) -> Result<LoadedRoot, BackendError> {
        self.load(stack).map(LoadedRoot::Among)
    }

    /// Takes a stack for an operation that changes it; `id` names the update and must be new.
    fn begin_update(&self, stack: &StackReference, id: &str) -> Result<Update, BackendError>;

    /// Locks a stack by hand until [`Backend::unlock`]: updates and edits fail, and show `reason`. Returns the notes of the recovery
    /// that precedes it.
    fn lock(&self, stack: &StackReference, reason: Option<&str>)
    -> Result<Vec<Note>, BackendError>;

    /// Removes the locks set by hand, no matter by whom, and returns them as text for people.
    fn unlock(&self, stack: &StackReference) -> Result<Vec<String>, BackendError>;

    /// Ends the running update of a stack: fences its owner, folds its journal into the state, and then removes its lock. Locks set
    /// by hand stay.
    fn cancel(&self, stack: &StackReference) -> Result<Cancelled, BackendError>;

    /// Asks the owner of a stack to end its update in order: to finish what is under way, and to begin nothing more. None if nobody
    /// can be asked: there is no owner, or it has died, or it is a program that takes no requests.
    fn request_cancel(
        &self,
        stack: &StackReference,
    ) -> Result<Option<CancelRequest>, BackendError> {
        let _ = stack;
        Ok(None)
    }

    /// What has become of a request.
    fn cancel_progress(&self, request: &mut CancelRequest) -> Result<CancelProgress, BackendError> {
        let _ = request;
        Ok(CancelProgress::Silent)
    }

    /// The locks of a stack, as people read them.
    fn locks(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        let _ = stack;
        Ok(Vec::new())
    }

    /// The history, newest first.
    fn history(
        &self,
        stack: &StackReference,
        page: Option<Page>,
    ) -> Result<Vec<UpdateRecord>, BackendError>;

    /// The update with this number, and the state that it left; none if there is no such update, or the backend keeps no
    /// states.
    fn past(&self, stack: &StackReference, version: u64) -> Result<Option<Past>, BackendError> {
        let _ = (stack, version);
        Ok(None)
    }

    /// Names of the objects that make up a stack's history, sorted, the oldest first. The names depend neither on the store nor on
    /// the name of the stack.
    fn history_objects(&self, stack: &StackReference) -> Result<Vec<String>, BackendError>;

    /// Content of a history object; none if the object does not exist.
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

    /// The tags of a stack.
    fn tags(&self, stack: &StackReference) -> Result<BTreeMap<String, String>, BackendError>;

    /// Replaces the tags of a stack.
    fn set_tags(
        &self,
        stack: &StackReference,
        tags: &BTreeMap<String, String>,
    ) -> Result<(), BackendError>;

    /// Where people can look at the stack's state.
    fn permalink(&self, stack: &StackReference) -> Result<Option<String>, BackendError>;
}
