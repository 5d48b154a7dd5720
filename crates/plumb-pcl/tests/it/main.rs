//! Tests of the language and of snippets.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod binding;
mod evaluation;
mod programs;
mod snippets;
mod stack;
