//! `cancel`.

use std::thread;
use std::time::Duration;

use clap::Args;
use plumb_backend::CancelProgress;
use plumb_operate::context::{IfMissing, Stack};
use plumb_operate::{Context, Error, ExitStatus};

use super::{confirm_by_name, one_name};

/// Cancel a stack's currently running update, if any
///
/// The run that works on the stack is asked to end: it finishes what is under way, begins nothing more, and gives the stack back,
/// which this command waits for. A run that has died, gives no sign of life, or belongs to another program, is not allowed to write
/// the state any more. With --force that is done at once; **resources that are being changed right now may then be left in an
/// unknown state.**
#[derive(Args, Debug)]
pub struct CancelArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Skip confirmation prompts, and proceed with cancellation anyway
    #[arg(short, long)]
    pub yes: bool,
    /// Take the stack away from the run at once, instead of asking it to end
    #[arg(long)]
    pub force: bool,
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
    if !args.force && ends_by_itself(&stack, ctx)? {
        ctx.printer
            .styled_line(&plumb_operate::Printer::attention(&format!(
                "The currently running update for '{}' has been canceled!",
                stack.shown
            )));
        return Ok(ExitStatus::Success);
    }
    let cancelled = stack.backend.cancel(&stack.reference)?;
    for note in &cancelled.notes {
        ctx.printer.warning(&note.to_string());
    }
    ctx.printer
        .styled_line(&plumb_operate::Printer::attention(&format!(
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

/// How often the progress of a request is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Asks the run to end, and waits until it has; false if it has to be stopped.
fn ends_by_itself(stack: &Stack, ctx: &Context) -> Result<bool, Error> {
    let Some(mut request) = stack.backend.request_cancel(&stack.reference)? else {
        return Ok(false);
    };
    let mut shown = CancelProgress::Ended;
    loop {
        let progress = stack.backend.cancel_progress(&mut request)?;
        match progress {
            CancelProgress::Ended => return Ok(true),
            CancelProgress::Silent => {
                ctx.printer
                    .warning("the run gives no sign of life; the stack is taken away from it");
                return Ok(false);
            }
            CancelProgress::Unseen if shown != progress => ctx.printer.info(
                "Asked the run to end. `plumb cancel --force` takes the stack away from it at once.",
            ),
            CancelProgress::Ending if shown != progress => ctx
                .printer
                .info("The run finishes what is under way, and then gives the stack back."),
            CancelProgress::Unseen | CancelProgress::Ending => {}
        }
        shown = progress;
        thread::sleep(LOOK);
    }
}
