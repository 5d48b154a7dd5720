//! Moving resources from one stack to another.
//!
//! 1. The named resources are selected; if wanted, those above them; and everything that is below one of these.
//! 2. Each gets the URN that it has in the other stack; what loses its parent comes below the root of that stack.
//! 3. The providers of the selected are copied, unless the other stack has the same ones.
//! 4. Dependencies between what goes and what stays are dropped, and told.
//!
//! Everything that is refused is refused before anything is changed.

use std::sync::Arc;

use plumb_resource::{ProviderRef, ResourceKind, ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use super::StackIdentity;
use super::rename::rename_state;
use crate::Snapshot;

/// Whether what is above the named resources moves with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parents {
    /// It stays.
    #[default]
    Stay,
    /// It moves.
    Move,
}

/// A dependency between a resource that moved and one that did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Who depended; under its former URN.
    pub resource: Urn,
    /// On whom.
    pub dependency: Urn,
}

/// What a move did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Former and present URN of each resource, in the order in which they stand.
    pub resources: Vec<(Urn, Urn)>,
    /// Providers that were copied, by their former URNs.
    pub providers: Vec<Urn>,
    /// Dependencies of what stayed on what moved.
    pub broken_behind: Vec<Broken>,
    /// Dependencies of what moved on what stayed.
    pub broken_ahead: Vec<Broken>,
}

/// Why nothing was moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// There is no such resource.
    #[error("No such resource \"{urn}\" exists in the current state")]
    NotFound {
        /// What was looked for.
        urn: Urn,
    },
    /// Providers follow the resources that use them.
    #[error(
        "cannot move providers. Only resources can be moved, and providers will be included automatically"
    )]
    Provider,
    /// The root belongs to its stack.
    #[error(
        "cannot move the root stack resource; rename the stack instead, with `plumb stack rename`"
    )]
    RootStack,
    /// The other stack has a resource of this name.
    #[error("cannot move {urn}: the destination stack has a resource with the URN {taken}")]
    Taken {
        /// The resource.
        urn: Urn,
        /// What it would be called.
        taken: Urn,
    },
    /// The other stack has a provider of the same name that is configured differently.
    #[error("provider {urn} already exists in the destination stack with different inputs")]
    OtherProvider {
        /// The provider.
        urn: Urn,
    },
    /// Something that stays needs a provider that would go.
    #[error("cannot move {urn}: {user} stays, and uses it as its provider")]
    ProviderInUse {
        /// The provider.
        urn: Urn,
        /// Who uses it.
        user: Urn,
    },
    /// A resource is in the middle of something.
    #[error(
        "cannot move {urn}: an operation on it was interrupted; settle it with `plumb refresh` first"
    )]
    Pending {
        /// The resource.
        urn: Urn,
    },
    /// A snippet of the stack registers the resource.
    #[error("cannot move {urn}: a snippet of its stack registers it")]
    OfSnippet {
        /// The resource.
        urn: Urn,
    },
}

/// Moves the resources called `urns`, and what is below them, from `source` to `dest`, which is the stack `to`.
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
    let moved = plan.told(source, &selected);
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

/// Places of what moves. What is about to be deleted stays with the stack that deletes it.
fn select(
    source: &Snapshot,
    urns: &[Urn],
    parents: Parents,
) -> Result<FxHashSet<usize>, MoveError> {
    let live = || {
        source
            .resources
            .iter()
            .enumerate()
            .filter(|(_, state)| !state.delete)
    };
    let places: FxHashMap<&Urn, usize> = live().map(|(at, state)| (&state.urn, at)).collect();
    let mut selected = FxHashSet::default();
    for urn in urns {
        let Some(&at) = places.get(urn) else {
            return Err(MoveError::NotFound { urn: urn.clone() });
        };
        match source.resources[at].kind {
            ResourceKind::Provider => return Err(MoveError::Provider),
            _ if urn.is_root_stack() => return Err(MoveError::RootStack),
            _ => {}
        }
        let mut next = Some(at).filter(|at| selected.insert(*at));
        while let (Some(at), Parents::Move) = (next, parents) {
            let parent = source.resources[at].parent.as_ref();
            next = parent
                .filter(|urn| !urn.is_root_stack())
                .and_then(|urn| places.get(urn).copied())
                .filter(|at| selected.insert(*at));
        }
    }
    // Parents stand before their children.
    for (at, state) in live() {
        let parent = state.parent.as_ref().and_then(|urn| places.get(urn));
        if parent.is_some_and(|parent| selected.contains(parent)) {
            selected.insert(at);
        }
    }
    Ok(selected)
}

