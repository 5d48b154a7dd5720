//! Real plugin processes: the lab provider, and misbehaving scripts.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests may panic and say what they skip"
)]

mod admission;
mod bad_plugins;
mod lab;
mod language;
mod packs;
mod support;
