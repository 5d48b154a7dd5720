//! `version`.

use clap::Args;
use plumb_operate::own_version::{BUILD, COMMIT, OWN_VERSION};
use plumb_operate::{Context, Environment, Error, ExitStatus, VERSION};

/// Print the version number
#[derive(Args, Clone, Copy, Debug)]
pub struct VersionArgs {
    /// Print the version, commit and build of Plumb itself, too; `version --verbose` means this flag
    #[arg(long, hide = true)]
    pub full: bool,
}

/// Prints the version of the reference that Plumb is compatible with, and on request those of Plumb itself.
pub fn run(args: VersionArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    ctx.printer.line(VERSION);
    if args.full || ctx.globals.verbose > 0 {
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

/// Replaces `version --verbose` by the flag for it, because everywhere else `--verbose` is followed by a level, and writes a log.
pub fn asked_in_full(mut environment: Environment) -> Environment {
    if let [verb, flag] = environment.arguments.as_mut_slice()
        && verb == "version"
        && matches!(flag.as_str(), "--verbose" | "-v")
    {
        "--full".clone_into(flag);
    }
    environment
}
