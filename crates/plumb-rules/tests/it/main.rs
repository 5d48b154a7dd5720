//! Packs of rules, loaded from folders and judged as the engine does it.

#![allow(clippy::unwrap_used, reason = "tests say where they fail")]

mod cel;
mod harness;
mod preview;
mod reads;
mod rego;
mod tests_of_packs;
