//! Integrity check of snapshots (`state.md` 2.1).
//!
//! References point backwards: each resource comes after those that it refers to. At most one entry per URN is live;
//! the others wait for deletion.

mod repair;

use std::fmt;

use ecow::EcoString;
use plumb_resource::{ProviderRef, ResourceKind, ResourceState, Urn};
use plumb_value::PropertyKey;
use rustc_hash::FxHashSet;

use crate::{Snapshot, magic_of};

pub(crate) use repair::restore_order;
pub use repair::{CycleError, DroppedReference, Pruned, Repaired, repair};

/// First integrity error of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntegrityError {
    /// The manifest's digest does not match its version.
    #[error("magic cookie mismatch; possible tampering/corruption detected")]
    Magic,
    /// A resource has no type.
    #[error("resource {urn} missing required 'type' field")]
    MissingType {
        /// The resource.
        urn: Urn,
    },
    /// A component has an id.
    #[error("resource {urn} has 'custom' false but non-empty ID")]
    IdOnComponent {
        /// The resource.
        urn: Urn,
    },
    /// The provider of a resource is missing or comes later.
    #[error("resource {urn} refers to unknown provider {provider}")]
    UnknownProvider {
        /// The resource.
        urn: Urn,
        /// Its provider.
        provider: ProviderRef,
    },
    /// A reference points to a later or missing resource.
    #[error("{}", reference_text(urn, kind, target, *fault))]
    Reference {
        /// The resource.
        urn: Urn,
        /// Kind of reference.
        kind: ReferenceKind,
        /// Target of the reference.
        target: Urn,
        /// Fault of the reference.
        fault: ReferenceFault,
    },
    /// Two live resources have the same URN.
    #[error("duplicate resource {urn} (not marked for deletion)")]
    Duplicate {
        /// The URN.
        urn: Urn,
    },
    /// A snippet has no UUID.
    #[error("snippet {name} is missing required 'uuid' field")]
    SnippetWithoutUuid {
        /// Name of the snippet.
        name: EcoString,
    },
    /// Two snippets have the same UUID.
    #[error("duplicate snippet {uuid}")]
    DuplicateSnippet {
        /// The UUID.
        uuid: EcoString,
    },
}

/// Kinds of references between resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// Parent.
    Parent,
    /// Dependency.
    Dependency,
    /// Dependency of this property.
    PropertyDependency(PropertyKey),
    /// Option `deletedWith`.
    DeletedWith,
    /// Option `replaceWith`.
    ReplaceWith,
}

impl fmt::Display for ReferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReferenceKind::Parent => f.write_str("parent"),
            ReferenceKind::Dependency => f.write_str("dependency"),
            ReferenceKind::PropertyDependency(key) => write!(f, "dependency of property {key}"),
            ReferenceKind::DeletedWith => f.write_str("deletedWith"),
            ReferenceKind::ReplaceWith => f.write_str("replaceWith"),
        }
    }
}

/// Fault of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceFault {
    /// The target comes after the resource.
    After,
    /// The target is not in the snapshot.
    Missing,
}

fn reference_text(urn: &Urn, kind: &ReferenceKind, target: &Urn, fault: ReferenceFault) -> String {
    use ReferenceFault::{After, Missing};
    match (kind, fault) {
        (ReferenceKind::Parent, After) => {
            format!("child resource {urn}'s parent {target} comes after it")
        }
        (ReferenceKind::Parent, Missing) => {
            format!("child resource {urn} refers to missing parent {target}")
        }
        (ReferenceKind::Dependency, After) => {
            format!("resource {urn}'s dependency {target} comes after it")
        }
        (ReferenceKind::Dependency, Missing) => {
            format!("resource {urn}'s dependency {target} refers to missing resource")
        }
        (ReferenceKind::PropertyDependency(key), After) => {
            format!(
                "resource {urn}'s property dependency {target} (from property {key}) comes after it"
            )
        }
        (ReferenceKind::PropertyDependency(key), Missing) => {
            format!(
                "resource {urn}'s property dependency {target} (from property {key}) refers to missing resource"
            )
        }
        (ReferenceKind::DeletedWith, After) => {
            format!(
                "resource {urn} is specified as being deleted with {target}, which comes after it"
            )
        }
        (ReferenceKind::DeletedWith, Missing) => {
            format!("resource {urn} is specified as being deleted with {target}, which is missing")
        }
        (ReferenceKind::ReplaceWith, After) => {
            format!(
                "resource {urn} is specified as being replaced with {target}, which comes after it"
            )
        }
        (ReferenceKind::ReplaceWith, Missing) => {
            format!("resource {urn} is specified as being replaced with {target}, which is missing")
        }
    }
}

