//! `cancel`.

use clap::Args;

use super::{confirm_by_name, one_name};
use crate::context::IfMissing;
use crate::{Context, Error, ExitStatus};

/// Cancel a stack's currently running update, if any
///
/// Whatever works on the stack is not allowed to write its state any more. **Resources that are being changed right now may
/// be left in an unknown state.**
#[derive(Args, Debug)]
pub struct CancelArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Skip confirmation prompts, and proceed with cancellation anyway
    #[arg(short, long)]
    pub yes: bool,
    /// The name of the stack
    pub stack_name: Option<String>,
}

/// Runs `cancel`.
pub fn run(args: CancelArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let name = one_name(args.stack, args.stack_name)?;
    let stack = ctx.require_stack(name.as_deref(), IfMissing::Fail)?;
    let warning = format!(
        "This will irreversibly cancel the currently running update for '{}'!",
        stack.shown
    );
    // No `--yes` required in scripts, so that one pipeline can cancel the update of another.
    let is_yes = args.yes || !ctx.is_interactive();
    if !confirm_by_name(ctx, is_yes, &warning, &stack.shown)? {
        return Err(Error::shown(ExitStatus::Failure));
    }
    let cancelled = stack.backend.cancel(&stack.reference)?;
    for note in &cancelled.notes {
        ctx.printer.warning(&note.to_string());
    }
    ctx.printer.styled_line(&crate::Printer::attention(&format!(
        "The currently running update for '{}' has been canceled!",
        stack.shown
    )));
    for lock in &cancelled.kept {
        ctx.printer.warning(&format!(
            "the stack stays locked by hand; `plumb stack unlock` unlocks it\n  {lock}"
        ));
    }
    Ok(ExitStatus::Success)
}
