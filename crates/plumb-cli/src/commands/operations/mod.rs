//! The operations: `up`, `preview`, `refresh`, `drift`, `destroy`, `import` and `watch`.
//!
//! [`args`] has their flags, and `requests` makes requests of these, which [`plumb_operate::operations`] fulfils.

pub mod args;
mod discover;
pub(crate) mod remote;
mod requests;
mod template;

use plumb_operate::operations::{self as operate, OperationRequest};
use plumb_operate::{Context, Error, ExitStatus};

use args::{DestroyArgs, DriftArgs, ImportArgs, PreviewArgs, RefreshArgs, UpArgs, WatchArgs};

/// Runs an operation as a command. An operation that the user stopped counts as failed.
fn as_command(ctx: &Context, request: &OperationRequest) -> Result<ExitStatus, Error> {
    let status = operate::run(ctx, request)?;
    Ok(match status {
        ExitStatus::Cancelled => ExitStatus::Failure,
        status => status,
    })
}

/// Creates or updates the resources of a stack, from the program of the project or of a template.
pub fn up(mut args: UpArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.template.take() {
        Some(template) => template::up(&template, args, ctx),
        None => as_command(ctx, &requests::up(args, ctx)?),
    }
}

/// Shows the changes that an update would make.
pub fn preview(args: PreviewArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &requests::preview(args, ctx)?)
}

/// Updates the state from the existing resources.
pub fn refresh(args: RefreshArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &requests::refresh(args, ctx)?)
}

/// Shows the changes that a refresh would make.
pub fn drift(args: DriftArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    operate::run(ctx, &requests::drift(args)?)
}

/// Deletes the resources of a stack.
pub fn destroy(args: DestroyArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    as_command(ctx, &requests::destroy(args, ctx)?)
}

/// Adopts existing resources: listed ones, or a choice of those that a provider lists.
pub fn import(args: ImportArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let discovered = match &args.discover {
        Some(word) => match discover::chosen(word, &args, ctx)? {
            Some(discovered) => Some(discovered),
            None => return Ok(ExitStatus::Success),
        },
        None => None,
    };
    as_command(ctx, &requests::import(args, discovered, ctx)?)
}

/// Updates a stack whenever files change.
pub fn watch(mut args: WatchArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let paths = std::mem::take(&mut args.path);
    operate::watch(ctx, &requests::watch(args, ctx)?, &paths)
}
