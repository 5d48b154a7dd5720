//! Changes to the snippets of a state, which a run makes.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use plumb_state::Snippet;

/// Error in the changes to snippets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnippetError {
    /// A snippet is to be stored under another uuid than its own.
    #[error("snippet '{uuid}' cannot be stored as '{key}'")]
    MismatchedUuid {
        /// Where it is to be stored.
        key: EcoString,
        /// Its own.
        uuid: EcoString,
    },
    /// A snippet has no uuid.
    #[error("a snippet needs a uuid")]
    NoUuid,
    /// There is no snippet to remove.
    #[error("cannot remove snippet '{uuid}': it does not exist")]
    Unknown {
        /// The uuid that was given.
        uuid: EcoString,
    },
}

/// Snippets to add, change or remove; they fit to what is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetChanges {
    pub(crate) stored: Vec<Snippet>,
    pub(crate) changed: BTreeSet<EcoString>,
    pub(crate) removed: BTreeSet<EcoString>,
}

impl SnippetChanges {
    /// Checks `changes`, by uuid, against the `current` snippets. Nothing stands for a snippet that is to go.
    pub fn new(
        current: &[Snippet],
        changes: BTreeMap<EcoString, Option<Snippet>>,
    ) -> Result<Self, SnippetError> {
        let mut result = SnippetChanges {
            stored: current.to_vec(),
            changed: BTreeSet::new(),
            removed: BTreeSet::new(),
        };
        for (uuid, change) in changes {
            if uuid.is_empty() {
                return Err(SnippetError::NoUuid);
            }
            let stored = result.stored.iter_mut().find(|it| it.uuid == uuid);
            match (change, stored) {
                (Some(snippet), _) if snippet.uuid != uuid => {
                    return Err(SnippetError::MismatchedUuid {
                        key: uuid,
                        uuid: snippet.uuid,
                    });
                }
                (None, None) => return Err(SnippetError::Unknown { uuid }),
                (None, Some(_)) => {
                    result.removed.insert(uuid);
                    continue;
                }
                (Some(snippet), Some(stored)) => *stored = snippet,
                (Some(snippet), None) => result.stored.push(snippet),
            }
            result.changed.insert(uuid);
        }
        Ok(result)
    }

    /// Snippets that are new or different.
    pub fn changed(&self) -> impl Iterator<Item = &Snippet> {
        self.stored
            .iter()
            .filter(|snippet| self.changed.contains(&snippet.uuid))
    }
}
