//! Deletes of a run, at its end and for replacements.

use std::collections::VecDeque;

use ecow::EcoString;
use plumb_resource::{ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::ids::ChainIdx;
use crate::step::Deletion;

/// Deletes of a run, at its end and for replacements.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    /// Old states that are being deleted or are deleted in this run.
    pub(crate) pending: FxHashSet<StateIdx>,
    /// URNs of which some copy is being deleted or is deleted in this run: resources with `deletedWith` one of them need no
    /// call. A dependent that was deleted for a replacement is no longer among them once its own replacement is planned.
    /// Example: `a` is replaced delete-first, `b` with it, and `c` with `b`; the provider is still called for the old `c` at
    /// the end, although `c` is deleted with `b`.
    pub(crate) urns: FxHashSet<Urn>,
    /// Which chain deletes an old state for a replacement.
    pub(crate) deleted_by: FxHashMap<StateIdx, ChainIdx>,
    /// Why a resource that was deleted for the replacement of another is itself replaced.
    pub(crate) replaced_keys: FxHashMap<StateIdx, Vec<EcoString>>,
    /// Old states that a destroy with program will delete.
    pub(crate) registered_during_destroy: Vec<StateIdx>,
    /// Objects of failed attempts, which a later attempt has created again.
    pub(crate) leftovers: Vec<StateIdx>,
    /// Deletes before and after they are sorted into layers.
    pub(crate) planned: Vec<StateIdx>,
    pub(crate) layers: VecDeque<Vec<StateIdx>>,
    /// URNs that go although something that stays refers to them.
    pub(crate) orphaning: FxHashSet<Urn>,
    /// States whose delete is left out, because something that failed needs them.
    pub(crate) kept: FxHashSet<StateIdx>,
}

impl Deployment {
    /// Whether the engine itself refuses a deletion.
    pub(crate) fn is_guarded(&self, old: &ResourceState, deletion: Deletion) -> bool {
        let is_guarded = old.protect && deletion == Deletion::Unwanted && !old.delete;
        is_guarded && !self.ctx.options.ignore_protect
    }
}
