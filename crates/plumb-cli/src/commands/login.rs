//! `login`.

use clap::Args;
use plumb_operate::context::{HomeFiles, Login};
use plumb_operate::{Context, Error, ExitStatus, prompt};

use plumb_backend::{Backend as _, BackendUrl, StoreOptions, masked};

/// Log in to a backend
///
/// Stacks are kept in the home folder unless another place is chosen here: `file://` and a folder, or the address of a store.
/// No account is needed.
#[derive(Args, Debug)]
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
pub fn run(args: &LoginArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    if args.insecure {
        return Err(Error::needs_service("`--insecure`"));
    }
    let files = HomeFiles::new(&ctx.environment);
    let mut credentials = files.credentials()?;
    if args.url.is_some() && args.cloud_url.is_some() {
        return Err(Error::user(
            "only one of --cloud-url or argument URL may be specified, not both",
        ));
    }
    let given = args.url.as_ref().or(args.cloud_url.as_ref());
    if args.local && given.is_some() {
        return Err(Error::user(
            "a URL may not be specified when --local mode is enabled",
        ));
    }
    let given = if args.local {
        Some("file://~".to_owned())
    } else {
        given.cloned()
    };
    if let Some(url) = &given {
        BackendUrl::parse(url, &ctx.environment.home, &ctx.environment.cwd)?;
        warn_of_others(url, ctx);
    }
    let url = match given {
        Some(url) => url,
        None if args.interactive && ctx.is_interactive() => choose(&credentials, ctx)?,
        None => ctx.login()?.url().to_owned(),
    };
    refuse_what_the_service_has(args, &url, ctx)?;
    let backend = ctx.open_file_backend(&url, &ctx.environment.cwd, StoreOptions::clone)?;
    if let Some(note) = backend.check_capabilities()? {
        ctx.printer.warning(&note.to_string());
    }
    credentials.login_without_token(&url);
    files.save_credentials(&credentials)?;
    ctx.printer.line(&format!(
        "Logged in to {} as {} ({})",
        backend.name(),
        ctx.environment.user_name(),
        backend.shown_url()
    ));
    Ok(ExitStatus::Success)
}

/// Refuses flags that only the cloud service has, with the errors of the reference where the flags alone decide which.
fn refuse_what_the_service_has(args: &LoginArgs, url: &str, ctx: &Context) -> Result<(), Error> {
    let parsed = BackendUrl::parse(url, &ctx.environment.home, &ctx.environment.cwd)?;
    if matches!(parsed, BackendUrl::Service { .. }) {
        return refuse_token_exchange(args);
    }
    let token_exchange = [
        &args.oidc_token,
        &args.oidc_org,
        &args.oidc_team,
        &args.oidc_user,
        &args.oidc_expiration,
    ];
    if token_exchange.iter().any(|flag| is_given(flag.as_deref())) {
        return Err(Error::user(
            "oidc-token, oidc-org, oidc-team, oidc-user, and oidc-expiration flags are not supported for this type of \
             backend",
        ));
    }
    if is_given(args.default_org.as_deref()) {
        return Err(Error::user(
            "unable to set default org for this type of backend",
        ));
    }
    Ok(())
}

/// Refuses to exchange a token of an identity provider. A JSON Web Token (three parts with dots between) may name the
/// organization in its claims.
fn refuse_token_exchange(args: &LoginArgs) -> Result<(), Error> {
    let token = args.oidc_token.as_deref();
    if !is_given(token) {
        return Ok(());
    }
    let has_claims = token.is_some_and(|token| token.split('.').count() == 3);
    let names_organization = has_claims || is_given(args.oidc_org.as_deref());
    if !names_organization {
        return Err(Error::user(
            "problem logging in: organization must be specified for token exchange",
        ));
    }
    if is_given(args.oidc_team.as_deref()) && is_given(args.oidc_user.as_deref()) {
        return Err(Error::user(
            "problem logging in: only one of team or user may be specified for token exchange",
        ));
    }
    Err(Error::needs_service("`--oidc-token`"))
}

fn is_given(flag: Option<&str>) -> bool {
    flag.is_some_and(|text| !text.is_empty())
}

/// Warns about settings that take precedence over this login.
fn warn_of_others(url: &str, ctx: &Context) {
    match ctx.login() {
        Ok(Login::Variable(variable)) if variable != url => ctx.printer.stderr(&format!(
            "Warning: The PULUMI_BACKEND_URL environment variable is set to '{}', which conflicts with the \
             login URL '{}'.\n",
            masked(&variable),
            masked(url)
        )),
        Ok(Login::Project(project)) if project != url => ctx.printer.warning(&format!(
            "the project's backend {} is used instead of this login while you are in the project",
            masked(&project)
        )),
        _ => {}
    }
}

fn choose(
    credentials: &plumb_project::workspace::Credentials,
    ctx: &Context,
) -> Result<String, Error> {
    let mut known: Vec<String> = credentials.access_tokens.keys().cloned().collect();
    if known.is_empty() {
        return Ok(ctx.login()?.url().to_owned());
    }
    let shown = known.iter().map(|url| masked(url)).collect();
    let index = prompt::select("Which backend do you want to log in to?", shown)?;
    Ok(known.swap_remove(index))
}
