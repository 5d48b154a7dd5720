//! Moves of resources from one stack to another.
//!
//! 1. The named resources are selected, optionally with their ancestors, and all of their descendants except providers.
//! 2. Each gets its URN for the other stack. A resource without a parent, or whose parent does not move, becomes a
//!    child of the other root stack resource.
//! 3. The providers of the selected resources are copied, unless the other stack has equal ones.
//! 4. Dependencies between moved and remaining resources are removed and reported.
//!
//! All errors are detected before either snapshot is changed.

use std::fmt;
use std::sync::Arc;

use plumb_resource::{ProviderRef, ResourceKind, ResourceState, Urn};
use plumb_value::PropertyKey;
use rustc_hash::{FxHashMap, FxHashSet};

use super::StackIdentity;
use super::rename::rename_state;
use crate::Snapshot;
use crate::normalize::drop_empty_dependencies;

/// Treatment of the ancestors of the named resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parents {
    /// Ancestors remain.
    #[default]
    Stay,
    /// Ancestors move too.
    Move,
}

/// A removed dependency between a moved and a remaining resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The dependent, under its former URN.
    pub resource: Urn,
    /// Kind of dependency.
    pub kind: BrokenKind,
    /// The dependency.
    pub dependency: Urn,
}

/// Kind of a removed dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokenKind {
    /// The option `dependsOn`, or a property.
    Dependency,
    /// A dependency of this property.
    Property(PropertyKey),
    /// The option `deletedWith`.
    DeletedWith,
    /// The option `replaceWith`.
    ReplaceWith,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (resource, dependency) = (&self.resource, &self.dependency);
        match &self.kind {
            BrokenKind::Dependency => write!(f, "{resource} has a dependency on {dependency}"),
            BrokenKind::Property(key) => {
                write!(
                    f,
                    "{resource} ({key}) has a property dependency on {dependency}"
                )
            }
            BrokenKind::DeletedWith => {
                write!(f, "{resource} is marked as deleted with {dependency}")
            }
            BrokenKind::ReplaceWith => {
                write!(f, "{resource} is marked as replace with {dependency}")
            }
        }
    }
}

/// Result of a move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Former and new URN of each moved resource, in the order of the snapshot.
    pub resources: Vec<(Urn, Urn)>,
    /// Former URNs of the copied providers.
    pub providers: Vec<Urn>,
    /// Removed dependencies of remaining resources on moved ones.
    pub broken_behind: Vec<Broken>,
    /// Removed dependencies of moved resources on remaining ones.
    pub broken_ahead: Vec<Broken>,
}

/// Reason why nothing was moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// None of the named resources exists.
    #[error("no resources found to move")]
    Nothing,
    /// A provider was named; providers are copied with the resources that use them.
    #[error(
        "cannot move providers. Only resources can be moved, and providers will be included automatically"
    )]
    Provider,
    /// The other stack has a resource with this URN.
    #[error("resource {taken} already exists in destination stack")]
    Taken {
        /// URN of the resource in the other stack.
        taken: Urn,
        /// URNs of all resources that were to move.
        planned: Vec<Urn>,
    },
    /// The other stack has a provider with this name and other settings.
    #[error("provider {urn} already exists in destination stack")]
    OtherProvider {
        /// The provider.
        urn: Urn,
    },
    /// An operation on the resource was interrupted.
    #[error(
        "cannot move {urn}: an operation on it was interrupted; settle it with `plumb refresh` first"
    )]
    Pending {
        /// The resource.
        urn: Urn,
    },
    /// The resource is registered by a snippet of the stack.
    #[error("cannot move {urn}: a snippet of its stack registers it")]
    OfSnippet {
        /// The resource.
        urn: Urn,
    },
}

/// Moves the resources called `urns`, with all of their descendants, from `source` to `dest`, the snapshot of the stack
/// `to`. Unknown URNs are ignored.
pub fn move_resources(
    source: &mut Snapshot,
    dest: &mut Snapshot,
    urns: &[Urn],
    parents: Parents,
    to: &StackIdentity,
) -> Result<Moved, MoveError> {
    let selected = select(source, urns, parents)?;
    let root = Urn::root_stack(&to.stack, to.project.as_deref().unwrap_or_default());
    let mut plan = Plan::new(source, dest, &selected, &root)?;
    let moved = plan.report(source, &selected);
    refuse_pending(source, &selected)?;

    let mut staying = Vec::with_capacity(source.resources.len());
    let mut going = Vec::with_capacity(selected.len());
    for (at, state) in std::mem::take(&mut source.resources)
        .into_iter()
        .enumerate()
    {
        if selected.contains(&at) {
            going.push(state);
        } else {
            staying.push(without(state, |urn| plan.renames.contains_key(urn)));
        }
    }
    source.resources = staying;
    add_root(dest, &root);
    dest.resources.append(&mut plan.copies);
    for state in going {
        let state = plan.arrive(source, &state);
        if let Some(extension) = &state.extension_ref
            && let Some(it) = source.extensions.get(extension)
        {
            dest.extensions.insert(extension.clone(), it.clone());
        }
        dest.resources.push(Arc::new(state));
    }
    Ok(moved)
}

