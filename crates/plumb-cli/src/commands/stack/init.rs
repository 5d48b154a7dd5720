//! `stack init`.

use clap::Args;
use plumb_operate::context::{ConfigCheck, NewStack, Stack, StateFallback, check_provider_name};
use plumb_operate::{Context, Error, prompt};

use super::TargetArgs;
use crate::commands::one_name;

/// Create an empty stack with the given name, ready for updates
///
/// The stack is selected afterwards. Its secrets are encrypted with a passphrase unless another provider is named.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The type of the provider that should be used to encrypt and decrypt secrets
    #[arg(long)]
    pub secrets_provider: Option<String>,
    /// The name of the stack to copy existing config from
    #[arg(long)]
    pub copy_config_from: Option<String>,
    /// Do not select the stack
    #[arg(long)]
    pub no_select: bool,
    /// A list of team names that should have permission to read and update this stack
    #[arg(long, action = clap::ArgAction::Append, hide = true)]
    pub teams: Vec<String>,
    /// Store stack configuration remotely
    #[arg(long, hide = true)]
    pub remote_config: bool,
    /// Skip prompts
    #[arg(short, long)]
    pub yes: bool,
    /// The name of the stack
    pub name: Option<String>,
}

pub(super) fn run(args: InitArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    ctx.find_project()?;
    let named = one_name(target.stack.clone(), args.name.clone())?;
    if let Some(provider) = &args.secrets_provider {
        check_provider_name(provider)?;
    }
    let name = match named.filter(|name| !name.is_empty()) {
        Some(name) => name,
        None if ctx.is_interactive() => {
            prompt::text("Please enter your desired stack name:", Some("dev"))?
        }
        None => return Err(Error::user("missing stack name")),
    };
    let stack = ctx.stack_named(&name)?;
    refuse_what_needs_the_service(&args, &stack, &name)?;
    let source = args
        .copy_config_from
        .as_deref()
        .map(|name| ctx.stack_named(name))
        .transpose()?;
    let is_new = !stack.backend.stack_exists(&stack.reference)?;
    if let Some(source) = source.as_ref().filter(|_| is_new)
        && !source.backend.stack_exists(&source.reference)?
    {
        let named = args.copy_config_from.as_deref();
        return Err(Error::no_stack(named.unwrap_or(&source.shown)));
    }
    ctx.create_stack(
        &stack,
        NewStack {
            secrets_provider: args.secrets_provider.as_deref(),
            config_file: None,
        },
    )?;
    if let Some(source) = source {
        copy_config(&source, &stack, ctx)?;
    }
    if !args.no_select {
        ctx.select_stack(&stack)?;
    }
    Ok(())
}

/// Rejects flags that only the service has, in the words of the reference.
fn refuse_what_needs_the_service(args: &InitArgs, stack: &Stack, name: &str) -> Result<(), Error> {
    if args.remote_config {
        return Err(Error::user(
            "could not create stack: remote config is not supported",
        ));
    }
    if args.teams.iter().all(|team| team.trim().is_empty()) {
        return Ok(());
    }
    let backend = stack.backend.name();
    Err(Error::user(format!(
        "stack {name} uses the {backend} backend: {backend} does not support --teams"
    )))
}

fn copy_config(source: &Stack, dest: &Stack, ctx: &Context) -> Result<(), Error> {
    let from = ctx.stack_settings(source, None)?;
    let from_secrets = ctx.stack_secrets(&from, source, None, StateFallback::IfEnabled)?;
    let mut to = ctx.stack_settings(dest, None)?;
    let to_secrets = ctx.stack_secrets(&to, dest, None, StateFallback::IfEnabled)?;
    // Decrypt everything first, so that a wrong passphrase causes no changes.
    ctx.stack_config(source, &from, &from_secrets, ConfigCheck::Skipped)?;
    let mut config = to.file.config().clone();
    for (key, value) in from.file.config().iter() {
        let value = value.try_map_ciphertexts(&mut |ciphertext| {
            from_secrets
                .decrypt(ciphertext)
                .and_then(|text| to_secrets.encrypt(text.expose()))
        })?;
        config.insert(key.clone(), value);
    }
    to.file.set_config(&config);
    to.save(Some(&to_secrets))
}
