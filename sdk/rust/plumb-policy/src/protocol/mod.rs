//! Messages and the server: generated from the protocol.

#[allow(
    missing_docs,
    unreachable_pub,
    rust_2018_idioms,
    dead_code,
    clippy::all,
    clippy::pedantic
)]
mod generated {
    include!("generated/messages.rs");

    pub mod analyzer_service {
        include!("generated/analyzer.rs");
    }
}

pub(crate) use generated::*;

/// How many bytes a message may have.
pub(crate) const MAX_MESSAGE_SIZE: usize = 400 * 1024 * 1024;
