//! Conversion of property values and provider calls to and from protobuf.
//!
//! This crate knows how values, requests, answers and errors are encoded in protobuf messages, and which features peers
//! negotiate before they may send certain values. It runs no processes and sends nothing.
//!
//! * [`property`]: values and maps, with the [`MarshalOptions`] of each call.
//! * [`provider`]: messages of providers, one function per message.
//! * [`registration`]: aliases, time limits, hooks and dependencies of registrations.
//! * [`hook`]: messages of hooks in programs.
//! * [`analyzer`]: messages of policy packs.
//! * [`adjust`] and [`assets`]: corrections of a provider's decoded answers.
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
