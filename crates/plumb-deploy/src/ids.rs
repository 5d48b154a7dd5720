//! Names of requests, calls, providers, packs, registrations and chains, and the fence of a journal entry.

use std::num::NonZeroU64;

/// Names a request of a program; chosen by the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Names a call; chosen by the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// Names a running provider; chosen by the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(pub u32);

/// Names a policy pack, by its place among those of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PackId(pub u32);

/// Index of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RegIdx(pub(crate) u32);

/// Index of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChainIdx(pub(crate) u32);

/// The journal entry that must be durable before an effect may happen, if there is one.
///
/// Entries are numbered from 1 in the order of their emission. Of two fences the later one is the greater, so the maximum of
/// several fences covers all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(Option<NonZeroU64>);

impl Fence {
    /// Nothing to wait for.
    pub const NONE: Fence = Fence(None);

    /// A fence behind the first `entries` journal entries.
    pub const fn behind(entries: u64) -> Self {
        Fence(NonZeroU64::new(entries))
    }

    /// Number of entries that must be durable first.
    pub const fn entries(self) -> u64 {
        match self.0 {
            Some(number) => number.get(),
            None => 0,
        }
    }
}
