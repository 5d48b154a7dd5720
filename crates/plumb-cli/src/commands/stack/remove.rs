//! `stack rm`.

use std::path::PathBuf;

use clap::Args;
use plumb_backend::RemoveOptions;
use plumb_operate::context::{IfMissing, Stack};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_project::files;

use super::TargetArgs;
use crate::commands::{confirm_by_name, one_name};

/// Remove a stack and its configuration
///
/// The stack and all of its settings and history are gone afterwards; its resources are not destroyed. `plumb stack restore` brings
/// state and history back, for 30 days.
#[derive(Args, Debug)]
pub struct RemoveArgs {
    /// Forces deletion of the stack, leaving behind any resources managed by the stack
    #[arg(short, long)]
    pub force: bool,
    /// Skip confirmation prompts, and proceed with removal anyway
    #[arg(short, long)]
    pub yes: bool,
    /// Do not delete the corresponding Pulumi.<stack-name>.yaml configuration file for the stack
    #[arg(long)]
    pub preserve_config: bool,
    /// Additionally remove backups of the stack
    #[arg(long)]
    pub remove_backups: bool,
    /// The name of the stack
    pub name: Option<String>,
}

pub(super) fn run(args: RemoveArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let name = one_name(target.stack.clone(), args.name)?;
    let stack = ctx.require_stack(name.as_deref(), IfMissing::Fail)?;
    let warning = format!("This will permanently remove the '{}' stack!", stack.shown);
    if !confirm_by_name(ctx, args.yes, &warning, &stack.shown)? {
        return Err(Error::shown(ExitStatus::Failure));
    }
    let is_selected = ctx
        .selected_stack()?
        .is_some_and(|selected| selected.reference == stack.reference);
    let settings = removed_settings(args.preserve_config, &stack, ctx)?;
    let options = RemoveOptions {
        force: args.force,
        remove_backups: args.remove_backups,
    };
    ctx.when_unlocked(&stack, || {
        Ok(stack.backend.remove_stack(&stack.reference, options)?)
    })?;
    if let Some(path) = settings {
        files::remove(&path)?;
    }
    if is_selected {
        ctx.unselect_stack()?;
    }
    ctx.printer
        .styled_line(&plumb_operate::Printer::attention(&format!(
            "Stack '{}' has been removed!",
            stack.shown
        )));
    Ok(())
}

/// Settings file that is removed together with the stack.
///
/// A stack in the legacy layout has no project, so nobody knows whether the file in this folder is its file, or that of another
/// project's stack of the same name: it is kept.
fn removed_settings(
    preserve_config: bool,
    stack: &Stack,
    ctx: &Context,
) -> Result<Option<PathBuf>, Error> {
    if preserve_config || stack.reference.project.is_none() {
        return Ok(None);
    }
    ctx.settings_path(stack, None)
}
