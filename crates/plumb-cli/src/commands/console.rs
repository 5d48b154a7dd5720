//! `console`.

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus};

/// Opens the current stack in a browser
///
/// Backends that keep stacks in files have no console; for them it is said where the state is.
#[derive(Args, Debug)]
pub struct ConsoleArgs {
    /// The name of the stack to view
    #[arg(short, long)]
    pub stack: Option<String>,
}

/// Runs `console`.
pub fn run(args: ConsoleArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let backend = ctx.backend()?;
    let stack = match &args.stack {
        Some(name) => Some(ctx.stack_named(name)?),
        None => ctx.selected_stack()?,
    };
    if let Some(stack) = stack {
        if !backend.stack_exists(&stack.reference)? {
            ctx.printer.note(&format!(
                "Stack '{}' does not exist. Run `pulumi stack init` to create a new stack.",
                stack.shown
            ));
            return Ok(ExitStatus::Success);
        }
        if let Some(link) = backend.permalink(&stack.reference)? {
            ctx.printer
                .line(&format!("The state of stack {} is at {link}", stack.shown));
        }
    }
    ctx.printer.note(&format!(
        "This command is not available for the backend {}, which has no console; `plumb stack` shows the stack here",
        backend.shown_url()
    ));
    Ok(ExitStatus::Success)
}
