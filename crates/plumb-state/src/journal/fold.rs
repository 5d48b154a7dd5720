//! Replay of journal entries over a base snapshot (`state.md` 6.4).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use jiff::Timestamp;
use plumb_resource::{OperationType, ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use super::owners::Owners;
use super::{Entry, EntryKind, OperationId, Slot};
use crate::integrity::restore_order;
use crate::normalize::drop_empty_dependencies;
use crate::{
    AliasConflict, Extension, Manifest, PendingOperation, SecretsProvider, Snapshot,
    owners_of_views,
};

/// State of a stack during a run: the base snapshot, and the changes by the entries so far.
///
/// [`Fold::apply`] takes constant time; [`Fold::snapshot`] takes time proportional to the size of the stack.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    base: Snapshot,
    changes: Changes,
    has_refreshed: bool,
}

/// Changes since the base snapshot.
#[derive(Clone, Debug, Default)]
struct Changes {
    new: Vec<Option<Arc<ResourceState>>>,
    new_of: FxHashMap<OperationId, usize>,
    /// Index among the new resources for each base resource that was visited and is unchanged.
    moved: FxHashMap<u32, usize>,
    removed: FxHashSet<u32>,
    replaced: FxHashMap<u32, Arc<ResourceState>>,
    deleted: FxHashSet<u32>,
    pending_replacement: FxHashSet<u32>,
    owners: Owners,
    open: BTreeMap<OperationId, Option<PendingOperation>>,
    /// URNs of pending creates in the base that are settled; one entry settles one create.
    settled: Vec<Urn>,
    extensions: BTreeMap<EcoString, Extension>,
}

/// Source of a resource in the snapshot of a run.
#[derive(Clone, Copy)]
enum Listed {
    New(usize),
    Base(u32),
}

/// Error for an entry that does not match the state, or for a result that is not a valid snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The entry refers to an index outside of the base.
    #[error("the journal refers to resource {index} of a base that has {length}")]
    NoSuchBaseResource {
        /// The index.
        index: u32,
        /// Number of resources in the base.
        length: usize,
    },
    /// The entry refers to an operation that added no resource.
    #[error("the journal refers to the resource of operation {operation}, which recorded none")]
    NoSuchNewResource {
        /// Id of the operation.
        operation: u64,
    },
    /// The entry replaces the base, but earlier entries refer to it.
    #[error("the journal replaces the base after operations on it began")]
    LateWrite,
    /// Aliases are contradictory.
    #[error("failed to normalize URN references")]
    Aliases(#[from] AliasConflict),
}

impl Fold {
    /// Starts with `base`, the default snapshot for a stack without state.
    pub fn new(base: Snapshot) -> Self {
        Fold {
            base,
            ..Fold::default()
        }
    }

    /// Base snapshot that [`Slot::Old`] refers to.
    pub fn base(&self) -> &Snapshot {
        &self.base
    }

    /// Current resource in a slot; `None` if it was removed or never existed.
    pub fn resource(&self, slot: Slot) -> Option<&Arc<ResourceState>> {
        if let Some(place) = self.changes.place(slot) {
            return self.changes.new.get(place)?.as_ref();
        }
        let Slot::Old(index) = slot else { return None };
        if self.changes.removed.contains(&index) {
            return None;
        }
        self.changes
            .replaced
            .get(&index)
            .or_else(|| self.base.resources.get(index as usize))
    }

    /// Marks a base resource as visited and unchanged. The snapshot lists it at this position among the resources of
    /// the run, so that it comes before those that refer to it.
    ///
    /// The journal has no record for this: a recovery lacks only the order, which it restores by sorting.
    pub fn touch(&mut self, index: u32) -> Result<(), FoldError> {
        self.check_slot(Slot::Old(index))?;
        self.changes
            .touch(index, &self.base.resources[index as usize]);
        Ok(())
    }

