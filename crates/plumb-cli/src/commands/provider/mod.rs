//! `provider`: for authors of provider plugins. Our own.

mod check;

use clap::{Args, Subcommand};
use plumb_operate::{Context, Error, ExitStatus};

/// Work on provider plugins
#[derive(Args, Debug)]
pub struct ProviderArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: ProviderVerb,
}

/// Commands for a provider plugin.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum ProviderVerb {
    Check(check::CheckArgs),
}

/// Runs a verb of `provider`.
pub fn run(args: &ProviderArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match &args.verb {
        ProviderVerb::Check(args) => check::run(args, ctx),
    }
}
