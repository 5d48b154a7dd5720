//! Generative tests of the deployment core: random histories of operations, a simulated cloud, and a model.
//!
//! 1. [`generate`] creates a [`story`]: operations on one stack, with programs, options, faults and external changes.
//! 2. [`world`] runs the core on an operation, with events in an order that a seed picks among the legal ones.
//! 3. [`model`] follows the run and predicts each decision and step; [`checks`] verifies invariants independent of the
//!    model. If a preview can show what its update does, the update must follow the plan of the preview ([`plans`]); if
//!    nothing is left to do, a second run must do nothing (`settled`). The behaviours reached are counted
//!    ([`coverage`]).
//! 4. [`simulate`] does this for many stories, and [`shrink`]s a failed one to a few lines that can be pasted as a test
//!    ([`found`]).
//!
//! Stories start from an empty stack, or from the state of a real stack ([`origin`]).
//!
//! This crate is only for tests. It uses only the public API of `plumb-deploy`, and no processes or files.

pub mod checks;
pub mod cloud;
pub mod coverage;
pub mod dice;
pub mod differential;
pub mod found;
pub mod generate;
pub mod model;
mod observed;
pub mod origin;
pub mod plans;
mod settled;
pub mod shrink;
pub mod simulate;
pub mod story;
mod text;
pub mod world;

pub use text::StoryError;
