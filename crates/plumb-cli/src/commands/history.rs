//! `history`: a shorter name for `stack history`.

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus};

use super::stack;

/// Display history for a stack
///
/// Lists previous updates of the stack, the newest first; `history diff A B` shows what changed between two of them.
#[derive(Args, Debug)]
#[group(skip)]
pub struct StackHistoryArgs {
    /// Shared flags.
    #[command(flatten)]
    pub history: stack::history::HistoryArgs,
    /// Shared flags. They come last, because their heading holds for whatever follows.
    #[command(flatten)]
    pub target: stack::TargetArgs,
}

/// Runs `history`.
pub fn run(args: StackHistoryArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    stack::history::run(args.history, &args.target, ctx)?;
    Ok(ExitStatus::Success)
}
