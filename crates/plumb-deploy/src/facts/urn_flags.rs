//! Flags of a URN: steps that were planned for it, and how they ended (`engine.md` 4).

/// One flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum UrnFlag {
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
    /// The reply to its registration has no id: it does not exist yet, or was skipped after a failure.
    NoId = 1 << 12,
}

/// A set of flags.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UrnFlags(u16);

impl UrnFlags {
    /// These.
    pub(crate) fn of(flags: &[UrnFlag]) -> Self {
        UrnFlags(flags.iter().fold(0, |all, flag| all | *flag as u16))
    }

    /// Adds `flag`.
    pub(crate) fn add(&mut self, flag: UrnFlag) {
        self.0 |= flag as u16;
    }

    /// Takes `flag` away.
    pub(crate) fn remove(&mut self, flag: UrnFlag) {
        self.0 &= !(flag as u16);
    }

    /// Whether some flag is in both.
    pub(crate) fn intersects(self, other: UrnFlags) -> bool {
        self.0 & other.0 != 0
    }
}
