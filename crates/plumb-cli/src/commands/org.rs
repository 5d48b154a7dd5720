//! `org`. File stores have no organizations.

use clap::{Args, Subcommand};
use plumb_operate::{Context, Error, ExitStatus};

/// Manage organization configuration
#[derive(Args, Debug)]
pub struct OrgArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: Option<OrgVerb>,
}

/// What to do with organizations.
#[derive(Subcommand, Debug)]
pub enum OrgVerb {
    /// Get the default org for the current backend
    GetDefault,
    /// Set the local default organization for the current backend
    SetDefault(SetDefaultArgs),
}

/// Arguments of `org set-default`.
#[derive(Args, Debug)]
pub struct SetDefaultArgs {
    /// The organization
    #[arg(required = true)]
    pub name: String,
}

/// Runs `org`.
pub fn run(args: OrgArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let backend = ctx.backend()?;
    let name = backend.name();
    Err(Error::user(match args.verb {
        None => {
            ctx.printer
                .line(&format!("Current Backend: {}", backend.shown_url()));
            ctx.printer.line("No Default Org Specified");
            return Ok(ExitStatus::Success);
        }
        Some(OrgVerb::GetDefault) => {
            format!("backends of this type \"{name}\" do not support organizations")
        }
        Some(OrgVerb::SetDefault(_)) => {
            format!("unable to set a default organization for backend type: {name}")
        }
    }))
}
