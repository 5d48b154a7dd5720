//! `config refresh`.

use std::path::{Path, PathBuf};

use clap::Args;
use plumb_backend::Page;
use plumb_operate::context::{IfMissing, StackSettings, secrets_of};
use plumb_operate::{Context, Error};
use plumb_project::config::ConfigMap;

use super::TargetArgs;

/// Update the local configuration based on the most recent deployment of the stack
#[derive(Args, Debug)]
pub struct RefreshArgs {
    /// Overwrite configuration file, if it exists, without creating a backup
    #[arg(short, long)]
    pub force: bool,
}

pub(super) fn run(args: RefreshArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    ctx.project()?;
    let stack = ctx.require_stack(target.stack.as_deref(), IfMissing::Fail)?;
    let newest = stack
        .backend
        .history(&stack.reference, Some(Page { size: 1, number: 1 }))?;
    let Some(record) = newest.into_iter().next() else {
        return Err(Error::user(
            "getting latest configuration: no previous deployment",
        ));
    };
    let path = ctx
        .settings_path(&stack, target.config_file.as_deref())?
        .ok_or_else(|| {
            Error::user("the settings of a stack of another project cannot be refreshed")
        })?;
    let mut settings = StackSettings::read(&path, stack.project_name())?;
    let backup = (path.exists() && !args.force).then(|| free_backup(&path));
    if let Some(backup) = &backup {
        std::fs::copy(&path, backup)?;
        ctx.printer.line(&format!(
            "backed up existing configuration file to {}",
            backup.display()
        ));
    }
    settings
        .file
        .set_config(&ConfigMap::from_json(&record.config)?);
    let state = ctx.load_state(&stack)?;
    if let Some(secrets) = state.provider().map(secrets_of) {
        settings.file.set_secrets(&secrets);
    }
    settings.save(None)?;
    if backup.is_some() {
        ctx.printer.line(&format!(
            "refreshed configuration for stack '{}'",
            stack.name()
        ));
    }
    Ok(())
}

fn free_backup(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    loop {
        name.push(".bak");
        let backup = PathBuf::from(&name);
        if !backup.exists() {
            return backup;
        }
    }
}
