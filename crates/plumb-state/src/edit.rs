//! Changes that people make to a snapshot by hand (`state.md` 2.4).
//!
//! Every function works on a [`Snapshot`] and, without the secrets manager, on an
//! [`EncryptedSnapshot`]. What is refused leaves the snapshot as it was.

mod delete;
mod rename;
mod transfer;

use std::sync::Arc;

use plumb_resource::{ResourceState, Urn};

use crate::integrity::IntegrityError;
use crate::{EncryptedSnapshot, PendingOperation, Snapshot};

pub use delete::{
    DeleteError, DeleteOptions, Deleted, Dependents, Protected, delete, delete_all, dependents_of,
};
pub use rename::{RenameError, StackIdentity, rename_resource, rename_stack};
pub use transfer::{Broken, MoveError, Moved, Parents, move_resources};

/// A form of snapshot that can be edited: [`Snapshot`] and [`EncryptedSnapshot`].
pub trait Editable: access::Access {}

impl Editable for Snapshot {}
impl Editable for EncryptedSnapshot {}

mod access {
    use crate::{EncryptedSnapshot, Snapshot};

    /// Keeps the resources of encrypted snapshots out of reach of those who might put a plain secret there.
    pub trait Access {
        fn snapshot(&self) -> &Snapshot;
        fn snapshot_mut(&mut self) -> &mut Snapshot;
    }

    impl Access for Snapshot {
        fn snapshot(&self) -> &Snapshot {
            self
        }

        fn snapshot_mut(&mut self) -> &mut Snapshot {
            self
        }
    }

    impl Access for EncryptedSnapshot {
        fn snapshot(&self) -> &Snapshot {
            &self.inner
        }

        fn snapshot_mut(&mut self) -> &mut Snapshot {
            &mut self.inner
        }
    }
}

/// A URN does not lead to one resource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// There is none.
    #[error("No such resource \"{urn}\" exists in the current state")]
    NotFound {
        /// What was looked for.
        urn: Urn,
    },
    /// There are several.
    #[error("Resource URN ambiguously referred to multiple resources")]
    Ambiguous {
        /// What was looked for.
        urn: Urn,
        /// Where they are.
        indices: Vec<usize>,
    },
}

/// The place of the one resource called `urn`.
pub fn locate(snapshot: &impl Editable, urn: &Urn) -> Result<usize, LocateError> {
    let resources = snapshot.snapshot().resources.iter().enumerate();
    let indices: Vec<usize> = resources
        .filter(|(_, state)| state.urn == *urn)
        .map(|(index, _)| index)
        .collect();
    match indices.as_slice() {
        [] => Err(LocateError::NotFound { urn: urn.clone() }),
        [index] => Ok(*index),
        _ => Err(LocateError::Ambiguous {
            urn: urn.clone(),
            indices,
        }),
    }
}

/// Which resources an edit is for.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// All of them.
    All,
    /// Those with these URNs, old copies too.
    Urns(&'a [Urn]),
}

/// Protects resources from deletion, or lifts that. Returns how many resources were selected.
pub fn set_protect(
    snapshot: &mut impl Editable,
    selection: Selection<'_>,
    is_protected: bool,
) -> Result<usize, LocateError> {
    for_selected(snapshot, selection, |state| {
        if state.protect != is_protected {
            Arc::make_mut(state).protect = is_protected;
        }
    })
}

/// Marks resources for replacement at the next update, or lifts that. Returns how many resources were selected. What is due
/// for deletion anyhow is not marked.
pub fn set_taint(
    snapshot: &mut impl Editable,
    selection: Selection<'_>,
    is_tainted: bool,
) -> Result<usize, LocateError> {
    for_selected(snapshot, selection, |state| {
        let is_tainted = is_tainted && !state.delete;
        if state.taint != is_tainted {
            Arc::make_mut(state).taint = is_tainted;
        }
    })
}

fn for_selected(
    snapshot: &mut impl Editable,
    selection: Selection<'_>,
    mut change: impl FnMut(&mut Arc<ResourceState>),
) -> Result<usize, LocateError> {
    let resources = &mut snapshot.snapshot_mut().resources;
    let Selection::Urns(urns) = selection else {
        resources.iter_mut().for_each(change);
        return Ok(resources.len());
    };
    if let Some(urn) = urns
        .iter()
        .find(|urn| !resources.iter().any(|state| state.urn == **urn))
    {
        return Err(LocateError::NotFound { urn: urn.clone() });
    }
    resources
        .iter_mut()
        .filter(|state| urns.contains(&state.urn))
        .for_each(&mut change);
    Ok(urns.len())
}

/// A reason why a deployment should not be imported into a stack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportProblem {
    /// A resource belongs to another stack.
    #[error("resource '{urn}' is from a different stack ({} != {stack})", urn.stack())]
    ForeignResource {
        /// The resource.
        urn: Urn,
        /// Name of the stack to import into.
        stack: String,
    },
    /// The deployment is invalid.
    #[error("state file contains errors: {0}")]
    Integrity(#[from] IntegrityError),
}

/// Everything that speaks against importing `snapshot` into the stack called `stack`.
pub fn import_problems(snapshot: &Snapshot, stack: &str) -> Vec<ImportProblem> {
    let foreign = snapshot
        .resources
        .iter()
        .filter(|state| state.urn.stack() != stack);
    let mut problems: Vec<ImportProblem> = foreign
        .map(|state| ImportProblem::ForeignResource {
            urn: state.urn.clone(),
            stack: stack.to_owned(),
        })
        .collect();
    problems.extend(snapshot.verify().err().map(ImportProblem::Integrity));
    problems
}

/// Takes the pending operations out, as an import does, and returns them.
pub fn drop_pending_operations(snapshot: &mut impl Editable) -> Vec<PendingOperation> {
    std::mem::take(&mut snapshot.snapshot_mut().pending_operations)
}