    /// Applies the next entry of the journal. An error leaves the fold unchanged.
    pub fn apply(&mut self, entry: Entry) -> Result<(), FoldError> {
        self.check(&entry.kind)?;
        let operation = entry.operation;
        match entry.kind {
            EntryKind::Begin { operation: pending } => {
                self.changes.open.insert(operation, pending);
            }
            EntryKind::Success {
                state,
                remove,
                delete,
                pending_replacement,
                is_refresh,
                owner,
            } => {
                if is_refresh {
                    self.changes.settle(operation);
                }
                self.changes.end(operation);
                if state.is_some() {
                    self.changes.owners.added(operation, remove, owner);
                }
                self.changes.append(operation, state);
                if let Some(slot) = remove {
                    self.changes.remove(slot);
                }
                if let Some(slot) = delete {
                    self.changes.mark_delete(slot);
                }
                if let Some(slot) = pending_replacement {
                    self.changes.mark_pending_replacement(slot);
                }
                self.has_refreshed |= is_refresh;
            }
            EntryKind::Failure => self.changes.end(operation),
            EntryKind::RefreshSuccess { slot, state } => {
                self.changes.end(operation);
                self.has_refreshed = true;
                match (slot, state) {
                    (Some(slot), Some(state)) => self.changes.replace(slot, state),
                    (Some(slot), None) => self.changes.remove(slot),
                    (None, _) => {}
                }
            }
            EntryKind::Outputs { slot, state } => {
                self.changes.end(operation);
                self.changes.replace(slot, state);
            }
            EntryKind::Write(snapshot) => self.base = Arc::unwrap_or_clone(snapshot),
            EntryKind::SecretsManager(provider) => self.set_secrets_provider(provider),
            EntryKind::RebuiltBaseState => self.rebuild()?,
            EntryKind::Extension {
                reference,
                extension,
            } => {
                self.changes.extensions.insert(reference, extension);
            }
            EntryKind::Snippets(snippets) => self.base.snippets = snippets,
        }
        Ok(())
    }

    /// Current snapshot, with a manifest of time `now` and this program version.
    pub fn snapshot(&self, now: Timestamp, version: &str) -> Result<Snapshot, FoldError> {
        let mut snapshot = self.generate()?;
        snapshot.manifest = Manifest::new(now, version);
        Ok(snapshot)
    }

    fn set_secrets_provider(&mut self, provider: SecretsProvider) {
        if self.base.secrets_provider.as_ref() != Some(&provider) {
            self.base.secrets_provider = Some(provider);
        }
    }

    fn rebuild(&mut self) -> Result<(), FoldError> {
        let fresh: FxHashSet<Urn> = self
            .changes
            .new
            .iter()
            .flatten()
            .map(|state| state.urn.clone())
            .collect();
        self.base = self.generate()?;
        for state in &mut self.base.resources {
            // Resources not registered in this run lose their empty property dependencies.
            if !fresh.contains(&state.urn) {
                drop_empty_dependencies(state);
            }
        }
        self.changes = Changes::default();
        Ok(())
    }

    fn check(&self, kind: &EntryKind) -> Result<(), FoldError> {
        match kind {
            EntryKind::Write(_) if self.changes.concern_resources() => Err(FoldError::LateWrite),
            EntryKind::Success {
                remove,
                delete,
                pending_replacement,
                owner,
                ..
            } => [remove, delete, pending_replacement, owner]
                .into_iter()
                .flatten()
                .try_for_each(|slot| self.check_slot(*slot)),
            EntryKind::RefreshSuccess {
                slot: Some(slot), ..
            }
            | EntryKind::Outputs { slot, .. } => self.check_slot(*slot),
            _ => Ok(()),
        }
    }

