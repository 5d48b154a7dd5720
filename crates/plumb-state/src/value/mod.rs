//! Property values in state files (`state.md` 1.6).

mod read;
mod secrets;
mod signature;
mod write;

pub(crate) use read::{WireProperties, WireValue};
pub(crate) use secrets::{
    Step, contains_bytes, needs_sealing, plaintext_of, rebuild, value_of_plaintext,
};
pub(crate) use signature::SECRET;
pub(crate) use write::{Secrets, write_properties, write_value};

/// Runs `work` with enough stack for another level of nesting.
pub(crate) fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, work)
}
