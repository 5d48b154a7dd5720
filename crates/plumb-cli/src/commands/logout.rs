//! `logout`.

use clap::{ArgGroup, Args};
use plumb_project::workspace::Credentials;

use crate::context::HomeFiles;
use crate::{Context, Error, ExitStatus};

/// Log out of a backend
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("logout-url").args(["cloud_url", "local", "all"]).multiple(false))]
pub struct LogoutArgs {
    /// Logout of all backends
    #[arg(long)]
    pub all: bool,
    /// A cloud URL to log out of
    #[arg(short, long)]
    pub cloud_url: Option<String>,
    /// Log out of the home folder
    #[arg(short, long)]
    pub local: bool,
    /// The address of the backend
    pub url: Option<String>,
}

/// Runs `logout`.
pub fn run(args: LogoutArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let files = HomeFiles::new(&ctx.environment);
    let mut credentials = files.credentials()?;
    if args.all {
        credentials = Credentials::default();
        files.save_credentials(&credentials)?;
        ctx.printer.line("Logged out of everything");
        return Ok(ExitStatus::Success);
    }
    let url = match (args.url, args.cloud_url, args.local) {
        (Some(_), Some(_), _) | (Some(_), _, true) => {
            return Err(Error::user(
                "only one of --cloud-url, --local or the argument URL may be specified",
            ));
        }
        (Some(url), None, false) | (None, Some(url), _) => url,
        (None, None, true) => "file://~".to_owned(),
        (None, None, false) => ctx.login()?.url().to_owned(),
    };
    credentials.logout(&url);
    files.save_credentials(&credentials)?;
    ctx.printer.line(&format!("Logged out of {url}"));
    Ok(ExitStatus::Success)
}
