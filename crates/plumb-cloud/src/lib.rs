//! Services of clouds that stacks use apart from their providers.
//!
//! [`keys`] wraps the data keys of secrets managers with keys of AWS, Azure, Google and Vault. Each service is a feature of
//! this crate; an address of a service that is not built in is rejected with its name.
//!
//! This crate does not know what data keys are for: see `plumb-secrets`. Credentials are found by the official libraries of
//! the clouds, so that every setup that works for their own command lines works here.

#![cfg_attr(
    not(any(
        feature = "aws",
        feature = "azure",
        feature = "google",
        feature = "vault"
    )),
    allow(
        dead_code,
        unused_variables,
        clippy::unused_async,
        reason = "without any service, nothing uses what they share"
    )
)]

pub mod keys;
