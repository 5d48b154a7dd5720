//! `stack lock` and `stack unlock`.

use clap::Args;
use plumb_operate::{Context, Error};

use super::{TargetArgs, stack_of};

/// Lock a stack, so that nobody changes it
///
/// Until `plumb stack unlock`, updates and edits of the stack fail for everybody, in the official program too. Their error shows
/// who has locked the stack, and why. Commands that only read the stack still work.
#[derive(Args, Debug)]
pub struct LockArgs {
    /// Reason, shown to everybody who is refused
    #[arg(long)]
    pub reason: Option<String>,
}

/// Remove the lock that `plumb stack lock` has set
///
/// Everybody may remove it, not only the person who has set it. Locks of running updates stay; `plumb cancel` ends those.
#[derive(Args, Debug)]
pub struct UnlockArgs {}

pub(super) fn lock(args: &LockArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    let notes = ctx.when_unlocked(&stack, || {
        let reason = args.reason.as_deref();
        Ok(stack.backend.lock(&stack.reference, reason)?)
    })?;
    for note in &notes {
        ctx.printer.warning(&note.to_string());
    }
    ctx.printer.line(&format!(
        "Stack '{}' is locked; `plumb stack unlock` unlocks it",
        stack.shown
    ));
    Ok(())
}

pub(super) fn unlock(target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    let removed = stack.backend.unlock(&stack.reference)?;
    if removed.is_empty() {
        return Err(Error::user(format!(
            "stack '{}' is not locked by `plumb stack lock`",
            stack.shown
        )));
    }
    ctx.printer
        .line(&format!("Stack '{}' is unlocked", stack.shown));
    Ok(())
}
