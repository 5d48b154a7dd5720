//! Built-in providers, through their public interface.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests do")]

mod command_provider;
mod pulumi_provider;
mod random_provider;
mod recordings;
mod registry;
mod support;
