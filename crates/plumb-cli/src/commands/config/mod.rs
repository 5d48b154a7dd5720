//! `config` (`cli.md` 5).

mod copy;
mod env;
mod get;
mod list;
pub(crate) mod refresh;
mod rm;
mod set;
mod set_all;
pub(crate) mod shown;

use clap::{Args, Subcommand};
use plumb_operate::context::{IfMissing, Stack, StackSecrets, StackSettings, StateFallback};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_project::config::{Key, KeyError, KeyPath, PathError};

/// Manage configuration
///
/// Lists all configuration values for a stack. To add a new value, run `config set`. To remove an existing value, run
/// `config rm`. To get the value of a key, use `config get`.
#[derive(Args, Debug)]
pub struct ConfigArgs {
    /// Show secret values when listing config instead of displaying blinded values
    #[arg(long)]
    pub show_secrets: bool,
    /// Open and resolve any environments listed in the stack configuration
    #[arg(long)]
    pub open: bool,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Shared flags. They come last, because their heading holds for whatever follows.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The verb.
    #[command(subcommand)]
    pub verb: Option<ConfigVerb>,
}

/// Which settings are meant.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = crate::args::PERSISTENT)]
pub struct TargetArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Use the configuration values in the specified file rather than detecting the file name
    #[arg(long)]
    pub config_file: Option<String>,
}

/// What to do with the settings.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum ConfigVerb {
    /// Get a single configuration value
    Get(get::GetArgs),
    Set(set::SetArgs),
    /// Set multiple configuration values
    SetAll(set_all::SetAllArgs),
    /// Remove configuration value
    #[command(aliases = ["rm", "delete"])]
    Remove(rm::RemoveArgs),
    /// Remove multiple configuration values
    #[command(aliases = ["rm-all", "delete-all"])]
    RemoveAll(rm::RemoveAllArgs),
    /// Copy config to another stack
    #[command(alias = "cp")]
    Copy(copy::CopyArgs),
    /// Update the local configuration based on the most recent deployment of the stack
    Refresh(refresh::RefreshArgs),
    /// Manage the environments of a stack
    Env(env::EnvArgs),
}

/// Runs `config` or a verb below it.
pub fn run(args: ConfigArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let target = &args.target;
    match args.verb {
        None => list::run(target, args.show_secrets, args.json, ctx)?,
        Some(ConfigVerb::Get(verb)) => get::run(verb, target, ctx)?,
        Some(ConfigVerb::Set(verb)) => set::run(verb, target, ctx)?,
        Some(ConfigVerb::SetAll(verb)) => set_all::run(verb, target, ctx)?,
        Some(ConfigVerb::Remove(verb)) => rm::run(vec![verb.key], verb.path, target, ctx)?,
        Some(ConfigVerb::RemoveAll(verb)) => rm::run(verb.keys, verb.path, target, ctx)?,
        Some(ConfigVerb::Copy(verb)) => copy::run(verb, target, ctx)?,
        Some(ConfigVerb::Refresh(verb)) => refresh::run(verb, target, ctx)?,
        Some(ConfigVerb::Env(verb)) => env::run(verb, target, ctx)?,
    }
    Ok(ExitStatus::Success)
}

/// The settings that a command works on.
struct Target {
    stack: Stack,
    settings: StackSettings,
    secrets: StackSecrets,
}

impl Target {
    /// Finds the stack and reads its settings.
    fn open(args: &TargetArgs, ctx: &Context) -> Result<Self, Error> {
        Target::open_or(args, IfMissing::Offer, ctx)
    }

    fn open_or(args: &TargetArgs, missing: IfMissing, ctx: &Context) -> Result<Self, Error> {
        ctx.project()?;
        let stack = ctx.require_stack(args.stack.as_deref(), missing)?;
        Target::of(stack, args.config_file.as_deref(), ctx)
    }

    /// Finds the stack, checks the keys, and reads the settings.
    fn open_for(
        keys: &[&str],
        is_path: bool,
        args: &TargetArgs,
        ctx: &Context,
    ) -> Result<Self, Error> {
        ctx.project()?;
        let stack = ctx.require_stack(args.stack.as_deref(), IfMissing::Offer)?;
        for key in keys {
            parse_path(key, is_path, stack.project_name())?;
        }
        Target::of(stack, args.config_file.as_deref(), ctx)
    }

    fn of(stack: Stack, file: Option<&str>, ctx: &Context) -> Result<Self, Error> {
        let settings = ctx.stack_settings(&stack, file)?;
        let is_enabled = ctx
            .environment
            .is_on("PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER");
        let state = if is_enabled {
            Some(ctx.load_state(&stack)?)
        } else {
            None
        };
        let recorded = state.as_ref().and_then(|state| state.provider());
        let secrets = ctx.stack_secrets(&settings, &stack, recorded, StateFallback::IfEnabled)?;
        Ok(Target {
            stack,
            settings,
            secrets,
        })
    }

    /// Saves the settings in the canonical form of saved files, even without changes.
    fn save(&mut self) -> Result<(), Error> {
        self.settings.file.quote_scalars();
        self.settings.save(Some(&self.secrets))
    }

    /// A key as messages show it: without the namespace of the project.
    fn shown(&self, text: &str, key: &KeyPath, is_path: bool) -> String {
        let project = self.stack.project_name();
        if !is_path {
            return key.key.display_in(project);
        }
        let short = text
            .strip_prefix(project)
            .and_then(|rest| rest.strip_prefix(':'));
        short.unwrap_or(text).to_owned()
    }

    /// Reads a key, or a path that starts with one.
    fn path(&self, text: &str, is_path: bool) -> Result<KeyPath, Error> {
        parse_path(text, is_path, self.stack.project_name())
    }
}

fn parse_path(text: &str, is_path: bool, project: &str) -> Result<KeyPath, Error> {
    let invalid = |error: KeyError| Error::from(error).context("invalid configuration key");
    if !is_path {
        return Key::parse_in(text, project)
            .map(KeyPath::of)
            .map_err(invalid);
    }
    KeyPath::parse(text, project).map_err(|error| match error {
        PathError::Key(error) => invalid(error),
        other => Error::from(other),
    })
}
