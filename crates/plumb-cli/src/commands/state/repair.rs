//! `state repair`.

use clap::Args;
use plumb_operate::context::StackState;
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_state::EncryptedSnapshot;
use plumb_state::integrity::Repaired;

use super::{TargetArgs, stack_of};

/// Repair an invalid state
///
/// Resources are put into an order in which everything comes after what it needs, and references that lead nowhere are taken
/// out. What is changed is shown first.
#[derive(Args, Debug)]
pub struct RepairArgs {
    /// Shared flags.
    #[command(flatten)]
    pub target: TargetArgs,
}

pub(super) fn run(args: RepairArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(&args.target, ctx)?;
    let state = ctx.load_state(&stack)?;
    let is_valid = state
        .opaque()
        .is_none_or(|snapshot| snapshot.verify().is_ok());
    if matches!(state, StackState::Nothing) || is_valid {
        ctx.printer
            .line("The snapshot is already valid; skipping repair");
        return Ok(());
    }
    let planned = repaired(&ctx.encrypted_state(state)?)?;
    if !args.target.yes {
        show(&planned, ctx);
        if !ctx.is_interactive() {
            return Err(
                Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
            );
        }
        if !prompt::confirm("This will edit your stack's state directly. Confirm?")? {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
    ctx.edit_state(&stack, |snapshot| {
        *snapshot = repaired(snapshot)?.snapshot;
        Ok(())
    })?;
    ctx.printer.line("State repaired successfully");
    Ok(())
}

fn repaired(snapshot: &EncryptedSnapshot) -> Result<Repaired<EncryptedSnapshot>, Error> {
    let failed = |error: Error| {
        let why = error.text().unwrap_or_default();
        Error::user(format!(
            "Failed to repair the snapshot automatically: {why}\n\n\
             Export the state with `plumb stack export`, fix it by hand, and import it with `plumb stack import`."
        ))
    };
    let repaired = snapshot.repair().map_err(|error| failed(error.into()))?;
    repaired
        .snapshot
        .opaque()
        .verify()
        .map_err(|error| failed(error.into()))?;
    Ok(repaired)
}

fn show(planned: &Repaired<EncryptedSnapshot>, ctx: &Context) {
    if !planned.reordered.is_empty() {
        ctx.printer
            .line("These resources will be put into another order:");
        planned
            .reordered
            .iter()
            .for_each(|urn| ctx.printer.line(&format!("  {urn}")));
    }
    if !planned.pruned.is_empty() {
        ctx.printer
            .line("These resources will lose references that lead nowhere:");
    }
    for pruned in &planned.pruned {
        match &pruned.renamed {
            Some(renamed) => ctx
                .printer
                .line(&format!("  {} (renamed to {renamed})", pruned.urn)),
            None => ctx.printer.line(&format!("  {}", pruned.urn)),
        }
        for dropped in &pruned.dropped {
            ctx.printer
                .line(&format!("    {}: {}", dropped.kind, dropped.target));
        }
    }
}
