//! `up` of a template (`cli.md` 5).

use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus};

use super::args::UpArgs;
use super::requests::pack_flags;
use crate::commands::new;

/// Updates from the program of a template, which exists only during this update.
pub(super) fn up(template: &str, mut args: UpArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    args.program.remote.check()?;
    pack_flags(&args.update).check()?;
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
    super::up(args, &ctx)
}
