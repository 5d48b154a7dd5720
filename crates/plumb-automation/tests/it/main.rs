//! Operations on stacks as an embedding program makes them.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests say where they fail"
)]

mod failures;
mod inline;
mod operations;
mod plugins;
mod policies;
mod service;
mod stores;
mod tenants;
