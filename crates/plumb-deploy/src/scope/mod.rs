//! Scope: which resources a run may touch.
//!
//! [`target`] matches URNs with the patterns of `--target` and `--exclude`; [`targeting`] decides with them what a run leaves
//! alone, and makes the same steps that such resources need to stay in the state. [`circles`] refuses a selection whose old
//! and new states would refer to each other in a circle. [`snippets`] are the small programs of a state, which run beside the
//! program and can be selected like targets.

pub(crate) mod circles;
pub mod snippets;
pub mod target;
pub(crate) mod targeting;
