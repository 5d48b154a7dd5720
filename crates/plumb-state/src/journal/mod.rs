//! The journal of a run: beginnings and outcomes of operations (`state.md` 6, `engine.md` 9.5).
//!
//! An [`Entry`] is the change of one operation to the snapshot; [`Fold`] replays entries over the base snapshot of the
//! run. Entries refer to resources by [`Slot`]: an index in the base, or the operation that added the resource.

pub mod disk;
mod encrypted;
mod fold;
mod owners;
mod packed;
mod wire;

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::ResourceState;

use crate::{Extension, PendingOperation, SecretsProvider, Snapshot, Snippet};

pub use encrypted::{EncryptedEntry, EncryptedFold, ReplayError, replay};
pub use fold::{Fold, FoldError};
pub use wire::{EntryError, parse_entry};

/// Id that connects the beginning of an operation with its outcome; zero for entries without an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u64);

impl OperationId {
    /// Id for entries that concern the whole snapshot.
    pub const NONE: OperationId = OperationId(0);
}

/// Place of a resource during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Index in the current base.
    Old(u32),
    /// Operation of this run that added the resource.
    New(OperationId),
}

/// One record of the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Operation that the entry belongs to.
    pub operation: OperationId,
    /// Kind and content.
    pub kind: EntryKind,
}

/// Kind and content of an [`Entry`].
#[derive(Clone, Debug, PartialEq)]
pub enum EntryKind {
    /// The beginning of an operation.
    Begin {
        /// Pending operation to list until the outcome is recorded.
        operation: Option<PendingOperation>,
    },
    /// Success of an operation, possibly partial.
    Success {
        /// New resource to append.
        state: Option<Arc<ResourceState>>,
        /// Resource to remove.
        remove: Option<Slot>,
        /// Resource to mark as pending deletion.
        delete: Option<Slot>,
        /// Resource to mark as pending replacement.
        pending_replacement: Option<Slot>,
        /// Whether the operation was part of a refresh. An import during a refresh adopts the object of an interrupted
        /// create, and settles that pending operation of the base.
        is_refresh: bool,
        /// Owner of the new resource if that is a view; the view is listed after its owner.
        owner: Option<Slot>,
    },
    /// Failure of an operation, which changed nothing.
    Failure,
    /// Success of a refresh of one resource, which is replaced in place, or removed if there is no new state.
    RefreshSuccess {
        /// The refreshed resource.
        slot: Option<Slot>,
        /// New state; `None` if the object no longer exists.
        state: Option<Arc<ResourceState>>,
    },
    /// Registration of a resource's outputs.
    Outputs {
        /// The resource.
        slot: Slot,
        /// The resource with its outputs.
        state: Arc<ResourceState>,
    },
    /// Replacement of the base, before any operation.
    Write(Arc<Snapshot>),
    /// Change of the secrets manager.
    SecretsManager(SecretsProvider),
    /// The snapshot recorded so far becomes the base; slots are numbered from zero again.
    RebuiltBaseState,
    /// Use of an extension parameterization.
    Extension {
        /// Reference by which resources name the extension.
        reference: EcoString,
        /// The extension.
        extension: Extension,
    },
    /// Replacement of the stack's snippets.
    Snippets(Vec<Snippet>),
}

impl EntryKind {
    /// Resource in the entry, if it has one; resources of [`EntryKind::Write`] are not included.
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

    /// The entry with its resource replaced; unchanged if it has none.
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
