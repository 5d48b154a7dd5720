//! Dependencies of a value, and how they are sent to the engine.
//!
//! The set holds resources as the program knows them. The engine wants URNs of resources that it can order, so a component
//! of this program stands for everything that it has made:
//!
//! 1. a custom resource, a remote component and a resource known by its URN stand for themselves;
//! 2. a component of this program stands for its children, and for theirs, after its constructor has returned;
//! 3. the resource that is being registered never waits for itself.

use std::collections::{BTreeMap, BTreeSet};

use super::{Handle, Kind};
use crate::Error;

/// A set of resources, in the order of their creation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependencies(BTreeMap<u64, Handle>);

impl Dependencies {
    pub(crate) fn insert(&mut self, handle: Handle) {
        self.0.insert(handle.serial(), handle);
    }

    pub(crate) fn extend(&mut self, other: &Dependencies) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
        } else {
            let others = other.0.iter();
            self.0
                .extend(others.map(|(serial, it)| (*serial, it.clone())));
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Handle> {
        self.0.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The resources that the engine can order, for the dependencies of `owner`.
    pub(crate) async fn resources(&self, owner: Option<&Handle>) -> Result<Vec<Handle>, Error> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<Handle> = self.0.values().rev().cloned().collect();
        while let Some(handle) = open.pop() {
            if !seen.insert(handle.serial()) || owner == Some(&handle) {
                continue;
            }
            if handle.0.kind != Kind::Component {
                found.push(handle);
                continue;
            }
            if let Some(owner) = owner.filter(|owner| owner.is_below(&handle)) {
                return Err(Error::at(
                    format!(
                        "{} depends on {}, which it is a part of",
                        owner.label(),
                        handle.label()
                    ),
                    owner.0.location,
                ));
            }
            open.extend(handle.built_children().await);
        }
        Ok(found)
    }

    /// The URNs that the engine gets for the dependencies of `owner`.
    pub(crate) async fn expand(&self, owner: Option<&Handle>) -> Result<BTreeSet<String>, Error> {
        let mut urns = BTreeSet::new();
        for handle in self.resources(owner).await? {
            urns.insert(handle.registered_urn().await?);
        }
        Ok(urns)
    }
}

impl FromIterator<Handle> for Dependencies {
    fn from_iter<I: IntoIterator<Item = Handle>>(handles: I) -> Self {
        let handles = handles.into_iter();
        Dependencies(handles.map(|it| (it.serial(), it)).collect())
    }
}
