//! The operations: up, preview, refresh, destroy, import.

pub mod args;

use crate::{Context, Error, ExitStatus};
use args::{DestroyArgs, ImportArgs, PreviewArgs, RefreshArgs, UpArgs};

/// Creates or updates the resources of a stack.
pub fn up(_args: UpArgs, _ctx: &Context) -> Result<ExitStatus, Error> {
    Err(Error::unsupported("`up`"))
}

/// Shows what an update would do.
pub fn preview(_args: PreviewArgs, _ctx: &Context) -> Result<ExitStatus, Error> {
    Err(Error::unsupported("`preview`"))
}

/// Makes the state what the world is.
pub fn refresh(_args: RefreshArgs, _ctx: &Context) -> Result<ExitStatus, Error> {
    Err(Error::unsupported("`refresh`"))
}

/// Deletes the resources of a stack.
pub fn destroy(_args: DestroyArgs, _ctx: &Context) -> Result<ExitStatus, Error> {
    Err(Error::unsupported("`destroy`"))
}

/// Adopts existing objects.
pub fn import(_args: ImportArgs, _ctx: &Context) -> Result<ExitStatus, Error> {
    Err(Error::unsupported("`import`"))
}
