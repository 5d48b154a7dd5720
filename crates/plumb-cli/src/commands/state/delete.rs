//! `state remove`.

use std::fmt::Write as _;

use clap::Args;
use plumb_resource::Urn;
use plumb_state::EncryptedSnapshot;
use plumb_state::edit::{self, DeleteError, DeleteOptions, Deleted, Dependents, Protected};

use super::{TargetArgs, confirm, not_located, stack_of, urns};
use crate::{Context, Error, ExitStatus};

/// Remove resources from a stack's state
///
/// Resources are only taken out of the state; what they stand for stays as it is.
#[derive(Args, Debug)]
pub struct DeleteArgs {
    /// Shared flags.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Force deletion of protected resources
    #[arg(long)]
    pub force: bool,
    /// Delete all resources in the stack
    #[arg(long)]
    pub all: bool,
    /// Delete the URN and all its dependents
    #[arg(long)]
    pub target_dependents: bool,
    /// URNs of resources
    pub urns: Vec<String>,
}

pub(super) fn run(args: DeleteArgs, ctx: &Context) -> Result<(), Error> {
    if args.all && !args.urns.is_empty() {
        return Err(Error::user(
            "cannot specify a resource URN when deleting all resources",
        ));
    }
    let stack = stack_of(&args.target, ctx)?;
    let targets = if args.all {
        Vec::new()
    } else {
        urns(&args.urns, &stack, ctx)?
    };
    if !confirm(&args.target, ctx)? {
        return Err(Error::shown(ExitStatus::Failure));
    }
    let protected = if args.force {
        Protected::Delete
    } else {
        Protected::Refuse
    };
    let dependents = if args.target_dependents {
        Dependents::Delete
    } else {
        Dependents::Refuse
    };
    let deleted = ctx.edit_state(&stack, |snapshot| {
        if args.all {
            return Ok(vec![
                edit::delete_all(snapshot, protected).map_err(refusal)?,
            ]);
        }
        let options = DeleteOptions {
            protected,
            dependents,
        };
        targets
            .iter()
            .filter_map(|urn| delete_one(snapshot, urn, options, &targets).transpose())
            .collect()
    })?;
    for state in deleted.iter().flat_map(Deleted::protected) {
        ctx.printer.warning(&format!(
            "deleting protected resource {} due to presence of --force",
            state.urn
        ));
    }
    ctx.printer.line(&match targets.len() {
        0 => "Resources deleted".to_owned(),
        1 => "Resource deleted".to_owned(),
        count => format!("{count} resources deleted"),
    });
    Ok(())
}

/// Deletes a resource, unless it went with one before.
fn delete_one(
    snapshot: &mut EncryptedSnapshot,
    urn: &Urn,
    options: DeleteOptions,
    targets: &[Urn],
) -> Result<Option<Deleted>, Error> {
    let index = match edit::locate(snapshot, urn) {
        Ok(index) => index,
        Err(edit::LocateError::NotFound { .. })
            if options.dependents == Dependents::Delete && targets.len() > 1 =>
        {
            return Ok(None);
        }
        Err(error) => return Err(not_located(error, snapshot.opaque())),
    };
    edit::delete(snapshot, index, options)
        .map(Some)
        .map_err(refusal)
}

fn refusal(error: DeleteError) -> Error {
    let DeleteError::HasDependents { urn, dependents } = error else {
        return Error::from(error);
    };
    let mut text =
        format!("{urn} can't be safely deleted because the following resources depend on it:\n");
    for dependent in dependents {
        let _ = writeln!(
            text,
            " * {:<15} ({dependent})",
            format!("\"{}\"", dependent.name())
        );
    }
    text.push_str("\nDelete those resources first or pass --target-dependents.");
    Error::user(text)
}