/// Indices of the resources to move. Copies that wait for deletion remain, because their own stack deletes them.
fn select(
    source: &Snapshot,
    urns: &[Urn],
    parents: Parents,
) -> Result<FxHashSet<usize>, MoveError> {
    let live = || {
        let all = source.resources.iter().enumerate();
        all.filter(|(_, state)| !state.delete)
    };
    let places: FxHashMap<&Urn, usize> = live().map(|(at, state)| (&state.urn, at)).collect();
    let is_provider = |at: usize| source.resources[at].kind == ResourceKind::Provider;
    let named: Vec<usize> = urns
        .iter()
        .filter_map(|urn| places.get(urn).copied())
        .collect();
    if named.iter().any(|at| is_provider(*at)) {
        return Err(MoveError::Provider);
    }
    if named.is_empty() {
        return Err(MoveError::Nothing);
    }
    let mut selected = FxHashSet::default();
    for at in named {
        let mut next = Some(at).filter(|at| selected.insert(*at));
        while let (Some(at), Parents::Move) = (next, parents) {
            let parent = source.resources[at].parent.as_ref();
            next = parent
                .filter(|urn| !urn.is_root_stack())
                .and_then(|urn| places.get(urn).copied())
                .filter(|at| selected.insert(*at));
        }
    }
    // Parents come before their children.
    for (at, state) in live().filter(|(at, _)| !is_provider(*at)) {
        let parent = state.parent.as_ref().and_then(|urn| places.get(urn));
        if parent.is_some_and(|parent| selected.contains(parent)) {
            selected.insert(at);
        }
    }
    // The root stack resource remains: the other stack has its own, or gets one.
    selected.retain(|at| !source.resources[*at].urn.is_root_stack());
    Ok(selected)
}

struct Plan {
    /// New URN for each moved resource, each provider with an equal one in the other stack, and the root stack
    /// resource.
    renames: FxHashMap<Urn, Urn>,
    /// New provider reference for each one used by moved resources.
    providers: FxHashMap<ProviderRef, ProviderRef>,
    /// Providers to copy, under their new URNs.
    copies: Vec<Arc<ResourceState>>,
    /// Former URNs of the providers to copy.
    copied: Vec<Urn>,
    root: Urn,
}

impl Plan {
    fn new(
        source: &Snapshot,
        dest: &Snapshot,
        selected: &FxHashSet<usize>,
        root: &Urn,
    ) -> Result<Self, MoveError> {
        let mut plan = Plan {
            renames: FxHashMap::default(),
            providers: FxHashMap::default(),
            copies: Vec::new(),
            copied: Vec::new(),
            root: root.clone(),
        };
        for (_, state) in chosen(source, selected) {
            if state.snippet_id.is_some() {
                let urn = state.urn.clone();
                return Err(MoveError::OfSnippet { urn });
            }
            let urn = plan.name(state);
            plan.renames.insert(state.urn.clone(), urn);
        }
        for (_, state) in chosen(source, selected) {
            if let Some(provider) = &state.provider {
                plan.bring(provider, source, dest)?;
            }
        }
        let taken: FxHashSet<&Urn> = dest.resources.iter().map(|state| &state.urn).collect();
        let planned = || chosen(source, selected).map(|(_, state)| state.urn.clone());
        match planned()
            .map(|urn| &plan.renames[&urn])
            .find(|urn| taken.contains(urn))
        {
            Some(taken) => Err(MoveError::Taken {
                taken: taken.clone(),
                planned: planned().collect(),
            }),
            None => Ok(plan),
        }
    }

    /// URN of a resource in the other stack.
    fn name(&self, state: &ResourceState) -> Urn {
        let parent = state.parent.as_ref().and_then(|urn| self.renames.get(urn));
        let parent_type = parent.map_or("", Urn::qualified_type);
        let (stack, project) = (self.root.stack(), self.root.project());
        Urn::new(
            stack,
            project,
            parent_type,
            state.urn.type_text(),
            state.urn.name(),
        )
    }

    /// Ensures that the other stack will have the provider of a moved resource.
    fn bring(
        &mut self,
        provider: &ProviderRef,
        source: &Snapshot,
        dest: &Snapshot,
    ) -> Result<(), MoveError> {
        if self.providers.contains_key(provider) {
            return Ok(());
        }
        let mut states = source.resources.iter();
        let Some(state) = states.find(|state| state.as_provider_ref().as_ref() == Some(provider))
        else {
            return Ok(());
        };
        let urn = self.name(state);
        let there = dest.resources.iter().find(|it| it.urn == urn && !it.delete);
        let reference = match there {
            Some(there) if there.id != state.id && there.inputs != state.inputs => {
                return Err(MoveError::OtherProvider { urn });
            }
            Some(there) => ProviderRef::new(urn, there.id.as_str()),
            None => {
                let mut copy = ResourceState::clone(state);
                copy.drop_references(|_| true);
                copy.urn = urn.clone();
                let parent = state.parent.as_ref().and_then(|urn| self.renames.get(urn));
                copy.parent = Some(parent.unwrap_or(&self.root).clone());
                self.copies.push(Arc::new(copy));
                self.copied.push(state.urn.clone());
                ProviderRef::new(urn, state.id.as_str())
            }
        };
        self.providers.insert(provider.clone(), reference);
        Ok(())
    }

