//! Proof of the deployment core by generation: histories of operations, a pretend cloud, a model of what must happen.
//!
//! 1. [`generate`] makes a [`story`]: operations on one stack, with programs, options, faults and what happens between.
//! 2. [`world`] drives the core through an operation, in an order that a seed picks among all that are legal.
//! 3. [`model`] follows it and says what each decision and step must be; [`checks`] says what must hold whatever it does.
//!    Where a preview shows what its update does, the update must keep to the plan of the preview ([`plans`]); where nothing
//!    is left to do, a second run must find nothing (`settled`).
//!    What runs were about is counted ([`coverage`]).
//! 4. [`simulate`] does that for many stories, and [`shrink`]s one that fails to a few lines that can be pasted as a test
//!    ([`found`]).
//!
//! Stories start from nothing, or from the state of a real stack ([`origin`]).
//!
//! This crate is for tests. It knows only the public surface of `plumb-deploy`, and nothing of processes or files.

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
