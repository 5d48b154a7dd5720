//! Deletion of resources from a snapshot. The objects behind them are not deleted.

use std::sync::Arc;

use plumb_resource::{ProviderRef, ResourceState, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Editable;

/// Treatment of protected resources and of dependents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Treatment of protected resources.
    pub protected: Protected,
    /// Treatment of dependents.
    pub dependents: Dependents,
}

/// Treatment of protected resources in a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protected {
    /// Refuse the deletion.
    #[default]
    Refuse,
    /// Delete protected resources too.
    Delete,
}

/// Treatment of resources that depend on the one to delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dependents {
    /// Refuse the deletion.
    #[default]
    Refuse,
    /// Delete dependents too.
    Delete,
}

/// Result of a deletion.
#[derive(Clone, Debug, PartialEq)]
pub struct Deleted {
    /// Deleted resources, in the order of the snapshot.
    pub resources: Vec<Arc<ResourceState>>,
}

impl Deleted {
    /// Deleted resources that were protected.
    pub fn protected(&self) -> impl DoubleEndedIterator<Item = &Arc<ResourceState>> {
        self.resources.iter().filter(|state| state.protect)
    }
}

/// Reason why nothing was deleted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeleteError {
    /// Other resources depend on the resource.
    #[error("{urn} can't be safely deleted because other resources depend on it")]
    HasDependents {
        /// The resource.
        urn: Urn,
        /// Direct and indirect dependents, in the order of the snapshot.
        dependents: Vec<Urn>,
    },
    /// The resource, or a dependent to be deleted with it, is protected.
    #[error(
        "{urn} can't be safely deleted because it is protected. Re-run this command with --force to force deletion"
    )]
    Protected {
        /// The protected resource.
        urn: Urn,
    },
}

/// Deletes the resource at `index`, as returned by [`super::locate`].
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

/// Direct and indirect dependents of the resource at `index`, in the order of the snapshot.
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

/// Number of copies per URN. A reference is satisfied as long as one copy remains.
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

    /// Whether no reference of `state` points to a removed resource. References that were dangling before do not count.
    fn serves(&self, state: &ResourceState) -> bool {
        let is_gone = |copies: Option<&usize>| copies == Some(&0);
        let has_provider = state
            .provider
            .as_ref()
            .is_none_or(|provider| !is_gone(self.providers.get(provider)));
        has_provider && !state.references().any(|urn| is_gone(self.urns.get(urn)))
    }
}
