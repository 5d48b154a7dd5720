//! The wire protocol: messages, clients and servers, generated from `proto/`.
//!
//! This crate knows the shapes of messages and nothing of what they mean; `plumb-wire` gives them meaning. The modules
//! follow the proto packages: [`pulumirpc`] holds almost everything, [`codegen`] the schema loader and the mapper,
//! [`pulumirpc::codegen`] HCL diagnostics, [`pulumirpc::testing`] the conformance-test driver, [`google::rpc`] the
//! status message. A service `Thing` has a client in `thing_client::ThingClient` and a server trait in
//! `thing_server::Thing`.
//!
//! Values of enums are `i32` in messages. Peers may send numbers that are not in the enum: read them with
//! `Kind::try_from(number)` and decide what an unknown one means. Unknown fields are dropped.
//!
//! [`status`] reads and writes the details of failed calls.

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

/// How many bytes a message may have that a client or server receives: 400 MiB (`protocol.md` 1).
pub const MAX_MESSAGE_SIZE: usize = 400 * 1024 * 1024;

/// How many bytes a message may have that a client or server sends: there is no limit.
pub const MAX_SENT_MESSAGE_SIZE: usize = usize::MAX;
