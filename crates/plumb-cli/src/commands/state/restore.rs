//! `state restore`: replaces the state by that after an earlier update.

use clap::Args;
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_resource::Urn;
use plumb_state::Snapshot;

use super::{TargetArgs, stack_of};
use crate::commands::stack::past;

/// Maximum number of listed resources.
const MOST_NAMED: usize = 20;

/// Bring the state back that a former update left
///
/// Only the state is changed: no resource is created, changed or deleted. Resources that were made since are forgotten, and
/// those that were deleted since are known again; `plumb refresh` afterwards finds out what really exists. Updates have
/// numbers, from 1 for the oldest; `stack history` shows them, and `stack export --version` shows their states.
#[derive(Args, Debug)]
pub struct RestoreArgs {
    /// Shared flags.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The number of the update
    #[arg(value_name = "N")]
    pub version: String,
}

pub(super) fn run(args: RestoreArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(&args.target, ctx)?;
    let (record, state) = past(&stack, &args.version)?;
    let present = ctx.load_state(&stack)?;
    let nothing = Snapshot::default();
    let (now, then) = (
        present.opaque().unwrap_or(&nothing),
        state.opaque().unwrap_or(&nothing),
    );
    ctx.printer.line(&format!(
        "The state becomes what update {} ({}) left, {} ago.",
        record.version,
        record.kind,
        age(record.end_time)
    ));
    list(
        ctx,
        "Resources that will be forgotten:",
        &missing(now, then),
    );
    list(
        ctx,
        "Resources that will be known again:",
        &missing(then, now),
    );
    if !args.target.yes {
        if !ctx.is_interactive() {
            return Err(
                Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
            );
        }
        if !prompt::confirm("This will edit your stack's state directly. Confirm?")? {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
    let restored = ctx.encrypted_state(state)?;
    ctx.edit_state(&stack, |snapshot| {
        *snapshot = restored;
        Ok(())
    })?;
    ctx.printer.note(&format!(
        "The state of update {} is restored. Run `plumb refresh` to find out what really exists.",
        record.version
    ));
    Ok(())
}

/// URNs in the first state that are missing in the second.
fn missing<'s>(has: &'s Snapshot, lacks: &Snapshot) -> Vec<&'s Urn> {
    let known: std::collections::BTreeSet<&Urn> =
        lacks.resources.iter().map(|it| &it.urn).collect();
    let resources = has.resources.iter().map(|it| &it.urn);
    resources.filter(|urn| !known.contains(urn)).collect()
}

fn list(ctx: &Context, title: &str, urns: &[&Urn]) {
    if urns.is_empty() {
        return;
    }
    ctx.printer.line(title);
    for urn in urns.iter().take(MOST_NAMED) {
        ctx.printer.line(&format!("  {urn}"));
    }
    if urns.len() > MOST_NAMED {
        ctx.printer
            .line(&format!("  and {} more", urns.len() - MOST_NAMED));
    }
}

fn age(end_time: i64) -> String {
    let seconds = (jiff::Timestamp::now().as_second() - end_time).max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
