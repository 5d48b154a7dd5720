//! Tests of the state crate: shared vectors, and properties of any snapshot and journal.

#![expect(clippy::unwrap_used, reason = "tests may stop where they fail")]

mod edits;
mod files;
mod generate;
mod integrity;
mod journal;
mod json;
mod plans;
mod size;
mod support;
mod values;
