//! What can have happened to a URN so far (`engine.md` 4).

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
    /// Outputs that the program registers for it are not taken: it is left out, or stays as it is.
    KeepsOutputs = 1 << 11,
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks(u16);

impl Marks {
    /// These.
    pub(crate) fn of(marks: &[Mark]) -> Self {
        Marks(marks.iter().fold(0, |all, mark| all | *mark as u16))
    }

    /// Adds `mark`.
    pub(crate) fn add(&mut self, mark: Mark) {
        self.0 |= mark as u16;
    }

    /// Takes `mark` away.
    pub(crate) fn remove(&mut self, mark: Mark) {
        self.0 &= !(mark as u16);
    }

    /// Whether some mark is in both.
    pub(crate) fn intersects(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }
}