    fn check_slot(&self, slot: Slot) -> Result<(), FoldError> {
        match slot {
            Slot::Old(index) if index as usize >= self.base.resources.len() => {
                Err(FoldError::NoSuchBaseResource {
                    index,
                    length: self.base.resources.len(),
                })
            }
            Slot::New(operation) if !self.changes.new_of.contains_key(&operation) => {
                Err(FoldError::NoSuchNewResource {
                    operation: operation.0,
                })
            }
            Slot::Old(_) | Slot::New(_) => Ok(()),
        }
    }

    /// The snapshot, except for the manifest, which is still that of the base.
    fn generate(&self) -> Result<Snapshot, FoldError> {
        let mut snapshot = Snapshot {
            manifest: self.base.manifest.clone(),
            secrets_provider: self.base.secrets_provider.clone(),
            resources: self.resources(),
            pending_operations: self.pending_operations(),
            metadata: self.base.metadata.clone(),
            snippets: self.base.snippets.clone(),
            extensions: self.extensions(),
            unknown: self.base.unknown.clone(),
        };
        snapshot.normalize_urns()?;
        // A recovery does not know which base resources were visited, so their order must be restored.
        restore_order(&mut snapshot.resources);
        if self.has_refreshed {
            drop_dangling(&mut snapshot.resources);
        }
        Ok(snapshot)
    }

    /// Resources of the run, then the remaining ones of the base; every view comes after its owner.
    fn resources(&self) -> Vec<Arc<ResourceState>> {
        let changes = &self.changes;
        let new = changes.new.iter().enumerate();
        let new = new.filter_map(|(place, state)| Some((Listed::New(place), state.clone()?)));
        let base = (0_u32..).zip(&self.base.resources);
        let base = base
            .filter(|(index, _)| !changes.removed.contains(index))
            .map(|(index, state)| (Listed::Base(index), changes.old_state(index, state)));
        let listed = new.chain(base);
        let of_base = owners_of_views(self.base.resources.iter().map(Arc::as_ref));
        if of_base.is_empty() && changes.owners.have_no_new() {
            return listed.map(|(_, state)| state).collect();
        }
        let slots = changes.slots_of_new();
        let slot = |listed| match listed {
            Listed::New(place) => slots[place],
            Listed::Base(index) => Slot::Old(index),
        };
        let listed = listed.map(|(place, state)| (slot(place), state));
        changes.owners.gather(&of_base, listed.collect())
    }

    fn pending_operations(&self) -> Vec<PendingOperation> {
        let open = self.changes.open.values().flatten();
        let mut settled = self.changes.settled.clone();
        let creating = self
            .base
            .pending_operations
            .iter()
            .filter(|it| it.operation == OperationType::Creating)
            .filter(|it| {
                let place = settled.iter().position(|urn| *urn == it.resource.urn);
                place.map(|place| settled.swap_remove(place)).is_none()
            });
        open.chain(creating).cloned().collect()
    }

    fn extensions(&self) -> BTreeMap<EcoString, Extension> {
        let mut extensions = self.changes.extensions.clone();
        extensions.extend(
            self.base
                .extensions
                .iter()
                .map(|(reference, it)| (reference.clone(), it.clone())),
        );
        extensions
    }
}

impl Changes {
    /// Whether any operation on a resource was recorded.
    fn concern_resources(&self) -> bool {
        let marks = [&self.removed, &self.deleted, &self.pending_replacement];
        !self.open.is_empty()
            || !self.new.is_empty()
            || !self.replaced.is_empty()
            || marks.into_iter().any(|indices| !indices.is_empty())
    }

    fn end(&mut self, operation: OperationId) {
        self.open.remove(&operation);
    }

    /// Settles the pending create of an object that a refresh has imported.
    fn settle(&mut self, operation: OperationId) {
        if let Some(Some(pending)) = self.open.get(&operation)
            && pending.operation == OperationType::Importing
        {
            self.settled.push(pending.resource.urn.clone());
        }
    }

