//! What has happened to each URN so far (`engine.md` 4).

use plumb_resource::Urn;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// One thing that can have happened to a URN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Mark {
    /// Registered or read in this run.
    Seen = 1 << 0,
    /// A create step was made.
    Created = 1 << 1,
    /// A same step was made.
    Same = 1 << 2,
    /// An update step was made.
    Updated = 1 << 3,
    /// A replacement was made.
    Replaced = 1 << 4,
    /// A delete was made, at the end or for the replacement of something else.
    Deleted = 1 << 5,
    /// A read step was made.
    Read = 1 << 6,
    /// An import step was made.
    Imported = 1 << 7,
    /// A refresh step was made.
    Refreshed = 1 << 8,
    /// Creation was left out, because the resource is not targeted or the operation creates nothing.
    SkippedCreate = 1 << 9,
    /// Its step failed, or was skipped after a failure (continue-on-error).
    Errored = 1 << 10,
}

/// Marks by URN.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    by_urn: FxHashMap<Urn, u16>,
    /// Every mark that some URN has had. Most runs never set most of them, and need not look at the table for those.
    ever: u16,
}

impl Marks {
    /// For about so many URNs.
    pub(crate) fn with_capacity(urns: usize) -> Self {
        Marks {
            by_urn: FxHashMap::with_capacity_and_hasher(urns, FxBuildHasher),
            ever: 0,
        }
    }

    /// Sets `mark` for `urn`.
    pub(crate) fn set(&mut self, urn: &Urn, mark: Mark) {
        self.ever |= mark as u16;
        match self.by_urn.get_mut(urn) {
            Some(marks) => *marks |= mark as u16,
            None => {
                self.by_urn.insert(urn.clone(), mark as u16);
            }
        }
    }

    /// Takes `mark` back from `urn`.
    pub(crate) fn clear(&mut self, urn: &Urn, mark: Mark) {
        if let Some(marks) = self.by_urn.get_mut(urn) {
            *marks &= !(mark as u16);
        }
    }

    /// Whether `urn` has `mark`.
    pub(crate) fn has(&self, urn: &Urn, mark: Mark) -> bool {
        self.has_any(urn, &[mark])
    }

    /// Whether `urn` has any of `marks`.
    pub(crate) fn has_any(&self, urn: &Urn, marks: &[Mark]) -> bool {
        let wanted = marks.iter().fold(0, |all, mark| all | *mark as u16);
        self.ever & wanted != 0
            && self
                .by_urn
                .get(urn)
                .is_some_and(|marks| marks & wanted != 0)
    }

    /// Whether a step of this run already decides the fate of `urn`, creates and deletes aside.
    pub(crate) fn is_operated_on(&self, urn: &Urn) -> bool {
        self.has_any(
            urn,
            &[
                Mark::Same,
                Mark::Updated,
                Mark::Replaced,
                Mark::Read,
                Mark::Refreshed,
            ],
        )
    }

    /// Whether any step was made for `urn`.
    pub(crate) fn has_step(&self, urn: &Urn) -> bool {
        self.has_any(
            urn,
            &[
                Mark::Created,
                Mark::Same,
                Mark::Updated,
                Mark::Deleted,
                Mark::Replaced,
                Mark::Read,
            ],
        )
    }
}
