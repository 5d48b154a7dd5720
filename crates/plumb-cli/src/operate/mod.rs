//! The operations: up, preview, refresh, destroy, import.
//!
//! Every operation goes the same way (`verb.rs`): the stack is opened and, if it will be changed, taken; a preview runs
//! and is confirmed; the operation runs; the state is saved and the stack given back.

pub mod args;
pub mod drift;
mod event_log;
mod host;
mod import;
mod interrupts;
mod keys;
mod naming;
mod pending;
mod plan;
mod policies;
pub(crate) mod runs;
mod screen;
mod session;
mod state_json;
mod verb;

pub(crate) use host::{discovery, plugin_spec};

use crate::{Context, Error, ExitStatus};
use args::{DestroyArgs, ImportArgs, PreviewArgs, RefreshArgs, UpArgs};

/// Creates or updates the resources of a stack.
pub fn up(args: UpArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    verb::run(ctx, &verb::Verb::up(args)?)
}

/// Shows what an update would do.
pub fn preview(args: PreviewArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    verb::run(ctx, &verb::Verb::preview(args)?)
}

/// Makes the state what the world is.
pub fn refresh(args: RefreshArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    verb::run(ctx, &verb::Verb::refresh(args)?)
}

/// Shows what a refresh would find.
pub fn drift(args: drift::DriftArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    verb::run(ctx, &verb::Verb::drift(args)?)
}

/// Deletes the resources of a stack.
pub fn destroy(args: DestroyArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    verb::run(ctx, &verb::Verb::destroy(args)?)
}

/// Adopts existing objects.
pub fn import(args: ImportArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    verb::run(ctx, &verb::Verb::import(args)?)
}
