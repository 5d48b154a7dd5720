//! Programs with a fake engine.

#![allow(clippy::unwrap_used)] // helpers of tests count as tests

mod behaviour;
mod fake;
mod oracle;
mod recordings;
mod speed;
