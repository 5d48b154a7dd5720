//! `config env`. File stores have no environments.

use clap::{Args, Subcommand};
use plumb_operate::context::{IfMissing, no_environments};
use plumb_operate::identity::Code;
use plumb_operate::json::wants_json;
use plumb_operate::{Context, Error};

use super::TargetArgs;

/// Manage the environments of a stack
#[derive(Args, Debug)]
pub struct EnvArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: EnvVerb,
}

/// What to do with the environments.
#[derive(Subcommand, Debug)]
pub enum EnvVerb {
    /// Create an environment for a stack
    Init(EnvInitArgs),
    /// Add environments to a stack
    Add(EnvChangeArgs),
    /// List imported environments
    #[command(alias = "ls")]
    List(EnvListArgs),
    /// Remove environment from a stack
    #[command(alias = "rm")]
    Remove(EnvRemoveArgs),
}

/// Arguments of `config env init`.
#[derive(Args, Debug)]
pub struct EnvInitArgs {
    /// The name of the environment to create
    #[arg(long)]
    pub env: Option<String>,
    /// Do not remove configuration values from the stack after creating the environment
    #[arg(long)]
    pub keep_config: bool,
    /// Show secret values in plaintext instead of ciphertext
    #[arg(long)]
    pub show_secrets: bool,
    /// True to save the changes without prompting
    #[arg(short, long)]
    pub yes: bool,
}

/// Arguments of `config env rm`.
#[derive(Args, Debug)]
pub struct EnvRemoveArgs {
    /// Show secret values in plaintext instead of ciphertext
    #[arg(long)]
    pub show_secrets: bool,
    /// True to save the changes without prompting
    #[arg(short, long)]
    pub yes: bool,
    /// Name of an environment
    #[arg(required = true)]
    pub name: String,
}

/// Arguments of `config env add`.
#[derive(Args, Debug)]
pub struct EnvChangeArgs {
    /// Show secret values in plaintext instead of ciphertext
    #[arg(long)]
    pub show_secrets: bool,
    /// True to save the changes without prompting
    #[arg(short, long)]
    pub yes: bool,
    /// Names of environments
    #[arg(required = true)]
    pub names: Vec<String>,
}

/// Arguments of the list.
#[derive(Args, Debug)]
pub struct EnvListArgs {
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

pub(super) fn run(args: EnvArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let is_confirmed = match &args.verb {
        EnvVerb::List(list) => {
            wants_json(list.json, &list.output)?;
            true
        }
        EnvVerb::Init(args) => args.yes,
        EnvVerb::Add(args) => args.yes,
        EnvVerb::Remove(args) => args.yes,
    };
    if !is_confirmed && !ctx.is_interactive() {
        return Err(
            Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
        );
    }
    ctx.project()?;
    let stack = ctx.require_stack(target.stack.as_deref(), IfMissing::Offer)?;
    Err(no_environments(&stack))
}
