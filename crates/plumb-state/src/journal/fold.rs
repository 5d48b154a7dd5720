//! Replay of journal entries over a base (`state.md` 6.4).

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

/// The state of a stack while a run goes on: the base, and what the entries so far did to it.
///
/// [`Fold::apply`] costs the same whatever the size of the stack; [`Fold::snapshot`] walks all of it.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    base: Snapshot,
    changes: Changes,
    has_refreshed: bool,
}

/// What was recorded since the base was made.
#[derive(Clone, Debug, Default)]
struct Changes {
    new: Vec<Option<Arc<ResourceState>>>,
    new_of: FxHashMap<OperationId, usize>,
    /// Places among the new ones of base resources that were visited and found unchanged.
    moved: FxHashMap<u32, usize>,
    removed: FxHashSet<u32>,
    replaced: FxHashMap<u32, Arc<ResourceState>>,
    deleted: FxHashSet<u32>,
    pending_replacement: FxHashSet<u32>,
    owners: Owners,
    open: BTreeMap<OperationId, Option<PendingOperation>>,
    /// URNs whose pending create in the base is settled, once for each.
    settled: Vec<Urn>,
    extensions: BTreeMap<EcoString, Extension>,
}

/// Where the snapshot of a run has a resource from.
#[derive(Clone, Copy)]
enum Listed {
    New(usize),
    Base(u32),
}

/// An entry that does not fit what came before it, or a result that cannot be a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The entry names a place that the base does not have.
    #[error("the journal refers to resource {index} of a base that has {length}")]
    NoSuchBaseResource {
        /// The place.
        index: u32,
        /// Size of the base.
        length: usize,
    },
    /// The entry names an operation that added nothing.
    #[error("the journal refers to the resource of operation {operation}, which recorded none")]
    NoSuchNewResource {
        /// The operation.
        operation: u64,
    },
    /// The base is to be replaced although operations were recorded that refer to it.
    #[error("the journal replaces the base after operations on it began")]
    LateWrite,
    /// Aliases contradict each other.
    #[error("failed to normalize URN references")]
    Aliases(#[from] AliasConflict),
}

impl Fold {
    /// Starts from `base`; for a stack without state that is the default snapshot.
    pub fn new(base: Snapshot) -> Self {
        Fold {
            base,
            ..Fold::default()
        }
    }

    /// The base that [`Slot::Old`] counts in.
    pub fn base(&self) -> &Snapshot {
        &self.base
    }

    /// The resource in a slot as it is now; `None` if it was removed or never there.
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

    /// Notes that a resource of the base was visited and found unchanged: the snapshot lists it here, among what the run
    /// produced, so that it comes before whatever refers to it.
    ///
    /// There is no journal record of this: what a recovery misses is only the order, which it restores by itself.
    pub fn touch(&mut self, index: u32) -> Result<(), FoldError> {
        self.check_slot(Slot::Old(index))?;
        self.changes
            .touch(index, &self.base.resources[index as usize]);
        Ok(())
    }

    /// Takes one entry, in the order of the journal. An error leaves the fold as it was.
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

    /// What the stack is now, made at `now` by a program of this version.
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
            // What nothing in this run registered keeps only the dependencies that say something.
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

    /// Everything but the manifest, which stays the base's.
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
        // A recovery does not know which resources of the base were visited; none of them is gone for that.
        restore_order(&mut snapshot.resources);
        if self.has_refreshed {
            drop_dangling(&mut snapshot.resources);
        }
        Ok(snapshot)
    }

    /// What the run produced, and then what is left of the base; every view is behind its owner.
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
    /// Whether anything was begun or done to a resource.
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

    /// A refresh adopted the object of an operation: the create that was interrupted is settled by that.
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

    /// What the new ones are known by, in order.
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

    /// Where a resource stands among the new ones; `None` while it is still in its place in the base.
    fn place(&self, slot: Slot) -> Option<usize> {
        match slot {
            Slot::Old(index) => self.moved.get(&index).copied(),
            Slot::New(operation) => self.new_of.get(&operation).copied(),
        }
    }

    /// Changes a resource among the new ones; one that was removed in the meantime stays away.
    fn change_new(&mut self, place: usize, change: impl FnOnce(&mut Arc<ResourceState>)) {
        if let Some(Some(state)) = self.new.get_mut(place) {
            change(state);
        }
    }

    /// Lists a resource of the base among the new ones, as it is.
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

    /// A resource of the base as it is now. Marks do not apply to one that was replaced in place.
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

/// After a refresh, references to resources that are gone (or come later) are dropped; URNs stay as they are.
fn drop_dangling(resources: &mut [Arc<ResourceState>]) {
    let mut listed: FxHashSet<Urn> = FxHashSet::default();
    for state in resources {
        if state.references().any(|urn| !listed.contains(urn)) {
            Arc::make_mut(state).drop_references(|urn| !listed.contains(urn));
        }
        listed.insert(state.urn.clone());
    }
}
