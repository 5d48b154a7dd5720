//! `state rename`.

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_resource::Urn;
use plumb_state::edit::{LocateError, locate, rename_resource};

use super::{TargetArgs, choose, confirm, not_located, require_words, stack_of};

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
    require_words(
        args.new_name.is_some(),
        "<resource URN> and <new name>",
        ctx,
    )?;
    let urn = args.urn.as_deref().map(Urn::parse).transpose();
    let urn = urn.map_err(|_| Error::user("The provided input URN is not valid"))?;
    let stack = stack_of(&args.target, ctx)?;
    let urn = match urn {
        Some(urn) => urn,
        None => choose(&stack, ctx)?,
    };
    let name = match args.new_name {
        Some(name) => name,
        None => prompt::text("Choose a new name for the resource:", None)?,
    };
    if !confirm(&args.target, ctx)? {
        return Err(Error::shown(ExitStatus::Failure));
    }
    ctx.edit_state(&stack, |snapshot| {
        let index = locate(snapshot, &urn).map_err(|error| match error {
            LocateError::Ambiguous { .. } => {
                Error::user("The input URN ambiguously refers to multiple resources")
            }
            missing @ LocateError::NotFound { .. } => not_located(missing, snapshot.opaque()),
        })?;
        Ok(rename_resource(snapshot, index, &name)?)
    })?;
    ctx.printer.line("Resource renamed");
    Ok(())
}
