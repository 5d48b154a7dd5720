//! Clouds: what stacks use of them besides their providers.
//!
//! [`keys`] wraps the data keys of secrets managers with keys of AWS, Azure, Google and Vault. Each cloud is a feature of this
//! crate; an address of a cloud that is left out is refused by name.
//!
//! This crate does not know what data keys are for: see `plumb-secrets`. Credentials are found by the official libraries of
//! the clouds, so that everything works that works for their own command lines.

pub mod keys;
