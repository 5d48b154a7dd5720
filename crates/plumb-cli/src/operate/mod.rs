//! The operations: up, preview, refresh, destroy, import.
//!
//! All share the same phases (`course.rs`): the stack is opened, and locked if it will be changed; a preview runs and is
//! confirmed; the operation runs; the state is saved and the stack unlocked.

mod advice;
pub mod analyze;
pub mod args;
mod converted;
mod course;
mod debugging;
mod destroyed;
pub mod drift;
mod event_log;
mod host;
mod import;
mod import_code;
mod import_document;
mod import_file;
mod interrupts;
mod keys;
mod naming;
mod older_packages;
mod pending;
mod plan;
mod policies;
pub(crate) mod remote;
mod reports;
mod request;
pub(crate) mod runs;
mod screen;
mod secrecy;
mod session;
mod snippets;
mod standalone_host;
mod state_json;
mod translated;
mod watch;

pub(crate) use converted::{InfoStream, tell};
pub(crate) use import_code::plugin_of;
pub(crate) use policies::check_pairs;
pub(crate) use snippets::{SnippetUpdate, update_snippets};
pub(crate) use standalone_host::StandaloneHost;
pub(crate) use translated::of_translated;

use crate::{Context, Error, ExitStatus};
use args::{DestroyArgs, ImportArgs, PreviewArgs, RefreshArgs, UpArgs, WatchArgs};
use request::OperationRequest;

/// Runs an operation as a command. An operation that the user stopped counts as failed.
fn as_command(ctx: &Context, request: &OperationRequest) -> Result<ExitStatus, Error> {
    let status = course::run(ctx, request)?;
    Ok(match status {
        ExitStatus::Cancelled => ExitStatus::Failure,
        status => status,
    })
}

/// Creates or updates the resources of a stack.
pub fn up(args: UpArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &OperationRequest::up(args, ctx)?)
}

/// Shows the changes that an update would make.
pub fn preview(args: PreviewArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &OperationRequest::preview(args, ctx)?)
}

/// Updates the state from the existing resources.
pub fn refresh(args: RefreshArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &OperationRequest::refresh(args, ctx)?)
}

/// Shows the changes that a refresh would make.
pub fn drift(args: drift::DriftArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    course::run(ctx, &OperationRequest::drift(args)?)
}

/// Deletes the resources of a stack.
pub fn destroy(args: DestroyArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &OperationRequest::destroy(args, ctx)?)
}

/// Adopts existing resources.
pub fn import(args: ImportArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &OperationRequest::import(args, ctx)?)
}

/// Updates a stack whenever files change.
pub fn watch(args: WatchArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    watch::run(&args, ctx)
}
