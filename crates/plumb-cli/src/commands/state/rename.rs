//! `state rename`.

use clap::Args;
use plumb_resource::Urn;
use plumb_state::edit::{locate, rename_resource};

use super::{TargetArgs, confirm, not_located, stack_of};
use crate::{Context, Error, ExitStatus, prompt};

/// Rename a resource from a stack's state
#[derive(Args, Debug)]
pub struct RenameArgs {
    /// Shared flags.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The URN of the resource
    pub urn: Option<String>,
    /// Its new name
    pub new_name: Option<String>,
}

pub(super) fn run(args: RenameArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(&args.target, ctx)?;
    let urn = match &args.urn {
        Some(text) => {
            Urn::parse(text).map_err(|_| Error::user("The provided input URN is not valid"))?
        }
        None => super::urns(&[], &stack, ctx)?.remove(0),
    };
    let name = match args.new_name {
        Some(name) => name,
        None if ctx.is_interactive() => prompt::text("Choose a new name for the resource:", None)?,
        None => {
            return Err(Error::user(
                "Must supply <new name> unless pulumi is run interactively",
            ));
        }
    };
    if !confirm(&args.target, ctx)? {
        return Err(Error::shown(ExitStatus::Failure));
    }
    ctx.edit_state(&stack, |snapshot| {
        let index =
            locate(snapshot, &urn).map_err(|error| not_located(error, snapshot.opaque()))?;
        Ok(rename_resource(snapshot, index, &name)?)
    })?;
    ctx.printer.line("Resource renamed");
    Ok(())
}
