//! `stack export`.

use std::io::Write as _;

use clap::Args;
use plumb_operate::{Context, Error, go};
use plumb_project::files::create_private;

use super::{TargetArgs, stack_of};

/// Export a stack's deployment to standard out
///
/// The deployment can then be hand-edited and used to update the stack via `stack import`. This process may be used to
/// correct inconsistencies in a stack's state due to failed deployments, manual changes to cloud resources, and so on.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// A filename to write stack output to
    #[arg(long)]
    pub file: Option<String>,
    /// Previous stack version to export
    #[arg(long)]
    pub version: Option<String>,
    /// Emit secrets in plaintext in exported stack
    #[arg(long)]
    pub show_secrets: bool,
}

pub(super) fn run(args: ExportArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    let state = match args
        .version
        .as_deref()
        .filter(|version| !version.is_empty())
    {
        Some(version) => super::past(&stack, version)?.1,
        None => ctx.load_state(&stack)?,
    };
    let text = ctx.export_text(state, args.show_secrets)?;
    match &args.file {
        Some(file) => {
            let path = ctx.environment.cwd.join(file);
            let written = if args.show_secrets {
                create_private(&path).and_then(|mut file| file.write_all(text.as_bytes()))
            } else {
                std::fs::write(&path, text)
            };
            written.map_err(|error| {
                Error::user(format!("could not open file: {}", go::open(file, &error)))
            })?;
        }
        None => ctx.printer.data(&text),
    }
    Ok(())
}
