//! Manual edits of a snapshot (`state.md` 2.4).
//!
//! Every function accepts a [`Snapshot`] and, without the secrets manager, an [`EncryptedSnapshot`]. An error leaves
//! the snapshot unchanged.

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
pub use transfer::{Broken, BrokenKind, MoveError, Moved, Parents, move_resources};

/// A form of snapshot that can be edited: [`Snapshot`] and [`EncryptedSnapshot`].
pub trait Editable: access::Access {}

impl Editable for Snapshot {}
impl Editable for EncryptedSnapshot {}

mod access {
    use crate::{EncryptedSnapshot, Snapshot};

    /// Private access to the resources of both forms. Callers outside cannot put a plaintext secret into an encrypted
    /// snapshot.
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

/// Error while locating a resource by its URN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// No resource has the URN.
    #[error("No such resource \"{urn}\" exists in the current state")]
    NotFound {
        /// The URN.
        urn: Urn,
    },
    /// Several resources have the URN.
    #[error("Resource URN ambiguously referred to multiple resources")]
    Ambiguous {
        /// The URN.
        urn: Urn,
        /// Indices of the resources.
        indices: Vec<usize>,
    },
}

/// Index of the only resource with this URN.
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

/// Resources to edit. Copies that wait for deletion are never included.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// All resources.
    All,
    /// Resources with these URNs.
    Named(&'a [String]),
}

/// Error for names that no live resource has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such resources: {}", .0.join(", "))]
pub struct Missing(
    /// The names.
    pub Vec<String>,
);

/// Sets or clears the protection of resources. Returns the number of selected resources.
pub fn set_protect(
    snapshot: &mut impl Editable,
    selection: Selection<'_>,
    is_protected: bool,
) -> Result<usize, Missing> {
    for_selected(snapshot, selection, |state| {
        if state.protect != is_protected {
            Arc::make_mut(state).protect = is_protected;
        }
    })
}

/// Marks resources for replacement at the next update, or clears the mark. Returns the number of selected resources.
pub fn set_taint(
    snapshot: &mut impl Editable,
    selection: Selection<'_>,
    is_tainted: bool,
) -> Result<usize, Missing> {
    for_selected(snapshot, selection, |state| {
        if state.taint != is_tainted {
            Arc::make_mut(state).taint = is_tainted;
        }
    })
}

fn for_selected(
    snapshot: &mut impl Editable,
    selection: Selection<'_>,
    change: impl FnMut(&mut Arc<ResourceState>),
) -> Result<usize, Missing> {
    let resources = &mut snapshot.snapshot_mut().resources;
    let names = match selection {
        Selection::All => None,
        Selection::Named(names) => Some(names),
    };
    let is_known = |name: &&String| {
        resources
            .iter()
            .any(|state| !state.delete && state.urn.as_str() == name.as_str())
    };
    let missing: Vec<String> = names
        .unwrap_or_default()
        .iter()
        .filter(|name| !is_known(name))
        .cloned()
        .collect();
    if !missing.is_empty() {
        return Err(Missing(missing));
    }
    let is_selected = |state: &&mut Arc<ResourceState>| {
        let is_named =
            |names: &[String]| names.iter().any(|name| name.as_str() == state.urn.as_str());
        !state.delete && names.is_none_or(is_named)
    };
    resources.iter_mut().filter(is_selected).for_each(change);
    Ok(names.map_or(resources.len(), <[String]>::len))
}

/// Reason why a deployment should not be imported into a stack.
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

/// All reasons against importing `snapshot` into the stack called `stack`.
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

/// Removes the pending operations, as an import does, and returns them.
pub fn drop_pending_operations(snapshot: &mut impl Editable) -> Vec<PendingOperation> {
    std::mem::take(&mut snapshot.snapshot_mut().pending_operations)
}