    fn append(&mut self, operation: OperationId, state: Option<Arc<ResourceState>>) {
        if let Some(state) = state {
            self.new_of.insert(operation, self.new.len());
            self.new.push(Some(state));
        }
    }

    /// Slots of the new resources, in order.
    fn slots_of_new(&self) -> Vec<Slot> {
        let mut slots = vec![Slot::New(OperationId::NONE); self.new.len()];
        for (operation, place) in &self.new_of {
            slots[*place] = Slot::New(*operation);
        }
        for (index, place) in &self.moved {
            slots[*place] = Slot::Old(*index);
        }
        slots
    }

    /// Index of a resource among the new ones; `None` while it is still at its place in the base.
    fn place(&self, slot: Slot) -> Option<usize> {
        match slot {
            Slot::Old(index) => self.moved.get(&index).copied(),
            Slot::New(operation) => self.new_of.get(&operation).copied(),
        }
    }

    /// Changes a new resource; one that was removed in the meantime remains removed.
    fn change_new(&mut self, place: usize, change: impl FnOnce(&mut Arc<ResourceState>)) {
        if let Some(Some(state)) = self.new.get_mut(place) {
            change(state);
        }
    }

    /// Lists an unchanged base resource among the new ones.
    fn touch(&mut self, index: u32, base: &Arc<ResourceState>) {
        if self.removed.contains(&index) {
            return;
        }
        let state = self.old_state(index, base);
        self.moved.insert(index, self.new.len());
        self.new.push(Some(state));
        self.removed.insert(index);
    }

    fn remove(&mut self, slot: Slot) {
        match (self.place(slot), slot) {
            (Some(place), _) => self.new[place] = None,
            (None, Slot::Old(index)) => {
                self.removed.insert(index);
            }
            (None, Slot::New(_)) => {}
        }
    }

    fn replace(&mut self, slot: Slot, state: Arc<ResourceState>) {
        match (self.place(slot), slot) {
            (Some(place), _) => self.change_new(place, |present| *present = state),
            (None, Slot::Old(index)) => {
                self.replaced.insert(index, state);
            }
            (None, Slot::New(_)) => {}
        }
    }

    fn mark_delete(&mut self, slot: Slot) {
        match (self.place(slot), slot) {
            (Some(place), _) => self.change_new(place, |state| Arc::make_mut(state).delete = true),
            (None, Slot::Old(index)) => {
                self.deleted.insert(index);
            }
            (None, Slot::New(_)) => {}
        }
    }

    fn mark_pending_replacement(&mut self, slot: Slot) {
        match (self.place(slot), slot) {
            (Some(place), _) => {
                self.change_new(place, |state| {
                    Arc::make_mut(state).pending_replacement = true;
                });
            }
            (None, Slot::Old(index)) => {
                self.pending_replacement.insert(index);
            }
            (None, Slot::New(_)) => {}
        }
    }

    /// Current state of a base resource. Marks do not apply to one that was replaced in place.
    fn old_state(&self, index: u32, base: &Arc<ResourceState>) -> Arc<ResourceState> {
        if let Some(replaced) = self.replaced.get(&index) {
            return replaced.clone();
        }
        let (delete, pending) = (
            self.deleted.contains(&index),
            self.pending_replacement.contains(&index),
        );
        let mut state = base.clone();
        if (delete && !state.delete) || (pending && !state.pending_replacement) {
            let state = Arc::make_mut(&mut state);
            state.delete |= delete;
            state.pending_replacement |= pending;
        }
        state
    }
}

/// Drops references to missing or later resources after a refresh; URNs do not change.
fn drop_dangling(resources: &mut [Arc<ResourceState>]) {
    let mut listed: FxHashSet<Urn> = FxHashSet::default();
    for state in resources {
        if state.references().any(|urn| !listed.contains(urn)) {
            Arc::make_mut(state).drop_references(|urn| !listed.contains(urn));
        }
        listed.insert(state.urn.clone());
    }
}
