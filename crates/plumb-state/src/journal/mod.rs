//! The journal of a run: what was begun and how it ended (`state.md` 6, `engine.md` 9.5).
//!
//! An [`Entry`] says what one operation did to the snapshot; [`Fold`] replays entries over the base that the run
//! started from. Entries name resources by [`Slot`]: a place in the base, or the operation that added the resource.

pub mod disk;
mod encrypted;
mod fold;
mod owners;
mod wire;

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::ResourceState;

use crate::{Extension, PendingOperation, SecretsProvider, Snapshot, Snippet};

pub use encrypted::{EncryptedEntry, EncryptedFold, ReplayError, replay};
pub use fold::{Fold, FoldError};
pub use wire::{EntryError, parse_entry};

/// Pairs the beginning of an operation with its end; zero for entries that belong to none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u64);

impl OperationId {
    /// The id of entries that concern the whole snapshot.
    pub const NONE: OperationId = OperationId(0);
}

/// Where a resource stands while a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// In the current base, at this index.
    Old(u32),
    /// Added in this run by the entry of this operation.
    New(OperationId),
}

/// One record of the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The operation that it belongs to.
    pub operation: OperationId,
    /// What happened.
    pub kind: EntryKind,
}

/// What an [`Entry`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryKind {
    /// An operation begins.
    Begin {
        /// What to list as pending until it ends.
        operation: Option<PendingOperation>,
    },
    /// An operation succeeded, at least in part.
    Success {
        /// The resource that results, to append.
        state: Option<Arc<ResourceState>>,
        /// A resource to drop.
        remove: Option<Slot>,
        /// A resource to mark as waiting for deletion.
        delete: Option<Slot>,
        /// A resource to mark as waiting for its replacement.
        pending_replacement: Option<Slot>,
        /// Whether this was part of a refresh. An import in a refresh adopts the object of a create that was interrupted, and
        /// settles the pending operation of the base.
        is_refresh: bool,
        /// The owner of the resource that results, if that is a view: it is listed behind its owner.
        owner: Option<Slot>,
    },
    /// An operation failed and changed nothing.
    Failure,
    /// A refresh of one resource succeeded: it is replaced in place, or dropped if there is no state.
    RefreshSuccess {
        /// The resource that was refreshed.
        slot: Option<Slot>,
        /// What it is now; `None` if it is gone.
        state: Option<Arc<ResourceState>>,
    },
    /// Outputs of a resource were registered.
    Outputs {
        /// The resource.
        slot: Slot,
        /// The resource with its outputs.
        state: Arc<ResourceState>,
    },
    /// The base is replaced, before any operation.
    Write(Arc<Snapshot>),
    /// Secrets are encrypted by this manager.
    SecretsManager(SecretsProvider),
    /// What was recorded so far becomes the base; slots count anew.
    RebuiltBaseState,
    /// An extension parameterization is in use.
    Extension {
        /// The name by which resources refer to it.
        reference: EcoString,
        /// What it is.
        extension: Extension,
    },
    /// The program fragments of the stack are these.
    Snippets(Vec<Snippet>),
}

impl EntryKind {
    /// The resource in the entry, if there is one; the snapshot of [`EntryKind::Write`] is none.
    pub fn state(&self) -> Option<&Arc<ResourceState>> {
        match self {
            EntryKind::Begin { operation } => operation.as_ref().map(|pending| &pending.resource),
            EntryKind::Success { state, .. } | EntryKind::RefreshSuccess { state, .. } => {
                state.as_ref()
            }
            EntryKind::Outputs { state, .. } => Some(state),
            EntryKind::Failure
            | EntryKind::Write(_)
            | EntryKind::SecretsManager(_)
            | EntryKind::RebuiltBaseState
            | EntryKind::Extension { .. }
            | EntryKind::Snippets(_) => None,
        }
    }

    /// The entry with another resource in the place of its own; as it is where there is none.
    #[must_use]
    pub fn map_state(
        mut self,
        exchange: impl FnOnce(&Arc<ResourceState>) -> Arc<ResourceState>,
    ) -> EntryKind {
        let own = match &mut self {
            EntryKind::Begin { operation } => {
                operation.as_mut().map(|pending| &mut pending.resource)
            }
            EntryKind::Success { state, .. } | EntryKind::RefreshSuccess { state, .. } => {
                state.as_mut()
            }
            EntryKind::Outputs { state, .. } => Some(state),
            EntryKind::Failure
            | EntryKind::Write(_)
            | EntryKind::SecretsManager(_)
            | EntryKind::RebuiltBaseState
            | EntryKind::Extension { .. }
            | EntryKind::Snippets(_) => None,
        };
        if let Some(own) = own {
            *own = exchange(own);
        }
        self
    }
}
