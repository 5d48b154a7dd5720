//! `version`.

use crate::own_version::{BUILD, COMMIT, OWN_VERSION};
use crate::{Context, Error, ExitStatus, VERSION};

/// Prints the version of the reference that Plumb is compatible with; with `--verbose`, also
/// Plumb's own version.
pub fn run(ctx: &Context) -> Result<ExitStatus, Error> {
    ctx.printer.line(VERSION);
    if ctx.globals.verbose > 0 {
        let own = [
            format!("plumb:  {OWN_VERSION}"),
            format!("commit: {COMMIT}"),
            format!("build:  {BUILD}"),
        ];
        for line in &own {
            ctx.printer.line(line);
        }
    }
    Ok(ExitStatus::Success)
}
