//! `version`.

use crate::{Context, Error, ExitStatus, VERSION};

/// Prints the version.
pub fn run(ctx: &Context) -> Result<ExitStatus, Error> {
    ctx.printer.line(VERSION);
    Ok(ExitStatus::Success)
}
