//! `stack history prune`.

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus};

use super::super::{TargetArgs, stack_of};
use crate::commands::confirm_by_name;

/// Remove the states of old updates
///
/// The history keeps the state that each update left, for `history diff` and `stack export --version`. This removes all but the
/// newest; what is known of the updates themselves stays. `PLUMB_HISTORY_STATES=N` does the same after each update.
#[derive(Args, Debug)]
pub struct PruneArgs {
    /// Number of states to keep
    #[arg(long)]
    pub keep: usize,
    /// Skip confirmation prompts, and proceed anyway
    #[arg(short, long)]
    pub yes: bool,
}

pub(super) fn run(args: &PruneArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    let warning = format!(
        "This will permanently remove the states of all but the last {} updates of '{}'!",
        args.keep, stack.shown
    );
    if !confirm_by_name(ctx, args.yes, &warning, &stack.shown)? {
        return Err(Error::shown(ExitStatus::Failure));
    }
    let removed = stack.backend.prune_history(&stack.reference, args.keep)?;
    ctx.printer.line(&format!(
        "Removed {removed} states from the history of '{}'",
        stack.shown
    ));
    Ok(())
}
