//! Displays of recorded events of the reference, and of constructed events.

#![expect(clippy::unwrap_used, reason = "a failed helper is a failed test")]

mod documents;
mod page;
mod people;
mod recordings;
mod support;
mod tree;
mod views;
