//! `stack restore`.

use clap::Args;
use plumb_operate::{Context, Error};

use super::TargetArgs;
use crate::commands::one_name;

/// Restore a stack that was removed
///
/// Undoes `plumb stack rm`: the state, the history and the tags of the stack are there again, and so is everything that the state
/// says of its resources. Removed stacks are kept for 30 days, unless they were removed with --remove-backups. The settings file
/// of the stack is not restored; `plumb config refresh` makes one from the last update.
#[derive(Args, Debug)]
pub struct RestoreArgs {
    /// The name of the stack
    pub name: Option<String>,
}

pub(super) fn run(args: RestoreArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let Some(name) = one_name(target.stack.clone(), args.name)? else {
        return Err(Error::user("the name of the removed stack is missing"));
    };
    let stack = ctx.stack_named(&name)?;
    let removed = ctx.when_unlocked(&stack, || {
        Ok(stack.backend.restore_stack(&stack.reference)?)
    })?;
    ctx.printer
        .styled_line(&plumb_operate::Printer::attention(&format!(
            "Stack '{}', which was removed at {removed}, has been restored!",
            stack.shown
        )));
    Ok(())
}
