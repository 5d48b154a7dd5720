//! Messages, clients and the callback server: generated from the protocol of the engine.

#[allow(
    missing_docs,
    unreachable_pub,
    rust_2018_idioms,
    clippy::all,
    clippy::pedantic
)]
mod generated {
    include!("generated/messages.rs");

    pub mod callback_service {
        include!("generated/callbacks.rs");
    }
}

pub(crate) use generated::*;

/// How many bytes a message may have.
pub(crate) const MAX_MESSAGE_SIZE: usize = 400 * 1024 * 1024;
