//! Protocol messages, clients and servers, generated from `proto/`.
//!
//! This crate knows the structure of messages and not their meaning; see `plumb-wire` for that. The modules follow the proto
//! packages: [`pulumirpc`] holds almost everything, [`codegen`] the schema loader and the mapper, [`pulumirpc::codegen`] HCL
//! diagnostics, [`pulumirpc::testing`] the conformance-test driver, [`google::rpc`] the status message. A service `Thing`
//! has a client in `thing_client::ThingClient` and a server trait in `thing_server::Thing`.
//!
//! Enum values are `i32` in messages, because peers may send numbers outside the enum. Convert them with
//! `Kind::try_from(number)` and handle unknown numbers. Unknown fields are dropped.
//!
//! [`status`] encodes and decodes the details of failed calls.

#[cfg(test)]
mod official;
pub mod status;

#[allow(
    missing_docs,
    unreachable_pub,
    rust_2018_idioms,
    clippy::all,
    clippy::pedantic
)]
mod generated;

pub use generated::{codegen, google, pulumirpc};
pub use {prost, prost_types, tonic};

/// Maximum size in bytes of a message that a client or server receives: 400 MiB (`protocol.md` 1).
pub const MAX_MESSAGE_SIZE: usize = 400 * 1024 * 1024;

/// Maximum size in bytes of a message that a client or server sends: unlimited.
pub const MAX_SENT_MESSAGE_SIZE: usize = usize::MAX;