struct Plan {
    /// Former and present URNs of what moves, of providers that are used there instead, and of the root.
    renames: FxHashMap<Urn, Urn>,
    /// What the references of what moves become.
    providers: FxHashMap<ProviderRef, ProviderRef>,
    /// Providers to add, under their new URNs.
    copies: Vec<Arc<ResourceState>>,
    /// The same under their former URNs.
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
        let taken: FxHashSet<&Urn> = dest.resources.iter().map(|state| &state.urn).collect();
        for (_, state) in chosen(source, selected) {
            let urn = plan.name(state);
            if taken.contains(&urn) {
                let (urn, taken) = (state.urn.clone(), urn);
                return Err(MoveError::Taken { urn, taken });
            }
            if state.snippet_id.is_some() {
                return Err(MoveError::OfSnippet {
                    urn: state.urn.clone(),
                });
            }
            plan.renames.insert(state.urn.clone(), urn);
        }
        for (_, state) in chosen(source, selected) {
            if let Some(provider) = &state.provider {
                plan.bring(provider, source, dest)?;
            }
        }
        let mut staying = source.resources.iter().enumerate();
        let user = staying.find(|(at, state)| {
            let provider = state.provider.as_ref().map(ProviderRef::urn);
            !selected.contains(at) && provider.is_some_and(|urn| plan.renames.contains_key(urn))
        });
        match user {
            Some((_, state)) => Err(MoveError::ProviderInUse {
                urn: state
                    .provider
                    .as_ref()
                    .map_or_else(|| root.clone(), |it| it.urn().clone()),
                user: state.urn.clone(),
            }),
            None => Ok(plan),
        }
    }

    /// What a resource is called there.
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

    /// Makes sure that there will be the provider of something that moves.
    fn bring(
        &mut self,
        provider: &ProviderRef,
        source: &Snapshot,
        dest: &Snapshot,
    ) -> Result<(), MoveError> {
        let is_known = self.providers.contains_key(provider);
        if is_known || self.renames.contains_key(provider.urn()) {
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
            Some(there) if there.inputs != state.inputs => {
                return Err(MoveError::OtherProvider { urn });
            }
            Some(there) => ProviderRef::new(urn, there.id.as_str()),
            None => {
                let mut copy = ResourceState::clone(state);
                copy.drop_references(|_| true);
                copy.urn = urn.clone();
                copy.parent = Some(self.root.clone()).filter(|_| state.parent.is_some());
                self.copies.push(Arc::new(copy));
                self.copied.push(state.urn.clone());
                ProviderRef::new(urn, state.id.as_str())
            }
        };
        self.providers.insert(provider.clone(), reference);
        Ok(())
    }

    fn told(&self, source: &Snapshot, selected: &FxHashSet<usize>) -> Moved {
        let mut moved = Moved {
            providers: self.copied.clone(),
            ..Moved::default()
        };
        for (at, state) in source.resources.iter().enumerate() {
            let goes = selected.contains(&at);
            if goes {
                moved
                    .resources
                    .push((state.urn.clone(), self.renames[&state.urn].clone()));
            }
            let mut seen = FxHashSet::default();
            let parent = state.parent.as_ref();
            let references = state.references().filter(|urn| Some(*urn) != parent);
            for urn in references.filter(|urn| self.renames.contains_key(urn) != goes) {
                if urn.is_root_stack() || !seen.insert(urn) {
                    continue;
                }
                let list = if goes {
                    &mut moved.broken_ahead
                } else {
                    &mut moved.broken_behind
                };
                list.push(Broken {
                    resource: state.urn.clone(),
                    dependency: urn.clone(),
                });
            }
        }
        moved
    }

    /// A resource as it is in the other stack.
    fn arrive(&self, source: &mut Snapshot, state: &Arc<ResourceState>) -> ResourceState {
        let key = (state.urn.clone(), state.id.as_str().into());
        // Members that this version does not know stay with nobody: they may hold names of the former stack.
        source.unknown.resources.remove(&key);
        let mut state = ResourceState::clone(state);
        let parent = state.parent.take();
        state.drop_references(|urn| !self.renames.contains_key(urn));
        state.parent = parent.map(|urn| self.renames.get(&urn).unwrap_or(&self.root).clone());
        if let Some(provider) = state.provider.as_mut()
            && let Some(there) = self.providers.get(provider)
        {
            *provider = there.clone();
        }
        rename_state(&mut state, &mut |urn| self.renames.get(urn).cloned());
        state
    }
}

/// Refuses to move what an interrupted operation has left open.
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

/// The resource without references to what is gone.
fn without(mut state: Arc<ResourceState>, gone: impl Fn(&Urn) -> bool) -> Arc<ResourceState> {
    if state.references().any(&gone) {
        Arc::make_mut(&mut state).drop_references(gone);
    }
    state
}

/// The root, for a stack that has none yet.
fn add_root(dest: &mut Snapshot, root: &Urn) {
    if !dest.resources.iter().any(|state| state.urn == *root) {
        let state = ResourceState::new(root.clone(), ResourceKind::Component);
        dest.resources.insert(0, Arc::new(state));
    }
}
