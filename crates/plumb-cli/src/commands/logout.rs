//! `logout`.

use clap::Args;
use plumb_backend::masked;
use plumb_operate::context::HomeFiles;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_project::workspace::Credentials;

/// Log out of a backend
#[derive(Args, Debug)]
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
    let flags = args.cloud_url.is_some() || args.all;
    if args.url.is_some() && flags {
        return Err(Error::user(
            "only one of --all, --cloud-url or argument URL may be specified, not both",
        ));
    }
    let url = args.url.or(args.cloud_url);
    if args.local && url.is_some() {
        return Err(Error::user(
            "a URL may not be specified when --local mode is enabled",
        ));
    }
    if args.all {
        credentials = Credentials::default();
        files.save_credentials(&credentials)?;
        ctx.printer.line("Logged out of everything");
        return Ok(ExitStatus::Success);
    }
    let url = match url {
        Some(url) => url,
        None if args.local => "file://~".to_owned(),
        None => ctx.login()?.url().to_owned(),
    };
    credentials.logout(&url);
    files.save_credentials(&credentials)?;
    ctx.printer.line(&format!("Logged out of {}", masked(&url)));
    Ok(ExitStatus::Success)
}
