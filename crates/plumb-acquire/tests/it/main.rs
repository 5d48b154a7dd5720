//! Acquisition of plugins from local servers.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod archives;
mod downloads;
mod locking;
mod server;
mod support;
