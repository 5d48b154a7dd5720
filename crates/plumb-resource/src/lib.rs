//! Resources: their identity, their goal state and their recorded state.
//!
//! This crate knows identity ([`Urn`], [`ResourceId`], [`TypeToken`], [`ProviderRef`]), the goal state of a registration
//! ([`Goal`]), the entries of a snapshot ([`ResourceState`]), the differences that providers report ([`DiffResult`]), the
//! arguments of hooks ([`hook`]), the calls to policy packs ([`policy`]) and the kinds of steps ([`StepOp`]). It knows
//! neither how state is stored nor how messages are sent.

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

/// Text that stands for a value or an id that is not known yet.
pub const UNKNOWN_SENTINEL: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/// Type of the root stack resource.
pub const ROOT_STACK_TYPE: &str = "pulumi:pulumi:Stack";
