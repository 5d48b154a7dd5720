//! Which copy of a resource a view belongs to, while a run goes on ([`owners_of_views`]).
//!
//! The base says it by place; what is recorded since then moves owners and views away from each other, and a copy may be
//! told of a new view while another copy stands nearer.
//!
//! [`owners_of_views`]: crate::owners_of_views

use std::sync::Arc;

use plumb_resource::ResourceState;
use rustc_hash::FxHashMap;

use super::{OperationId, Slot};

/// What was recorded of owners and views.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    /// The owners of views that entries added, as they were then.
    of_new: FxHashMap<OperationId, Slot>,
    /// What took the place of resources of one name: their views are its views.
    successors: FxHashMap<Slot, OperationId>,
}

impl Owners {
    /// An entry adds a resource, in place of `removed` if there is one.
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

    /// Whether no entry added a view.
    pub(super) fn have_no_new(&self) -> bool {
        self.of_new.is_empty()
    }

    /// Puts each view behind its owner, where that is now. `of_base` are the owners of the base, by place.
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
        // What has lost its owner is not lost with it: the check of the snapshot says so.
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
