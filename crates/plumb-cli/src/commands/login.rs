//! `login`.

use clap::{ArgGroup, Args};

use crate::context::{HomeFiles, Login};
use crate::{Context, Error, ExitStatus, prompt};

/// Log in to a backend
///
/// Stacks are kept in the home folder unless another place is chosen here: `file://` and a folder, or the address of a store.
/// No account is needed.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("login-url").args(["cloud_url", "local"]).multiple(false))]
pub struct LoginArgs {
    /// A cloud URL to log in to
    #[arg(short, long)]
    pub cloud_url: Option<String>,
    /// Use the home folder as the backend
    #[arg(short, long)]
    pub local: bool,
    /// A default org to associate with the login
    #[arg(long)]
    pub default_org: Option<String>,
    /// Allow insecure server connections when using SSL
    #[arg(long)]
    pub insecure: bool,
    /// Show interactive login options based on known accounts
    #[arg(long)]
    pub interactive: bool,
    /// A token of an identity provider to exchange for one of the service
    #[arg(long, hide = true)]
    pub oidc_token: Option<String>,
    /// The organization to ask a token for
    #[arg(long, hide = true)]
    pub oidc_org: Option<String>,
    /// The team to ask a token for
    #[arg(long, hide = true)]
    pub oidc_team: Option<String>,
    /// The user to ask a token for
    #[arg(long, hide = true)]
    pub oidc_user: Option<String>,
    /// How long the token is to be valid
    #[arg(long, hide = true)]
    pub oidc_expiration: Option<String>,
    /// The address of the backend
    pub url: Option<String>,
}

/// Runs `login`.
pub fn run(args: LoginArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    if args.default_org.is_some() {
        return Err(Error::needs_service("`--default-org`"));
    }
    if args.insecure {
        return Err(Error::needs_service("`--insecure`"));
    }
    let oidc = [
        &args.oidc_token,
        &args.oidc_org,
        &args.oidc_team,
        &args.oidc_user,
        &args.oidc_expiration,
    ];
    if oidc.iter().any(|flag| flag.is_some()) {
        return Err(Error::needs_service("`--oidc-token`"));
    }
    let files = HomeFiles::new(&ctx.environment);
    let mut credentials = files.credentials()?;
    let url = match (args.url, args.cloud_url, args.local) {
        (Some(_), Some(_), _) | (Some(_), _, true) => {
            return Err(Error::user(
                "only one of --cloud-url, --local or the argument URL may be specified",
            ));
        }
        (Some(url), None, false) | (None, Some(url), _) => url,
        (None, None, true) => "file://~".to_owned(),
        (None, None, false) if args.interactive && ctx.is_interactive() => {
            choose(&credentials, ctx)?
        }
        (None, None, false) => ctx.login()?.url().to_owned(),
    };
    match ctx.login() {
        Ok(Login::Variable(variable)) if variable != url => ctx.printer.warning(&format!(
            "PULUMI_BACKEND_URL is set to {variable}; it is used instead of this login until it is unset"
        )),
        Ok(Login::Project(project)) if project != url => ctx.printer.warning(&format!(
            "the project's backend {project} is used instead of this login while you are in the project"
        )),
        _ => {}
    }
    let backend = ctx.open_backend(&url, &ctx.environment.cwd)?;
    credentials.login_without_token(&url);
    files.save_credentials(&credentials)?;
    ctx.printer.line(&format!(
        "Logged in to {} as {} ({url})",
        backend.name(),
        ctx.environment.user_name()
    ));
    Ok(ExitStatus::Success)
}

fn choose(
    credentials: &plumb_project::workspace::Credentials,
    ctx: &Context,
) -> Result<String, Error> {
    let mut known: Vec<String> = credentials.access_tokens.keys().cloned().collect();
    if known.is_empty() {
        return Ok(ctx.login()?.url().to_owned());
    }
    let index = prompt::select("Which backend do you want to log in to?", known.clone())?;
    Ok(known.swap_remove(index))
}
