//! `up` of the program in the project, or of a template (`cli.md` 5).

use super::new;
use crate::identity::Code;
use crate::operate::args::UpArgs;
use crate::operate::{self, check_pairs};
use crate::{Context, Error, ExitStatus};

/// Creates or updates the resources of a stack.
pub fn run(mut args: UpArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.template.take() {
        Some(template) => from_template(&template, args, ctx),
        None => operate::up(args, ctx),
    }
}

/// Updates from the program of a template, which exists only during this update.
fn from_template(template: &str, mut args: UpArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    args.program.remote.check()?;
    let update = &args.update;
    check_pairs(update.policy_pack.len(), update.policy_pack_config.len())?;
    let yes = args.yes || args.skip_preview;
    if !yes && !ctx.is_interactive() {
        return Err(Error::with_status(
            ExitStatus::Configuration,
            "--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode",
        )
        .known(Code::NotConfirmed));
    }
    let folder = tempfile::tempdir()?;
    let update = new::TemplateUpdate {
        template,
        stack: args.common.stack.as_deref(),
        config: &args.program.config,
        config_path: args.program.config_path,
        secrets_provider: &args.secrets_provider,
        yes,
    };
    new::for_update(&update, folder.path(), ctx)?;
    args.program.config.clear();
    let ctx = ctx.in_folder(folder.path())?;
    operate::up(args, &ctx)
}
