//! Real programs and plugins in several languages, with a small engine as their peer.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests may panic and say what they skip"
)]

mod dotnet;
mod engine;
mod go;
mod install;
mod java;
mod node;
mod plugins;
mod programs;
mod rust;
mod serve;
mod support;
