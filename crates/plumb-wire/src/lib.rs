//! Property values and provider calls, to and from the wire.
//!
//! This crate knows how values, requests, answers and errors look in protobuf messages, and what peers have to agree
//! on before they may send certain values. It runs no processes and sends nothing.
//!
//! * [`property`]: values and maps, with the [`MarshalOptions`] of each call.
//! * [`provider`]: the calls of a provider, one function per message.
//! * [`registration`]: aliases, time limits, hooks and dependencies of registrations.
//! * [`hook`]: calls of hooks in programs.
//! * [`analyzer`]: calls of policy packs.
//! * [`adjust`] and [`assets`]: what is done to a provider's answers after reading them.
//! * [`duration`]: time limits as text; [`json`]: plain JSON.
//!
//! The rules are those of `protocol.md` 2 to 6.

pub mod adjust;
pub mod analyzer;
pub mod assets;
pub mod duration;
mod features;
pub mod hook;
pub mod json;
pub mod property;
pub mod provider;
pub mod registration;
mod urns;

pub use features::ProviderFeatures;
pub use property::{Error, MarshalOptions};
