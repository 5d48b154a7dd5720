//! `stack rename`.

use clap::Args;
use plumb_operate::context::Stack;
use plumb_operate::{Context, Error};
use plumb_state::edit::{StackIdentity, rename_stack};

use super::{TargetArgs, stack_of};

/// Rename an existing stack
///
/// The settings file is moved too. References to the stack from other stacks must be changed by hand.
#[derive(Args, Debug)]
pub struct RenameArgs {
    /// The new name
    #[arg(required = true)]
    pub name: String,
}

pub(super) fn run(args: RenameArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let old = stack_of(target, ctx)?;
    let new = ctx.stack_named(&args.name)?;
    if new.backend.stack_exists(&new.reference)? {
        return Err(Error::user(format!(
            "a stack named {} already exists",
            new.name()
        )));
    }
    let identity = StackIdentity {
        stack: new.name().into(),
        project: new
            .reference
            .project
            .as_ref()
            .map(|project| project.as_str().into()),
    };
    let notes = ctx.when_unlocked(&old, || {
        let backend = &old.backend;
        Ok(
            backend.rename_stack(&old.reference, &new.reference, &mut |mut snapshot| {
                rename_stack(&mut snapshot, &identity);
                Ok(snapshot)
            })?,
        )
    })?;
    for note in notes {
        ctx.printer.warning(&note.to_string());
    }
    move_settings(&old, &new, ctx)?;
    ctx.select_stack(&new)?;
    ctx.printer
        .line(&format!("Renamed {} to {}", old.shown, new.shown));
    Ok(())
}

/// Renames the settings file. It stays in the project's folder even if the stack moves to another project, because it is
/// needed when the project is renamed too, or when the stack comes back. Example: `other/dev`, formerly `lab/dev`, becomes `lab/new`
/// in the folder of `lab` and gets its settings again, unless there is another `lab/dev` by now, which owns them.
fn move_settings(old: &Stack, new: &Stack, ctx: &Context) -> Result<(), Error> {
    let mut from = ctx.settings_path(old, None)?;
    if from.is_none() && ctx.settings_path(new, None)?.is_some() {
        let namesake = ctx.stack_named(old.name())?;
        if !namesake.backend.stack_exists(&namesake.reference)? {
            from = ctx.settings_path_here(old.name())?;
        }
    }
    let to = ctx.settings_path_here(new.name())?;
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(());
    };
    if from.exists() && from != to {
        std::fs::rename(&from, &to)?;
    }
    Ok(())
}