    fn report(&self, source: &Snapshot, selected: &FxHashSet<usize>) -> Moved {
        let renamed =
            |state: &Arc<ResourceState>| (state.urn.clone(), self.renames[&state.urn].clone());
        let mut moved = Moved {
            resources: chosen(source, selected)
                .map(|(_, state)| renamed(state))
                .collect(),
            providers: self.copied.clone(),
            ..Moved::default()
        };
        let stays = |urn: &Urn| !self.renames.contains_key(urn);
        for (at, state) in source.resources.iter().enumerate() {
            if !selected.contains(&at) {
                moved.broken_behind.extend(broken(state, |urn| !stays(urn)));
            }
            if self.copied.contains(&state.urn) {
                moved.broken_ahead.extend(broken(state, stays));
            }
        }
        for (_, state) in chosen(source, selected) {
            moved.broken_ahead.extend(broken(state, stays));
        }
        moved
    }

    /// Copy of a resource for the other stack.
    fn arrive(&self, source: &mut Snapshot, state: &Arc<ResourceState>) -> ResourceState {
        let key = (state.urn.clone(), state.id.as_str().into());
        // Drop unknown members, because they may contain URNs of the former stack.
        source.unknown.resources.remove(&key);
        let mut state = ResourceState::clone(state);
        let parent = state.parent.take();
        state.drop_references(|urn| !self.renames.contains_key(urn));
        let parent = parent.and_then(|urn| self.renames.get(&urn));
        state.parent = Some(parent.unwrap_or(&self.root).clone());
        if let Some(provider) = state.provider.as_mut()
            && let Some(there) = self.providers.get(provider)
        {
            *provider = there.clone();
        }
        rename_state(&mut state, &mut |urn| self.renames.get(urn).cloned());
        state
    }
}

/// Refuses to move resources with pending operations.
fn refuse_pending(source: &Snapshot, selected: &FxHashSet<usize>) -> Result<(), MoveError> {
    let is_open = |urn: &Urn| {
        source
            .pending_operations
            .iter()
            .any(|it| it.resource.urn == *urn)
    };
    match chosen(source, selected).find(|(_, state)| is_open(&state.urn)) {
        Some((_, state)) => Err(MoveError::Pending {
            urn: state.urn.clone(),
        }),
        None => Ok(()),
    }
}

fn chosen<'s>(
    source: &'s Snapshot,
    selected: &FxHashSet<usize>,
) -> impl Iterator<Item = (usize, &'s Arc<ResourceState>)> {
    let all = source.resources.iter().enumerate();
    all.filter(|(at, _)| selected.contains(at))
}

/// Dependencies of `state` on resources that are now `elsewhere`, except its parent and its provider.
fn broken(state: &ResourceState, elsewhere: impl Fn(&Urn) -> bool) -> Vec<Broken> {
    let plain = state
        .dependencies
        .iter()
        .map(|urn| (BrokenKind::Dependency, urn));
    let properties = state.property_dependencies.iter().flat_map(|(key, urns)| {
        let kind = BrokenKind::Property(key.clone());
        urns.iter().map(move |urn| (kind.clone(), urn))
    });
    let deleted = state
        .deleted_with
        .iter()
        .map(|urn| (BrokenKind::DeletedWith, urn));
    let replaced = state
        .replace_with
        .iter()
        .map(|urn| (BrokenKind::ReplaceWith, urn));
    plain
        .chain(properties)
        .chain(deleted)
        .chain(replaced)
        .filter(|(_, urn)| elsewhere(urn))
        .map(|(kind, urn)| Broken {
            resource: state.urn.clone(),
            kind,
            dependency: urn.clone(),
        })
        .collect()
}

/// The resource without references to URNs that are `gone`, and without property dependencies that become empty.
fn without(mut state: Arc<ResourceState>, gone: impl Fn(&Urn) -> bool) -> Arc<ResourceState> {
    drop_empty_dependencies(&mut state);
    if state.references().any(&gone) {
        Arc::make_mut(&mut state).drop_references(gone);
    }
    state
}

/// Adds a root stack resource if there is none.
fn add_root(dest: &mut Snapshot, root: &Urn) {
    if !dest.resources.iter().any(|state| state.urn == *root) {
        let state = ResourceState::new(root.clone(), ResourceKind::Component);
        dest.resources.insert(0, Arc::new(state));
    }
}
