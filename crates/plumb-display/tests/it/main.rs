//! Displays of recorded events of the reference, and of constructed events.

#![expect(clippy::unwrap_used, reason = "a failed helper is a failed test")]

mod browser;
mod documents;
mod many;
mod people;
mod recordings;
mod report;
mod support;
mod tree;
mod views;
