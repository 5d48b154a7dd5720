//! Scope: which resources a run may touch.
//!
//! [`targeting`] decides by the patterns of `--target` and `--exclude` what a run leaves
//! alone, and makes the same steps that such resources need to stay in the state. [`circles`] refuses a selection whose old
//! and new states would refer to each other in a circle. [`snippets`] are the small programs of a state, which run beside the
//! program and can be selected like targets; [`replies`] lets them hear of what the program registers. [`present`] knows which
//! states are still there, and in which order they may go.

pub(crate) mod circles;
pub(crate) mod present;
pub(crate) mod replies;
pub(crate) mod snippets;
pub(crate) mod targeting;