impl Snapshot {
    /// Runs all checks; returns the first error in file order.
    pub fn verify(&self) -> Result<(), IntegrityError> {
        if self.manifest.magic != magic_of(&self.manifest.version) {
            return Err(IntegrityError::Magic);
        }
        self.verify_references()?;
        self.verify_unique()?;
        self.verify_snippets()
    }

    fn verify_references(&self) -> Result<(), IntegrityError> {
        let mut seen: FxHashSet<&Urn> = FxHashSet::default();
        let mut providers: FxHashSet<ProviderRef> = FxHashSet::default();
        for (index, state) in self.resources.iter().enumerate() {
            let urn = &state.urn;
            if state.type_token.as_str().is_empty() {
                return Err(IntegrityError::MissingType { urn: urn.clone() });
            }
            if state.kind == ResourceKind::Component && !state.id.as_str().is_empty() {
                return Err(IntegrityError::IdOnComponent { urn: urn.clone() });
            }
            providers.extend(state.as_provider_ref());
            if let Some(provider) = &state.provider
                && !state.pending_replacement
                && !providers.contains(provider)
            {
                return Err(IntegrityError::UnknownProvider {
                    urn: urn.clone(),
                    provider: provider.clone(),
                });
            }
            if let Some((kind, target)) = edges(state).find(|(_, target)| !seen.contains(target)) {
                let fault = self.fault_of(index, target);
                return Err(IntegrityError::Reference {
                    urn: urn.clone(),
                    kind,
                    target: target.clone(),
                    fault,
                });
            }
            seen.insert(urn);
        }
        Ok(())
    }

    fn fault_of(&self, index: usize, target: &Urn) -> ReferenceFault {
        let is_later = self.resources[index + 1..]
            .iter()
            .any(|state| state.urn == *target);
        if is_later {
            ReferenceFault::After
        } else {
            ReferenceFault::Missing
        }
    }

    fn verify_unique(&self) -> Result<(), IntegrityError> {
        let mut live: FxHashSet<&Urn> = FxHashSet::default();
        let duplicate = self
            .resources
            .iter()
            .filter(|state| !state.delete)
            .find(|state| !live.insert(&state.urn));
        duplicate.map_or(Ok(()), |state| {
            Err(IntegrityError::Duplicate {
                urn: state.urn.clone(),
            })
        })
    }

    fn verify_snippets(&self) -> Result<(), IntegrityError> {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for snippet in &self.snippets {
            if snippet.uuid.is_empty() {
                return Err(IntegrityError::SnippetWithoutUuid {
                    name: snippet.name.clone(),
                });
            }
            if !seen.insert(&snippet.uuid) {
                return Err(IntegrityError::DuplicateSnippet {
                    uuid: snippet.uuid.clone(),
                });
            }
        }
        Ok(())
    }
}

/// References of a resource with their kinds, except the provider, in the order of the check.
pub(crate) fn edges(state: &ResourceState) -> impl Iterator<Item = (ReferenceKind, &Urn)> {
    let parent = state.parent.iter().map(|urn| (ReferenceKind::Parent, urn));
    let dependencies = state
        .dependencies
        .iter()
        .map(|urn| (ReferenceKind::Dependency, urn));
    let property_dependencies = state.property_dependencies.iter().flat_map(|(key, urns)| {
        urns.iter()
            .map(|urn| (ReferenceKind::PropertyDependency(key.clone()), urn))
    });
    let deleted_with = state
        .deleted_with
        .iter()
        .map(|urn| (ReferenceKind::DeletedWith, urn));
    let replace_with = state
        .replace_with
        .iter()
        .map(|urn| (ReferenceKind::ReplaceWith, urn));
    parent
        .chain(dependencies)
        .chain(property_dependencies)
        .chain(deleted_with)
        .chain(replace_with)
}
