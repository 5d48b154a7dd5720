//! Displays of what the official program did, and of what it might have done.

#![expect(clippy::unwrap_used, reason = "a failed helper is a failed test")]

mod documents;
mod people;
mod recordings;
mod support;
mod tree;
mod views;
