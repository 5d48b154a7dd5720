//! Resources: how they are named, what is wanted of them, what is known of them.
//!
//! This crate knows identity ([`Urn`], [`ResourceId`], [`TypeToken`], [`ProviderRef`]), what a program asks for
//! ([`Goal`]), what a snapshot holds ([`ResourceState`]), how providers answer ([`DiffResult`]), what hooks are called
//! with ([`hook`]), what policy packs are asked ([`policy`]) and the kinds of steps ([`StepOp`]). It does not know how any
//! of it is stored or sent.

mod goal;
pub mod hook;
mod id;
pub mod policy;
pub mod provider;
mod provider_ref;
mod state;
mod step;
mod token;
mod urn;
mod view;

pub use goal::{Alias, AliasParent, AliasSpec, CustomTimeouts, Goal, Hooks, PropertyDependencies};
pub use id::ResourceId;
pub use provider::{DiffChanges, DiffKind, DiffResult, PropertyDiff};
pub use provider_ref::{ProviderInstanceId, ProviderRef, ProviderRefError};
pub use state::{HookType, ResourceKind, ResourceState, StackFrame};
pub use step::{OperationType, StepOp};
pub use token::{TypeToken, TypeTokenError};
pub use urn::{InvalidUrn, Urn};
pub use view::{StatusTarget, View, ViewStatus, ViewStep};

/// The text that stands for a value (or id) that is not known yet.
pub const UNKNOWN_SENTINEL: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/// Type of the root stack resource.
pub const ROOT_STACK_TYPE: &str = "pulumi:pulumi:Stack";
