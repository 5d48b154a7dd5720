//! Owners of views during a run ([`owners_of_views`]).
//!
//! In the base, the owner follows from the position. New entries move owners and views apart, and the owner of a new
//! view need not be the nearest copy.
//!
//! [`owners_of_views`]: crate::owners_of_views

use std::sync::Arc;

use plumb_resource::ResourceState;
use rustc_hash::FxHashMap;

use super::{OperationId, Slot};

/// Owners and views in the entries so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    /// Owners of added views, at the time of their entries.
    of_new: FxHashMap<OperationId, Slot>,
    /// Operations that replaced a resource by another one with its URN, which takes over its views.
    successors: FxHashMap<Slot, OperationId>,
}

impl Owners {
    /// Records an added resource, which replaces `removed` if there is one.
    pub(super) fn added(
        &mut self,
        operation: OperationId,
        removed: Option<Slot>,
        owner: Option<Slot>,
    ) {
        if let Some(removed) = removed {
            self.successors.insert(removed, operation);
        }
        if let Some(owner) = owner {
            self.of_new.insert(operation, owner);
        }
    }

    /// Whether no entry has added a view.
    pub(super) fn have_no_new(&self) -> bool {
        self.of_new.is_empty()
    }

    /// Moves each view directly after its owner. `of_base` holds the owners in the base, by index.
    pub(super) fn gather(
        &self,
        of_base: &FxHashMap<usize, usize>,
        listed: Vec<(Slot, Arc<ResourceState>)>,
    ) -> Vec<Arc<ResourceState>> {
        let mut views: FxHashMap<Slot, Vec<Arc<ResourceState>>> = FxHashMap::default();
        let mut others = Vec::with_capacity(listed.len());
        for (slot, state) in listed {
            match self.owner_of(slot, of_base) {
                Some(owner) => views.entry(owner).or_default().push(state),
                None => others.push((slot, state)),
            }
        }
        let mut gathered = Vec::with_capacity(others.len());
        for (slot, state) in others {
            gathered.push(state);
            gathered.extend(views.remove(&slot).unwrap_or_default());
        }
        // Keep views without an owner; the integrity check reports them.
        gathered.extend(views.into_values().flatten());
        gathered
    }

    fn owner_of(&self, slot: Slot, of_base: &FxHashMap<usize, usize>) -> Option<Slot> {
        let mut owner = match slot {
            Slot::New(operation) => *self.of_new.get(&operation)?,
            Slot::Old(index) => {
                let owner = *of_base.get(&(index as usize))?;
                Slot::Old(u32::try_from(owner).ok()?)
            }
        };
        while let Some(successor) = self.successors.get(&owner) {
            owner = Slot::New(*successor);
        }
        Some(owner)
    }
}
