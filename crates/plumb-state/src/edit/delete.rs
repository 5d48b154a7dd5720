//! Deletion of resources from a snapshot, not from the world.

use std::sync::Arc;

use plumb_resource::{ProviderRef, ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Editable;

/// What to do with what stands in the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// What to do about protection.
    pub protected: Protected,
    /// What to do about resources that need the one to delete.
    pub dependents: Dependents,
}

/// What to do about protection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protected {
    /// Refuse.
    #[default]
    Refuse,
    /// Delete all the same.
    Delete,
}

/// What to do about resources that need the one to delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dependents {
    /// Refuse.
    #[default]
    Refuse,
    /// Delete them too.
    Delete,
}

/// What was deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Deleted {
    /// The resources, in the order in which they stood.
    pub resources: Vec<Arc<ResourceState>>,
}

impl Deleted {
    /// Those that were protected.
    pub fn protected(&self) -> impl DoubleEndedIterator<Item = &Arc<ResourceState>> {
        self.resources.iter().filter(|state| state.protect)
    }
}

/// Why nothing was deleted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeleteError {
    /// Others need the resource.
    #[error("{urn} can't be safely deleted because other resources depend on it")]
    HasDependents {
        /// The resource.
        urn: Urn,
        /// Those that need it, directly or not, in the order in which they stand.
        dependents: Vec<Urn>,
    },
    /// The resource, or one that would go with it, is protected.
    #[error(
        "{urn} can't be safely deleted because it is protected. Re-run this command with --force to force deletion"
    )]
    Protected {
        /// The resource.
        urn: Urn,
    },
}

/// Deletes the resource at `index`, where [`super::locate`] found it.
pub fn delete(
    snapshot: &mut impl Editable,
    index: usize,
    options: DeleteOptions,
) -> Result<Deleted, DeleteError> {
    let resources = &mut snapshot.snapshot_mut().resources;
    let target = &resources[index];
    if target.protect && options.protected == Protected::Refuse {
        return Err(DeleteError::Protected {
            urn: target.urn.clone(),
        });
    }
    let dependents = dependent_indices(resources, index);
    if options.dependents == Dependents::Refuse && !dependents.is_empty() {
        let dependents = dependents
            .iter()
            .map(|at| resources[*at].urn.clone())
            .collect();
        return Err(DeleteError::HasDependents {
            urn: target.urn.clone(),
            dependents,
        });
    }
    if options.protected == Protected::Refuse
        && let Some(at) = dependents.iter().find(|at| resources[**at].protect)
    {
        return Err(DeleteError::Protected {
            urn: resources[*at].urn.clone(),
        });
    }
    let doomed: FxHashSet<usize> = dependents.into_iter().chain([index]).collect();
    let mut deleted = Vec::with_capacity(doomed.len());
    let mut kept = Vec::with_capacity(resources.len());
    for (at, state) in std::mem::take(resources).into_iter().enumerate() {
        if doomed.contains(&at) {
            deleted.push(state);
        } else {
            kept.push(state);
        }
    }
    *resources = kept;
    Ok(Deleted { resources: deleted })
}

/// Deletes every resource.
pub fn delete_all(
    snapshot: &mut impl Editable,
    protected: Protected,
) -> Result<Deleted, DeleteError> {
    let resources = &mut snapshot.snapshot_mut().resources;
    if protected == Protected::Refuse
        && let Some(state) = resources.iter().rfind(|state| state.protect)
    {
        return Err(DeleteError::Protected {
            urn: state.urn.clone(),
        });
    }
    Ok(Deleted {
        resources: std::mem::take(resources),
    })
}

/// Resources that need the one at `index`, directly or not, in the order in which they stand.
pub fn dependents_of(snapshot: &impl Editable, index: usize) -> Vec<Urn> {
    let resources = &snapshot.snapshot().resources;
    dependent_indices(resources, index)
        .into_iter()
        .map(|at| resources[at].urn.clone())
        .collect()
}

fn dependent_indices(resources: &[Arc<ResourceState>], index: usize) -> Vec<usize> {
    let mut present = Present::new(resources);
    present.remove(&resources[index]);
    let mut dependents = Vec::new();
    for (at, state) in resources.iter().enumerate().skip(index + 1) {
        if !present.serves(state) {
            present.remove(state);
            dependents.push(at);
        }
    }
    dependents
}

/// How many copies there are under each name. While there is one, those who refer to the name are served.
struct Present<'a> {
    urns: FxHashMap<&'a Urn, usize>,
    providers: FxHashMap<ProviderRef, usize>,
}

impl<'a> Present<'a> {
    fn new(resources: &'a [Arc<ResourceState>]) -> Self {
        let mut present = Present {
            urns: FxHashMap::default(),
            providers: FxHashMap::default(),
        };
        for state in resources {
            *present.urns.entry(&state.urn).or_default() += 1;
            if let Some(provider) = state.as_provider_ref() {
                *present.providers.entry(provider).or_default() += 1;
            }
        }
        present
    }

    fn remove(&mut self, state: &ResourceState) {
        if let Some(copies) = self.urns.get_mut(&state.urn) {
            *copies -= 1;
        }
        if let Some(copies) = state
            .as_provider_ref()
            .and_then(|provider| self.providers.get_mut(&provider))
        {
            *copies -= 1;
        }
    }

    /// Whether nothing that `state` refers to was removed. What was never there does not count.
    fn serves(&self, state: &ResourceState) -> bool {
        let is_gone = |copies: Option<&usize>| copies == Some(&0);
        let has_provider = state
            .provider
            .as_ref()
            .is_none_or(|provider| !is_gone(self.providers.get(provider)));
        has_provider && !state.references().any(|urn| is_gone(self.urns.get(urn)))
    }
}
